"""What is done to developer tokens. Keyword-only, the one who acts as `by=`."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from common.problems import InvalidRequest
from common.text import is_plain
from developers.apps.models import App, AppStatus
from developers.tokens.digests import DEFAULT_LIFETIME, LONGEST_LIFETIME, new_token
from developers.tokens.models import DeveloperToken, Permission

if TYPE_CHECKING:
    from accounts.models import User

OVERLAP = timedelta(hours=24)


@transaction.atomic
def mint_token(
    *,
    app: App,
    label: str,
    by: "User",
    permissions: Iterable[str] = tuple(Permission.values),
    expires_at: datetime | None = None,
    header_only: bool = False,
) -> tuple[DeveloperToken, str]:
    """A new token of an app that is not closed: its row, and the token itself, which is kept nowhere.

    Ninety days by default and 365 at most. Raises `InvalidRequest`.
    """
    now = timezone.now()
    expires_at = expires_at or now + DEFAULT_LIFETIME
    wanted = set(permissions)
    if not is_plain(label) or len(label) > 80:
        raise InvalidRequest("A label is one line of plain text, 1 to 80 characters.")
    if not wanted or not wanted <= set(Permission.values):
        raise InvalidRequest(f"Permissions are one or more of {', '.join(Permission.values)}.")
    if not now < expires_at <= now + LONGEST_LIFETIME:
        raise InvalidRequest("A token expires in the future, within 365 days.")
    held = App.objects.select_for_update().get(pk=app.pk)
    if held.status == AppStatus.CLOSED:
        raise InvalidRequest("The app is closed.")
    token, prefix, digest = new_token(held.mode)
    row = DeveloperToken.objects.create(
        app=app,
        prefix=prefix,
        digest=digest,
        label=label.strip(),
        permissions=[permission for permission in Permission.values if permission in wanted],
        header_only=header_only,
        expires_at=expires_at,
        created_by=by,
    )
    return row, token


def revoke_token(*, token: DeveloperToken) -> bool:
    """End a token now, one in its overlap too; False where it had ended already."""
    now = timezone.now()
    live = DeveloperToken.objects.filter(pk=token.pk, expires_at__gt=now).exclude(revoked_at__lte=now)
    return bool(live.update(revoked_at=now))


@transaction.atomic
def rotate_token(*, token: DeveloperToken, by: "User", overlap: timedelta = OVERLAP) -> tuple[DeveloperToken, str]:
    """A fresh token in place of a live one, which ends after `overlap` (24 h by default, at most 30 days).

    Label, permissions and the header rule are the old one's. Raises `InvalidRequest`.
    """
    if not timedelta(0) <= overlap <= timedelta(days=30):
        raise InvalidRequest("The old token may live on for 0 to 30 days.")
    old = DeveloperToken.objects.select_for_update().select_related("app").get(pk=token.pk)
    now = timezone.now()
    if old.expires_at <= now or old.revoked_at is not None:
        raise InvalidRequest("Only a live token that was not rotated yet can be rotated.")
    fresh = mint_token(app=old.app, label=old.label, by=by, permissions=old.permissions, header_only=old.header_only)
    old.revoked_at = now + overlap
    old.save(update_fields=["revoked_at"])
    return fresh
