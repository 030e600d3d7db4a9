"""The views of the developers' addresses: a token that may be good here, and the limits that its app meets."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django.http import HttpRequest
from rest_framework.request import Request

from common.admission.views import ProgramView
from common.limits import headers
from consent.discovery import unknown_users
from consent.meter import Meter
from developers.authentication import AppContext, DeveloperToken
from developers.errors import BrowserPathRefused
from developers.permissions import AppIsActive, TokenHasPermission


class PublicView(ProgramView):
    """An address without a token."""

    authentication_classes = ()
    http_method_names = ["get"]


class DeveloperView(ProgramView):
    """An address that a developer's program calls with its token; `self.app` is who calls.

    `needs` names the permissions of which the token must carry one.
    """

    authentication_classes = (DeveloperToken,)
    permission_classes = (AppIsActive, TokenHasPermission)
    http_method_names = ["get"]
    needs: ClassVar[frozenset[str]]
    app: AppContext

    def __init__(self, **initial: Any) -> None:
        super().__init__(**initial)
        self.meter = Meter()

    def perform_authentication(self, request: Request) -> None:
        self.refuse_browser(request)
        super().perform_authentication(request)
        self.app = cast("AppContext", request.auth)

    def refuse_browser(self, request: HttpRequest) -> None:
        """Raise where the call comes from a web page."""
        if "HTTP_ORIGIN" in request.META or "HTTP_SEC_FETCH_SITE" in request.META:
            raise BrowserPathRefused("A developer token must not travel through a browser.")

    def limit_headers(self, status: int) -> Mapping[str, str]:
        return headers(self.meter.counts.values())


class AskingView(DeveloperView):
    """An address that names a person, for which apps are limited; a call may say on whose behalf it comes."""

    def limit_headers(self, status: int) -> Mapping[str, str]:
        if hasattr(self, "app") and status < 500:  # a refusal that came before the limits costs a read more
            self.look_at_limits(self.meter)
        return super().limit_headers(status)

    def look_at_limits(self, meter: Meter) -> None:
        """Note the limits of the app that this call has not met."""
        if unknown_users.UNKNOWN_USERS not in meter.counts:
            meter.note(unknown_users.look(self.app.app_pk, meter.hint))
