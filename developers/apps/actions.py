"""What is done to apps. Keyword-only, the one who acts as `by=`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.outbox import send_mail_or_log
from common.problems import InvalidRequest
from common.text import is_plain
from developers.apps.audit import record
from developers.apps.models import CLOSED_WITH_OWNER, RESTORED, SUSPENDED, App, AppMode, AppStatus
from developers.signals import app_changed, tokens_ended

# What the page of a request says of the app that asks, or draws a warning from.
SHOWN_TO_PEOPLE = (
    "name", "verified", "logo_digest", "proved_domain", "application__legal_name", "application__website",
    "application__privacy_policy", "application__contact_email", "application__needed_scopes",
    "application__recipients", "application__storage_place", "application__retention", "application__jurisdiction",
)  # fmt: skip
MOST_TEST_APPS = 20


@contextmanager
def changing_app(*, app_pk: int, by: User | None) -> Iterator[None]:
    """Around a change of an app or its application: where people are shown something else of it then, others learn.

    The rows are locked and compared as they are kept: a request that is being asked waits, and then meets what is new.
    """
    with transaction.atomic():
        before = _shown_of(app_pk)
        yield
        if _shown_of(app_pk) != before:
            app_changed.send(sender=App, app_pk=app_pk, by=by)


def _shown_of(app_pk: int) -> dict[str, Any]:
    App.objects.select_for_update(no_key=True).get(pk=app_pk)
    shown: dict[str, Any] = App.objects.values(*SHOWN_TO_PEOPLE).get(pk=app_pk)
    return shown


@transaction.atomic
def make_test_app(*, name: str, by: User) -> App:
    """A test app, which needs no staff; `by` becomes its owner. Raises `InvalidRequest`."""
    _check_name(name)
    User.objects.select_for_update(no_key=True).get(pk=by.pk)  # two at once are counted one after the other
    if App.objects.filter(mode=AppMode.TEST, members__user=by, members__role="owner").count() >= MOST_TEST_APPS:
        raise InvalidRequest(f"Nobody owns more than {MOST_TEST_APPS} test apps.")
    app = App.objects.create(mode=AppMode.TEST, name=name.strip())
    app.members.create(user=by, role="owner")
    record(app=app, by=by, action="app.made", name=app.name)
    return app


def rename_app(*, app: App, name: str, by: User) -> bool:
    """Call a test app something else; False where that is its name already.

    A live app keeps the name that staff approved, since people decide by it. Raises `InvalidRequest`.
    """
    _check_name(name)
    with changing_app(app_pk=app.pk, by=by):
        locked = App.objects.get(pk=app.pk)
        if not locked.is_test:
            raise InvalidRequest("Staff alone change the name of a live app.")
        if locked.status == AppStatus.CLOSED:
            raise InvalidRequest("The app is closed.")
        if locked.name == name.strip():
            return False
        App.objects.filter(pk=app.pk).update(name=name.strip(), updated_at=timezone.now())
        record(app=app, by=by, action="app.renamed", before=locked.name, name=name.strip())
    return True


@transaction.atomic
def set_origins(*, app: App, origins: list[str], by: User) -> bool:
    """Where people may go back to from a test app's connections and requests; False where it is so already.

    `origins` are as `tried_origin_of` writes them. A live app's are approved with its application. Raises
    `InvalidRequest`.
    """
    locked = App.objects.select_for_update(no_key=True).get(pk=app.pk)
    if not locked.is_test:
        raise InvalidRequest("The origins of a live app change by an application alone.")
    if locked.status == AppStatus.CLOSED:
        raise InvalidRequest("The app is closed.")
    if locked.origins == origins:
        return False
    App.objects.filter(pk=app.pk).update(origins=origins, updated_at=timezone.now())
    record(app=app, by=by, action="app.origins_set", origins=origins)
    return True


@transaction.atomic
def close_app(*, app: App, by: User, action: str = "app.closed") -> bool:
    """End an app for good, with all of its tokens; False where it was closed already.

    With `CLOSED_WITH_OWNER` as the `action`, whoever is left in its team is written to.

    What waits for a decision is cancelled. Grants stand as they are, and nobody can read by them any more.
    """
    now = timezone.now()
    App.objects.select_for_update(no_key=True).get(pk=app.pk)  # a token that is being minted comes before or not at all
    open_app = App.objects.filter(pk=app.pk).exclude(status=AppStatus.CLOSED)
    if not open_app.update(status=AppStatus.CLOSED, updated_at=now):
        return False
    live = app.tokens.filter(expires_at__gt=now).exclude(revoked_at__lte=now)
    record(app=app, by=by, action=action, revoked_tokens=live.update(revoked_at=now))
    app_changed.send(sender=App, app_pk=app.pk, by=by)
    tokens_ended.send(sender=App, app_pk=app.pk)
    if action == CLOSED_WITH_OWNER:
        _write_to_members(app, action)
    return True


def _check_name(name: str) -> None:
    if not is_plain(name) or len(name) > 80:
        raise InvalidRequest("A name is one line of plain text, 1 to 80 characters.")


@transaction.atomic
def suspend_app(*, app: App, by: User | None, note: str) -> bool:
    """Stop everything the app does until it is restored; False where it was not active. Members read the note.

    Its tokens let nobody in from this moment on: open streams end.
    """
    if not _switch(app, AppStatus.ACTIVE, AppStatus.SUSPENDED, by=by, action=SUSPENDED, note=note):
        return False
    tokens_ended.send(sender=App, app_pk=app.pk)
    return True


@transaction.atomic
def restore_app(*, app: App, by: User | None, note: str) -> bool:
    """Let a suspended app work again; False where it was not suspended. Members read the note."""
    return _switch(app, AppStatus.SUSPENDED, AppStatus.ACTIVE, by=by, action=RESTORED, note=note)


def _switch(app: App, old: AppStatus, new: AppStatus, *, by: User | None, action: str, note: str) -> bool:
    if not App.objects.filter(pk=app.pk, status=old).update(status=new, updated_at=timezone.now()):
        return False
    record(app=app, by=by, action=action, note=note)
    _write_to_members(app, action, note)
    return True


def _write_to_members(app: App, action: str, note: str = "") -> None:
    for member in app.members.filter(user__is_active=True).select_related("user").order_by("pk"):
        template = f"developers/mail/{action.removeprefix('app.')}"
        send_mail_or_log(template, to=member.user, context={"app": app, "note": note})
