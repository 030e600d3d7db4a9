"""Counting discoveries."""

import threading
from typing import Any

import pytest
from django.db import OperationalError, connection

from consent.discovery import counts
from consent.discovery.counts import note_discovery
from consent.discovery.models import Discovery
from tests.consent.api.test_failing import failing
from tests.factories import AppFactory, PersonFactory
from tests.patience import eventually

_GIVE_UP = 30.0  # seconds; only what hangs meets it

pytestmark = pytest.mark.usefixtures("one_day")


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "_counts", counts._Counts())


@pytest.mark.django_db(transaction=True)  # a thread writes them, over a connection of its own
def test_further_counts_are_written_without_another_discovery(settings: Any) -> None:
    settings.DISCOVERY_FLUSH_SECONDS = 0.05
    app, person = AppFactory(), PersonFactory()
    for _ in range(20):
        note_discovery(app_pk=app.pk, user_pk=person.pk)

    eventually(lambda: Discovery.objects.get().count == 20, "a count of 20")


@pytest.mark.django_db(transaction=True)  # a transaction that fails as a whole
def test_counts_outlive_a_database_that_is_away() -> None:
    app, person = AppFactory(), PersonFactory()
    for _ in range(3):
        note_discovery(app_pk=app.pk, user_pk=person.pk)
    with connection.execute_wrapper(failing('UPDATE "discovery_log"')), pytest.raises(OperationalError):
        counts._counts.flush()
    counts._counts.flush()

    assert Discovery.objects.get().count == 3


def test_first_discovery_that_was_not_written_is_written_by_the_next(db: None) -> None:
    app, person = AppFactory(), PersonFactory()
    with connection.execute_wrapper(failing("INSERT INTO discovery_log")), pytest.raises(OperationalError):
        note_discovery(app_pk=app.pk, user_pk=person.pk)
    assert not Discovery.objects.exists()

    note_discovery(app_pk=app.pk, user_pk=person.pk)

    assert Discovery.objects.get().count == 1


@pytest.mark.django_db(transaction=True)  # each thread has a connection of its own
def test_discovery_during_a_first_write_that_fails_is_not_lost() -> None:
    app, person = AppFactory(), PersonFactory()
    writing, other_is_through = threading.Event(), threading.Event()
    failed = []

    def away(_execute: Any, sql: str, *_rest: Any) -> None:
        writing.set()
        other_is_through.wait(_GIVE_UP)
        raise OperationalError("the database is away")

    def first() -> None:
        try:
            with connection.execute_wrapper(away):
                note_discovery(app_pk=app.pk, user_pk=person.pk)
        except OperationalError as error:
            failed.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=first)
    thread.start()
    assert writing.wait(_GIVE_UP)
    note_discovery(app_pk=app.pk, user_pk=person.pk)
    other_is_through.set()
    thread.join(_GIVE_UP)
    counts._counts.flush()

    assert len(failed) == 1
    assert Discovery.objects.get().count == 1


def test_somebody_who_is_gone_does_not_stop_the_counts_of_others(db: None) -> None:
    app, gone, here = AppFactory(), PersonFactory(), PersonFactory()
    for person in (gone, gone, here, here, here):
        note_discovery(app_pk=app.pk, user_pk=person.pk)
    gone.delete()

    counts._counts.flush()

    assert list(Discovery.objects.values_list("user_id", "count")) == [(here.pk, 3)]
