"""Counting discoveries."""

from typing import Any

import pytest
from django.db import OperationalError, connection

from consent.actions import discovery
from consent.actions.discovery import flush_discoveries, note_discovery
from consent.models import Discovery
from tests.consent.api.test_failing import failing
from tests.factories import AppFactory, PersonFactory
from tests.patience import wait_until


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_counts", discovery._Counts())


@pytest.mark.django_db(transaction=True)
def test_further_counts_are_written_without_another_discovery(settings: Any) -> None:
    settings.DISCOVERY_FLUSH_SECONDS = 0.05
    app, person = AppFactory(), PersonFactory()
    for _ in range(20):
        note_discovery(app_pk=app.pk, user_pk=person.pk)

    assert wait_until(lambda: Discovery.objects.get().count == 20)


def test_counts_outlive_a_database_that_is_away(db: None) -> None:
    app, person = AppFactory(), PersonFactory()
    for _ in range(3):
        note_discovery(app_pk=app.pk, user_pk=person.pk)
    with connection.execute_wrapper(failing("UPDATE discovery_log")), pytest.raises(OperationalError):
        flush_discoveries()
    flush_discoveries()

    assert Discovery.objects.get().count == 3


def test_somebody_who_is_gone_does_not_stop_the_counts_of_others(db: None) -> None:
    app, gone, here = AppFactory(), PersonFactory(), PersonFactory()
    for person in (gone, gone, here, here, here):
        note_discovery(app_pk=app.pk, user_pk=person.pk)
    gone.delete()

    flush_discoveries()

    assert list(Discovery.objects.values_list("user_id", "count")) == [(here.pk, 3)]
