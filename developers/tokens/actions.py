"""What is done to developer tokens. Keyword-only, the one who acts as `by=`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from accounts.models import User
from common.problems import InvalidRequest
from common.text import is_plain
from developers.apps.audit import record
from developers.apps.models import App
from developers.apps.policies import lock_open_app
from developers.signals import tokens_ended
from developers.tokens.errors import AlreadyMade
from developers.tokens.format import DEFAULT_LIFETIME, LONGEST_LIFETIME, new_prefix, new_token
from developers.tokens.models import DeveloperToken, Permission

OVERLAP = timedelta(hours=24)
LONGEST_OVERLAP = timedelta(days=30)
CONSOLE_LABEL = "Try-it console"
CONSOLE_LIFETIME = timedelta(minutes=1)  # what is left of it where the process dies in the middle of its call


@transaction.atomic
def mint_token(
    *,
    app: App,
    label: str,
    by: User,
    permissions: Iterable[str] = tuple(Permission.values),
    expires_at: datetime | None = None,
    header_only: bool = False,
    prefix: str = "",
) -> tuple[DeveloperToken, str]:
    """A new token of an app that is not closed: its row, and the token itself, which is kept nowhere.

    Ninety days by default and 365 at most. With a `prefix` that was drawn before, a repetition of the same call makes
    no second token. Raises `InvalidRequest`, `AlreadyMade`.
    """
    row, token = _mint(app, label, by, permissions, expires_at, header_only, prefix or new_prefix())
    record(app=app, by=by, action="token.minted", **_facts(row))
    return row, token


@contextmanager
def token_for_one_call(*, app: App, operation: str, by: User) -> Iterator[str]:
    """A token of a test app for one call that this process makes itself; it is never shown, and ends with the call.

    Its row goes with it, unless something was read: who read is on record, so the row stays in the list, revoked.
    Raises `InvalidRequest` for a live app, and for one that is closed.
    """
    if not app.is_test:
        raise InvalidRequest("Only a test app is called from the console.")
    with transaction.atomic():
        expires_at = timezone.now() + CONSOLE_LIFETIME
        row, token = _mint(app, CONSOLE_LABEL, by, Permission.values, expires_at, True, new_prefix())
        record(app=app, by=by, action="console.called", operation=operation)
    try:
        yield token
    finally:
        _discard(row)


def _discard(row: DeveloperToken) -> None:
    try:
        row.delete()
    except ProtectedError:
        DeveloperToken.objects.filter(pk=row.pk).update(revoked_at=timezone.now())


def _mint(
    app: App,
    label: str,
    by: User,
    permissions: Iterable[str],
    expires_at: datetime | None,
    header_only: bool,
    prefix: str,
) -> tuple[DeveloperToken, str]:
    now = timezone.now()
    expires_at = expires_at or now + DEFAULT_LIFETIME
    wanted = set(permissions)
    check_label(label)
    if not wanted or not wanted <= set(Permission.values):
        raise InvalidRequest(f"Permissions are one or more of {', '.join(Permission.values)}.")
    if not now < expires_at <= now + LONGEST_LIFETIME:
        raise InvalidRequest("A token expires in the future, within 365 days.")
    locked = lock_open_app(app)
    if DeveloperToken.objects.filter(prefix=prefix).exists():
        raise AlreadyMade
    token, prefix, digest = new_token(locked.mode, prefix)
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


def check_label(label: str) -> None:
    """Raise where a token cannot be called that."""
    if not is_plain(label) or len(label) > 80:
        raise InvalidRequest("A label is one line of plain text, 1 to 80 characters.")


@transaction.atomic
def revoke_token(*, token: DeveloperToken, by: User | None) -> bool:
    """End a token now, one in its overlap too; False where it had ended already. None is the service itself."""
    now = timezone.now()
    live = DeveloperToken.objects.filter(pk=token.pk, expires_at__gt=now).exclude(revoked_at__lte=now)
    if not live.update(revoked_at=now):
        return False
    record(app=token.app, by=by, action="token.revoked", prefix=token.prefix, label=token.label)
    tokens_ended.send(sender=DeveloperToken, app_pk=token.app_id)
    return True


@transaction.atomic
def rotate_token(*, token: DeveloperToken, by: User, overlap: timedelta = OVERLAP) -> tuple[DeveloperToken, str]:
    """A fresh token in place of a live one, which ends after `overlap` (24 h by default, at most 30 days).

    Label, permissions and the header rule are the old one's. Raises `InvalidRequest`.
    """
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise InvalidRequest("The old token may live on for 0 to 30 days.")
    App.objects.select_for_update(no_key=True).get(pk=token.app_id)  # before its tokens, as whoever closes it
    old = DeveloperToken.objects.select_for_update(of=("self",), no_key=True).select_related("app").get(pk=token.pk)
    now = timezone.now()
    if old.client_id is not None:
        raise InvalidRequest("A host renews its tokens itself.")
    if old.expires_at <= now or old.revoked_at is not None:
        raise InvalidRequest("Only a live token that was not rotated yet can be rotated.")
    row, fresh = _mint(old.app, old.label, by, old.permissions, None, old.header_only, new_prefix())
    old.revoked_at = now + overlap
    old.save(update_fields=["revoked_at"])
    facts = {**_facts(row), "replaces": old.prefix, "ends_at": old.revoked_at.isoformat()}
    record(app=old.app, by=by, action="token.rotated", **facts)
    if not overlap:
        tokens_ended.send(sender=DeveloperToken, app_pk=old.app_id)
    return row, fresh


def _facts(row: DeveloperToken) -> dict[str, object]:
    return {
        "prefix": row.prefix,
        "label": row.label,
        "permissions": row.permissions,
        "header_only": row.header_only,
        "expires_at": row.expires_at.isoformat(),
    }
