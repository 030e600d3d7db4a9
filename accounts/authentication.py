"""A signed-in session at the owner's JSON addresses."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication as Base
from rest_framework.authentication import CSRFCheck
from rest_framework.request import Request

from accounts.hooks import access_taken_back
from accounts.models import User
from accounts.sign_in.confirming import signed_in_recently, where_to_confirm
from accounts.sign_in.second_factors import remove_unproven
from common.problems import AuthenticationRequired, CsrfFailed, ReauthenticationRequired

View = TypeVar("View", bound=Callable[..., Any])


class SignedIn(Base):
    """The session's user, with the CSRF token that every unsafe method needs. Developer tokens mean nothing here."""

    def authenticate(self, request: Request) -> tuple[User, None]:
        user = getattr(request._request, "user", None)
        if user is None or not user.is_active:
            raise AuthenticationRequired("Sign in and try again.")
        check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]  # only process_view is used
        check.process_request(request._request)
        reason = check.process_view(request._request, None, (), {})  # type: ignore[arg-type]  # as DRF itself calls it
        if reason:
            raise CsrfFailed("Reload the page and try again.")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return 'Session realm="consent"'


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """A page's own session. What changes anything needs its CSRF token too."""

    target_class = SignedIn
    name = ["session", "csrf"]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{"session": []}] if auto_schema.method == "GET" else [{"session": [], "csrf": []}]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        return [
            {
                "type": "apiKey",
                "in": "cookie",
                "name": settings.SESSION_COOKIE_NAME,
                "description": "A signed-in person's session.",
            },
            {"type": "apiKey", "in": "header", "name": "X-CSRFToken", "description": "The token of that session."},
        ]


def signed_in_page(view: View) -> View:
    """For a view that is a page to look at, of whoever is signed in."""
    return login_required(require_safe(view))


def person_of(request: HttpRequest) -> User:
    """Whose session this is, behind a check that there is one."""
    return cast("User", request.user)


def count_sign_up(request: HttpRequest, user: User, **_kwargs: Any) -> None:
    """Record a sign-up as a sign-in: allauth itself records only later ones."""
    from allauth.account.internal.flows.login import record_authentication

    record_authentication(request, user, method="signup")


def void_attempts(user: User, **_kwargs: Any) -> None:
    """A new password resets the count of wrong codes: those were tried with the old one."""
    from accounts.sign_in.attempts import forget_failures

    forget_failures(user)


def take_access_back(user: User, **_kwargs: Any) -> None:
    """Whoever resets their password may have lost more than it: what programs have in their name ends.

    And what somebody else may have made who signed up with their address.
    """
    remove_unproven(user)
    access_taken_back.send(sender=type(user), user=user)


def require_recent_sign_in(request: HttpRequest) -> None:
    """Refuse unless `signed_in_recently`, for steps that a stolen session must not be enough for."""
    if not signed_in_recently(request):
        raise ReauthenticationRequired(
            "Confirm that it is you, then repeat the step.",
            url=settings.BASE_URL + where_to_confirm(person_of(request)),
        )
