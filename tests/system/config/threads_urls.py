"""The service's own addresses, and one that names the threads of its process."""

import threading

from django.http import HttpRequest, JsonResponse
from django.urls import path

from config.urls import handler400, handler404, handler500
from config.urls import urlpatterns as pages
from consent.program_urls import urlpatterns as programs

__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]


def threads(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"names": sorted(thread.name for thread in threading.enumerate())})


urlpatterns = [path("threads/", threads), *programs, *pages]
