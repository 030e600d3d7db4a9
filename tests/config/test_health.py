"""Whether a process can do its work: each part by itself, and none of it is told to strangers in detail."""

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.test import Client

from common import heartbeats
from common.clock import database_now
from common.models import CacheEntry
from common.sql.triggers import install_rules
from config import probes
from config.rules import RULES
from consent.ledger.models import AuditEntry, AuditHead
from tests.consent.api.test_failing import failing
from tests.factories.history import LogQueueFactory
from tests.patience import MOST_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)  # it is looked at over a connection of its own
PARTS = ("database", "migrations", "rules", "audit", "worker", "timer", "log", "broker")


@pytest.fixture(autouse=True)
def _nothing_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes long on a busy machine is not away."""
    monkeypatch.setattr(probes, "_TIME_LIMIT", MOST_SECONDS)


@pytest.fixture(autouse=True)
def _all_are_alive(_nothing_is_late: None, transactional_db: None) -> None:
    heartbeats.beat("worker")
    heartbeats.beat("timer")


def checks() -> tuple[int, dict[str, bool]]:
    answer = Client().get("/readyz")
    return answer.status_code, answer.json()["checks"]


def test_ready_and_nothing_is_written_for_it() -> None:
    with connection.execute_wrapper(failing()):  # not even over the connection of the request
        answer = Client().get("/readyz")

    everything = dict.fromkeys(PARTS, True)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": everything, "degraded": []})
    assert not AuditEntry.objects.exists()
    assert not AuditHead.objects.exists()


@pytest.fixture(params=[("consent_audit", "no_update"), ("activations", "lifecycle")])  # of two rooms
def without_a_rule(request: pytest.FixtureRequest) -> Iterator[None]:
    table, name = request.param
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {table}_{name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))
    yield
    install_rules(connection, RULES)


def test_a_rule_that_is_gone_is_not_ready(without_a_rule: None) -> None:
    assert checks() == (503, {**dict.fromkeys(PARTS, True), "rules": False})


def test_a_rule_that_is_switched_off_is_not_ready() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no such switch")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE consent_audit DISABLE TRIGGER consent_audit_no_update")
        try:
            assert checks() == (503, {**dict.fromkeys(PARTS, True), "rules": False})
        finally:
            cursor.execute("ALTER TABLE consent_audit ENABLE TRIGGER consent_audit_no_update")


def test_a_migration_that_is_missing_is_not_ready() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("pkm", "0001_initial")
    try:
        assert checks() == (503, {**dict.fromkeys(PARTS, True), "migrations": False})
    finally:
        recorder.record_applied("pkm", "0001_initial")


def test_a_later_release_s_database_is_served_on_but_neither_migrated_nor_approved() -> None:
    """A process that starts again while the release is replaced has to serve on."""
    recorder = MigrationRecorder(connection)
    later, gone = ("pkm", "9999_to_come"), ("no_app_of_now", "0001_initial")
    for one in (later, gone):
        recorder.record_applied(*one)
    try:
        assert checks() == (200, dict.fromkeys(PARTS, True))
        refused = f"A later release migrated the database {connection.settings_dict['NAME']}: this one does not know "
        for command in (
            partial(call_command, "check", databases=["default"]),
            partial(call_command, "migrate", skip_checks=False),
        ):
            with pytest.raises(SystemCheckError, match=r"config\.E009") as error:
                command()
            assert f"{refused}pkm.9999_to_come.\n" in str(error.value)
    finally:
        for one in (later, gone):
            recorder.record_unapplied(*one)
    call_command("check", databases=["default"])


@pytest.mark.sqlite
def test_a_locked_file_is_not_waited_for(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "locked"))
    holder = sqlite3.connect(tmp_path / "locked", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("CREATE TABLE kept (id)")

    assert checks() == (503, {**dict.fromkeys(PARTS, False), "broker": True})
    holder.close()


@pytest.mark.parametrize("part", ["worker", "timer"])
def test_what_shows_no_life_any_more_is_named(part: str) -> None:
    row = CacheEntry.objects.filter(key=heartbeats.key(part))
    assert row.update(expires_at=F("expires_at") - int(heartbeats.DEAD_AFTER * 1000)) == 1

    answer = Client().get("/readyz")

    everything = {**dict.fromkeys(PARTS, True), part: False}
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": everything, "degraded": [part]})


def test_a_log_that_takes_nothing_in_is_named() -> None:
    LogQueueFactory(at=database_now())
    assert Client().get("/readyz").json()["degraded"] == []
    LogQueueFactory(at=database_now() - timedelta(seconds=26))

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["degraded"]) == (200, ["log"])


def test_alive_whatever_the_database_does() -> None:
    with connection.execute_wrapper(failing()):
        assert Client().get("/livez").status_code == 200


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/docs/errors", "/docs/security/", "/api/docs/"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_another_method_needs_no_token_to_be_told_so(path: str, method: str) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path)

    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


_LATER, _MAILS = "something is late", "Mails, alerts and analyses come later than usual."


def test_people_are_told_that_all_is_well() -> None:
    page = Client().get("/status/")

    assert page.status_code == 200
    assert "All is well." in page.content.decode()
    assert "Alles in Ordnung." in Client(headers={"Accept-Language": "de"}).get("/status/").content.decode()


def test_people_are_told_once_that_worker_and_timer_are_silent_and_no_part_is_named() -> None:
    CacheEntry.objects.filter(key__in=[heartbeats.key("worker"), heartbeats.key("timer")]).delete()

    page = Client().get("/status/").content.decode()

    assert _LATER in page
    assert page.count(_MAILS) == 1
    assert not {"worker", "timer", "broker"} & set(page.partition("<main")[2].partition("</main")[0].lower().split())


def test_people_meet_the_page_of_an_outage_where_it_is_not_ready(without_a_rule: None) -> None:
    page = Client(raise_request_exception=False).get("/status/")

    assert (page.status_code, page["Retry-After"]) == (503, "5")
