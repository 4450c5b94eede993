from fastapi import APIRouter

from sparkcast.serve.pages._errors import PageRoute

log_pages = APIRouter(route_class=PageRoute)
