"""The views of the developers' addresses: a token that may be good here, and the limits that its app meets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from common.admission.views import ProgramView
from common.limits import Count, headers
from common.operations import Refusal
from common.problems import Problem
from consent.discovery import unknown_users
from developers.authentication import AppContext, DeveloperToken
from developers.errors import AppSuspended, InsufficientScope
from developers.permissions import AppIsActive, TokenHasPermission
from developers.program_views import ServerView
from developers.tokens.models import Permission

# where the documentation lists an operation
DISCOVER, REQUEST, READ, VERIFY = "1. Discover", "2. Ask and wait", "3. Read", "4. Verify"
CONNECT = "0. Connect"
PROTECT = "7. Protect"


class PublicView(ProgramView):
    """An address without a token. HEAD is what watchers of an address send."""

    authentication_classes = ()
    http_method_names = ["get", "head", "post"]


class DeveloperView(ServerView):
    """An address that a developer's program calls with its token; `self.app` is who calls.

    `needs` names the permissions of which the token must carry one.
    """

    authentication_classes: Sequence[type[BaseAuthentication]] = (DeveloperToken,)
    permission_classes: Sequence[type[BasePermission]] = (AppIsActive, TokenHasPermission)
    needs: ClassVar[frozenset[str]]
    app: AppContext

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        found = super().common_refusals(method, path, takes_body=takes_body)
        return [*found, AppSuspended, InsufficientScope]

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return f"Needs the permission {' or '.join(f'`{name}`' for name in Permission.values if name in cls.needs)}."

    def __init__(self, **initial: Any) -> None:
        super().__init__(**initial)
        self.limits: dict[str, Count] = {}  # what the call has met of them, by name, for the headers of the answer

    def perform_authentication(self, request: Request) -> None:
        super().perform_authentication(request)
        self.app = cast("AppContext", request.auth)

    def note(self, *counts: Count) -> None:
        self.limits |= {count.limit.name: count for count in counts}

    def get_exception_handler(self) -> Callable[..., Any]:
        handle = super().get_exception_handler()

        def note_and_handle(error: Exception, context: dict[str, Any]) -> Any:
            if isinstance(error, Problem):
                self.note(*error.limits)
            return handle(error, context)

        return note_and_handle

    def limit_headers(self, status: int) -> Mapping[str, str]:
        if hasattr(self, "app") and status < 500:  # a refusal that came before the limits costs a read more
            self.note_limits()
        return headers(self.limits.values())

    def note_limits(self) -> None:
        """Note the limits of the address that this call has not met."""


class LimitedView(DeveloperView):
    """An address that names a person, for which apps are limited; a call may say on whose behalf it comes."""

    hint = ""

    def note_limits(self) -> None:
        if unknown_users.UNKNOWN_USERS not in self.limits:
            self.limits = {unknown_users.UNKNOWN_USERS: unknown_users.peek(self.app.app_pk, self.hint)} | self.limits
