from fastapi import APIRouter

from sparkcast.serve.pages._errors import PageRoute

capacity_pages = APIRouter(route_class=PageRoute)
