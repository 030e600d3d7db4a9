"""Who may play a sandbox person at the owner's addresses: a program with its app's token, a member with their session.

An owner's view does not know which: it asks `person` whom it is about, and `require_recent_sign_in` before a step that
a stolen session must not be enough for. Mixed into one, these two answer for it. No sandbox person has a sign-in.
"""

from functools import cached_property
from typing import Any, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.authentication import person_of
from accounts.models import User
from accounts.owner_api import OwnerView
from common.operations import Refusal, path_parameter
from consent.api.base import DeveloperView
from consent.errors import UnknownUser
from consent.sandbox import queries
from consent.sandbox.errors import TestModeRequired
from consent.shapes import EXAMPLE_GRANT_ID, EXAMPLE_REQUEST_ID, EXAMPLE_USER_ID
from developers.authentication import AppContext
from developers.permissions import AppIsActive, TokenHasPermission


class AppIsInTestMode(BasePermission):
    """The token is of a test app."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not cast("AppContext", request.auth).is_test:
            raise TestModeRequired()
        return True


class SandboxView(DeveloperView):
    """An address that a program calls with the token of a test app."""

    permission_classes = (AppIsActive, TokenHasPermission, AppIsInTestMode)
    needs = frozenset({"request"})
    tag = "5. Play a person in the sandbox"

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        return [*super().common_refusals(method, path, takes_body=takes_body), TestModeRequired]

    @classmethod
    def who_may_call(cls, method: str) -> str:
        return super().who_may_call(method).replace("`.", "`, of a token `cr_test_…`.")


class ActingByToken(SandboxView, OwnerView):
    """An owner's address of the sandbox person whom the path names, for a program with its app's token."""

    http_method_names = SandboxView.http_method_names
    body_required = False  # as in a session
    path_parameters = (
        path_parameter("user_id", "One of your sandbox people.", EXAMPLE_USER_ID),
        path_parameter("request_id", "A request of your app to this person.", EXAMPLE_REQUEST_ID),
        path_parameter("grant_id", "As the status of the approved request tells it.", EXAMPLE_GRANT_ID),
    )

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        return [*super().common_refusals(method, path, takes_body=takes_body), UnknownUser]

    def dispatch(self, request: HttpRequest, *args: Any, user_id: str, **kwargs: Any) -> HttpResponseBase:
        self.user_id = user_id  # the owner's views know nothing of it
        return super().dispatch(request, *args, **kwargs)

    @cached_property
    def person(self) -> User:
        return queries.person_of_app(app_pk=self.app.app_pk, user_id=self.user_id)

    def require_recent_sign_in(self) -> None:
        """There is none."""


class ActingByMember(OwnerView):
    """The same for a member of the test app, in the portal's own pages: their session and its CSRF token."""

    def dispatch(self, request: HttpRequest, *args: Any, app_id: str, user_id: str, **kwargs: Any) -> HttpResponseBase:
        self.app_id, self.user_id = app_id, user_id
        return super().dispatch(request, *args, **kwargs)

    @cached_property
    def person(self) -> User:
        return queries.person_of_member(by=person_of(self.request), app_id=self.app_id, user_id=self.user_id)

    def require_recent_sign_in(self) -> None:
        """There is none."""
