"""The views of the developers' addresses: a token that may be good here, and the limits that its app meets."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from common.admission.views import ProgramView
from common.limits import headers
from consent.discovery import unknown_users
from consent.meter import Meter
from developers.authentication import AppContext, DeveloperToken
from developers.permissions import AppIsActive, TokenHasPermission
from developers.program_views import ServerView


class PublicView(ProgramView):
    """An address without a token."""

    authentication_classes = ()
    http_method_names = ["get"]


class DeveloperView(ServerView):
    """An address that a developer's program calls with its token; `self.app` is who calls.

    `needs` names the permissions of which the token must carry one.
    """

    authentication_classes: Sequence[type[BaseAuthentication]] = (DeveloperToken,)
    permission_classes: Sequence[type[BasePermission]] = (AppIsActive, TokenHasPermission)
    http_method_names = ["get"]
    needs: ClassVar[frozenset[str]]
    app: AppContext

    def __init__(self, **initial: Any) -> None:
        super().__init__(**initial)
        self.meter = Meter()

    def perform_authentication(self, request: Request) -> None:
        super().perform_authentication(request)
        self.app = cast("AppContext", request.auth)

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
