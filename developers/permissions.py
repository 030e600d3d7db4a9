"""What a developer token has to allow (contract 1.1), after it was found to be valid."""

from typing import cast

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from developers.authentication import AppContext
from developers.errors import AppSuspended, InsufficientScope
from developers.oauth.resources import SCOPES, challenge


class AppIsActive(BasePermission):
    """Staff have not suspended the app."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if cast("AppContext", request.auth).suspended:
            raise AppSuspended("Write to the operator of this service.")
        return True


class TokenHasPermission(BasePermission):
    """The token carries one of the permissions that the view names in `needs`."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        require_permission(cast("AppContext", request.auth), view.needs, path=request.path)  # type: ignore[attr-defined]  # of DeveloperView
        return True


def require_permission(app: AppContext, any_of: frozenset[str], *, path: str) -> None:
    """Raise `InsufficientScope` where the token carries none of these permissions; `path` is what was called.

    A host learns what to ask for besides: what it has, and the first of these.
    """
    if not any_of & app.permissions:
        wanted = next(name for name in SCOPES if name in any_of)
        scopes = [name for name in SCOPES if name in app.permissions or name == wanted]
        raise InsufficientScope(
            f"The token needs the permission {' or '.join(sorted(any_of))}.",
            headers={"WWW-Authenticate": challenge(path, error="insufficient_scope", scopes=scopes)},
        )
