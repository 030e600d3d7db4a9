"""What is done to applications, apps and tokens. Keyword-only, the one who acts as `by=`."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from common.problems import InvalidRequest
from common.text import is_plain
from developers.models import (
    App,
    ApplicationStatus,
    AppMember,
    AppStatus,
    DeveloperApplication,
    DeveloperToken,
    MemberRole,
    Permission,
)
from developers.signals import app_changed
from developers.tokens import DEFAULT_LIFETIME, LONGEST_LIFETIME, new_token

if TYPE_CHECKING:
    from accounts.models import User

# What the page of a request says of the app that asks, or draws a warning from.
SHOWN_TO_PEOPLE = (
    "name", "verified", "application__legal_name", "application__website", "application__privacy_policy",
    "application__contact_email", "application__needed_scopes",
)  # fmt: skip
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
    if App.objects.select_for_update().get(pk=app.pk).status == AppStatus.CLOSED:
        raise InvalidRequest("The app is closed.")
    token, prefix, digest = new_token()
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


@transaction.atomic
def make_app(
    *,
    name: str,
    legal_name: str,
    website: str,
    privacy_policy: str,
    contact_email: str,
    owner: "User",
    by: "User",
    verified: bool = False,
) -> App:
    """An app with an application that `by` approved in the same breath, for operators. Raises `InvalidRequest`."""
    application = DeveloperApplication.objects.create(
        applicant=owner,
        name=name,
        legal_name=legal_name,
        website=website,
        privacy_policy=privacy_policy,
        contact_email=contact_email,
    )
    return approve_application(application=application, by=by, verified=verified)


@transaction.atomic
def approve_application(*, application: DeveloperApplication, by: "User", verified: bool = True, note: str = "") -> App:
    """Make the app that was applied for, with the applicant as its owner. Raises `InvalidRequest`.

    `verified` says that the legal name was checked, and is shown to people.
    """
    _check_words(application)
    _decide(application, ApplicationStatus.APPROVED, by=by, note=note)
    app = App.objects.create(application=application, name=application.name.strip(), verified=verified)
    AppMember.objects.create(app=app, user=application.applicant, role=MemberRole.OWNER)
    return app


@transaction.atomic
def reject_application(*, application: DeveloperApplication, by: "User", note: str = "") -> None:
    """Say no to an application. Raises `InvalidRequest` where it was decided already."""
    _decide(application, ApplicationStatus.REJECTED, by=by, note=note)


@contextmanager
def changing_app(*, app_pk: int, by: "User") -> Iterator[None]:
    """Around a change of an app or its application: where people are shown something else of it then, others learn.

    The rows are locked and compared as they are kept: a request that is being asked waits, and then meets what is new.
    """
    with transaction.atomic():
        before = _shown_of(app_pk)
        yield
        if _shown_of(app_pk) != before:
            app_changed.send(sender=App, app_pk=app_pk, by=by)


def _shown_of(app_pk: int) -> dict[str, Any]:
    shown: dict[str, Any] = App.objects.select_for_update().values(*SHOWN_TO_PEOPLE).get(pk=app_pk)
    return shown


def suspend_app(*, app: App) -> bool:
    """Stop everything the app does until it is restored; False where it was not active."""
    return bool(_active(app, AppStatus.ACTIVE, AppStatus.SUSPENDED))


def restore_app(*, app: App) -> bool:
    """Let a suspended app work again; False where it was not suspended."""
    return bool(_active(app, AppStatus.SUSPENDED, AppStatus.ACTIVE))


def _active(app: App, old: AppStatus, new: AppStatus) -> int:
    return App.objects.filter(pk=app.pk, status=old).update(status=new, updated_at=timezone.now())


def _decide(application: DeveloperApplication, status: ApplicationStatus, *, by: "User", note: str) -> None:
    now = timezone.now()
    waiting = DeveloperApplication.objects.filter(pk=application.pk, status=ApplicationStatus.SUBMITTED)
    if not waiting.update(status=status, reviewer=by, reviewed_at=now, note=note, updated_at=now):
        raise InvalidRequest("Somebody has decided this application already.")
    application.refresh_from_db()


def _check_words(application: DeveloperApplication) -> None:
    """What people will be shown: plain names, and links that lead somewhere over https."""
    for name, longest in (("name", 80), ("legal_name", 160)):
        text = getattr(application, name)
        if not is_plain(text) or len(text) > longest:
            raise InvalidRequest(f"{name} must be one line of plain text, 1 to {longest} characters.")
    for name in ("website", "privacy_policy"):
        if not getattr(application, name).startswith("https://"):
            raise InvalidRequest(f"{name} must be an https link.")
