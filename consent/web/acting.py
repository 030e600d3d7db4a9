"""For whom a host can act, and what it can do there."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from consent.connector_keys.queries import newest_usable_key_id
from developers.members.queries import memberships_of
from developers.models import App, AppStatus, Permission
from developers.oauth.actions import AuthorizationRequest

if TYPE_CHECKING:
    from accounts.models import User

FOR_ME = "me"


@dataclass(frozen=True)
class Acting:
    """One way: as an app of the person's, or where that is None for the person alone.

    Without a key of its own, or one that the app registered or may publish, nothing could be opened, so that reading
    is not among its permissions.
    """

    value: str
    app: App | None
    permissions: list[str]

    @property
    def can_read(self) -> bool:
        return Permission.READ in self.permissions


def ways_of_acting(user: "User", authorization: AuthorizationRequest) -> dict[str, Acting]:
    """The ways that this person can choose from, by what the form sends."""
    active = [member.app for member in memberships_of(user) if member.app.status == AppStatus.ACTIVE]
    ways = [Acting(FOR_ME, None, _without_read(authorization, has_key=bool(authorization.client.jwks)))]
    ways += [Acting(app.app_id, app, _without_read(authorization, has_key=_has_key(app))) for app in active]
    return {way.value: way for way in ways}


def _has_key(app: App) -> bool:
    return bool(app.proved_domain) or newest_usable_key_id(app_pk=app.pk) is not None


def _without_read(authorization: AuthorizationRequest, *, has_key: bool) -> list[str]:
    return [name for name in authorization.permissions if has_key or name != Permission.READ]
