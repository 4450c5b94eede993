from fastapi import APIRouter

from sparkcast.serve.pages._errors import PageRoute

home_pages = APIRouter(route_class=PageRoute)
