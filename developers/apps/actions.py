"""What is done to apps. Keyword-only, the one who acts as `by=`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from developers.apps.models import App, AppStatus
from developers.signals import app_changed

if TYPE_CHECKING:
    from accounts.models import User

# What the page of a request says of the app that asks, or draws a warning from.
SHOWN_TO_PEOPLE = (
    "name", "verified", "logo_digest", "proved_domain", "application__legal_name", "application__website",
    "application__privacy_policy", "application__contact_email", "application__needed_scopes",
)  # fmt: skip


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
    App.objects.select_for_update().get(pk=app_pk)
    shown: dict[str, Any] = App.objects.values(*SHOWN_TO_PEOPLE).get(pk=app_pk)
    return shown


def suspend_app(*, app: App) -> bool:
    """Stop everything the app does until it is restored; False where it was not active."""
    return bool(_active(app, AppStatus.ACTIVE, AppStatus.SUSPENDED))


def restore_app(*, app: App) -> bool:
    """Let a suspended app work again; False where it was not suspended."""
    return bool(_active(app, AppStatus.SUSPENDED, AppStatus.ACTIVE))


def _active(app: App, old: AppStatus, new: AppStatus) -> int:
    return App.objects.filter(pk=app.pk, status=old).update(status=new, updated_at=timezone.now())
