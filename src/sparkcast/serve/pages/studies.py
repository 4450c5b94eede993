from fastapi import APIRouter

from sparkcast.serve.pages._errors import PageRoute

study_pages = APIRouter(route_class=PageRoute)
