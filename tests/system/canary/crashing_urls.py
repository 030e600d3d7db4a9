"""The service's own addresses, and one that breaks with everything that it was sent in its words."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from config.urls import handler400, handler404, handler500
from config.urls import urlpatterns as pages
from consent.api.base import DeveloperView
from consent.program_urls import urlpatterns as programs
from developers.manage.base import ManagementView

__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]


class Crash(DeveloperView):
    """The worst defect for a secret: its error quotes the query and every header."""

    needs = frozenset({"discover"})

    def get(self, request: HttpRequest) -> HttpResponse:
        raise RuntimeError(f"broken by {request.META['QUERY_STRING']} {dict(self.request.headers)}")


class ManagingCrash(ManagementView):
    """The same for a management token."""

    def permission_for(self) -> None:
        return None

    def get(self, request: HttpRequest) -> HttpResponse:
        raise RuntimeError(f"broken by {request.META['QUERY_STRING']} {dict(self.request.headers)}")


urlpatterns = [
    path("api/v1/crash", Crash.as_view()),
    path("api/v1/manage/crash", ManagingCrash.as_view()),
    *programs,
    *pages,
]
