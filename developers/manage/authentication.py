"""Personal management tokens at `/api/v1/manage` (contract 5.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from django.db.models import Q
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import User
from common.admission.requests import JSONRequest
from common.clock import database_now
from common.identifiers import secret_digest
from common.problems import InvalidRequest
from developers.authentication import bearer
from developers.errors import InsufficientScope, InvalidToken
from developers.tokens.format import has_management_form
from developers.tokens.models import ManagementToken

EVERY_APP = "*"
_USE_WRITTEN_EVERY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Manager:
    """The person who calls, and what the token they called with may do: permissions by `app_id`, or `*` for every app.

    What the person may not do in an app, the token may not do either; that is looked up with the app.
    """

    user: User
    token_pk: int
    permissions: Mapping[str, frozenset[str]]

    def app_ids(self, permission: str) -> frozenset[str] | None:
        """The apps that the token has `permission` for; None is every app of the person."""
        named = frozenset(app_id for app_id, granted in self.permissions.items() if permission in granted)
        return None if EVERY_APP in named else named

    def require(self, permission: str, app_id: str | None) -> None:
        """Raise `InsufficientScope` where the token lacks `permission` for this app; None is any app at all."""
        app_ids = self.app_ids(permission)
        if app_ids is not None and (app_id not in app_ids if app_id else not app_ids):
            raise InsufficientScope(f"The token needs the permission {permission} for this.")


class ManagementTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """The one way in which a management token travels."""

    target_class = "developers.manage.authentication.ManagementTokenHeader"
    name = "management"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "Your own management token, `cr_mgmt_…`. It may do what you may do, at most.",
        }


class ManagementTokenHeader(BaseAuthentication):
    """The token of the Authorization header, and of nowhere else. `request.auth` is the `Manager`."""

    def authenticate(self, request: Request) -> tuple[User, Manager]:
        """Raises `InvalidRequest` where a token is given twice, `InvalidToken` for every other reason to refuse it."""
        read = cast("JSONRequest", request)
        in_query = any(name == "token" for name, _ in read.query_pairs)
        token = bearer(read)
        if token is not None and (in_query or "," in token):
            raise InvalidRequest("Send the management token once, in the Authorization header.")
        if not token:
            raise InvalidToken("Send your management token as `Authorization: Bearer …`; it travels nowhere else.")
        manager = find_manager(token)
        if manager is None:
            raise InvalidToken("The management token is unknown, expired or revoked.")
        return manager.user, manager

    def authenticate_header(self, request: Request) -> str:  # as REST framework calls it
        return "Bearer"


def find_manager(token: str) -> Manager | None:
    """Who manages with `token`, or None where it is unknown, expired or revoked, or its person's account is closed.

    Notes the use of the token, at most once an hour.
    """
    if not has_management_form(token):
        return None  # never reaches the database, whatever bytes it holds
    now = database_now()
    row = (
        ManagementToken.objects.select_related("user")
        .filter(Q(revoked_at=None) | Q(revoked_at__gt=now), digest=secret_digest(token), expires_at__gt=now)
        .filter(user__is_active=True)
        .first()
    )
    if row is None:
        return None
    if row.last_used_at is None or row.last_used_at < now - _USE_WRITTEN_EVERY:
        ManagementToken.objects.filter(pk=row.pk).update(last_used_at=now)
    permissions = {app_id: frozenset(granted) for app_id, granted in row.permissions.items()}
    return Manager(user=row.user, token_pk=row.pk, permissions=permissions)
