"""After an erasure and VACUUM FULL nothing of the person is left: no dump, no file of a table and no log has it.

On PostgreSQL the erasure runs with the rights of deploy/postgresql/roles.sql and no others.
"""

import logging
import secrets
from collections import Counter
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.erasure.actions import erase, order_erasure, request_erasure, take_back
from accounts.hooks import room_erasures
from common import broker
from consent.decisions import actions as decision_actions
from consent.ledger.models import AuditFacts
from tests import factories
from tests.accounts.erasure.tables import tables_of_people
from tests.factories.whole_person import everything_about_somebody
from tests.least_rights import least_rights
from tests.patience import eventually
from tests.system.canary.kept import dump, octets_of

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no rights")


def rows_by_table() -> Counter[str]:
    """How many rows each table has that leads to a person."""
    with connection.cursor() as cursor:
        counts = Counter[str]()
        for table in tables_of_people():
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = cursor.fetchone()[0]
    return counts


_FILE = "SELECT relname FROM pg_class WHERE pg_relation_filenode(oid)::text = %s"


def kept_in_files(text: str) -> list[str]:
    """Which files of this database hold it, by table or index; none where PostgreSQL's server hides its files."""
    if connection.vendor != "postgresql":
        file = Path(settings.DATABASES["default"]["NAME"])
        return [file.name] if text.encode() in octets_of(file) else []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        )
        folder, oid = cursor.fetchone()
        try:
            files = [file for file in (Path(folder) / "base" / str(oid)).iterdir() if file.is_file()]
            found = [file.name for file in files if text.encode() in file.read_bytes()]
        except OSError:
            return []
        for place, name in enumerate(found):
            cursor.execute(_FILE, [name.partition("_")[0].partition(".")[0]])
            found[place] = next((row[0] for row in cursor.fetchall()), name)
    return sorted(found)


def rewrite_files() -> None:
    """What the handbook names for what is still on disk."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL" if connection.vendor == "postgresql" else "VACUUM")
        cursor.execute("CHECKPOINT" if connection.vendor == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)")


def kept_after_rewriting(text: str) -> list[str]:
    rewrite_files()
    return kept_in_files(text)


def who_looks_back() -> list[tuple[Any, ...]]:
    """The sessions for whose sake PostgreSQL keeps old rows."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT datname, application_name, state, xact_start, query FROM pg_stat_activity"
            " WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()"
        )
        return list(cursor.fetchall())


def draw_samples() -> None:
    """What autovacuum does whenever it likes: PostgreSQL keeps values for its planner, outside of the tables.

    Nothing does so on SQLite, and there it would stay: later tests of this process would be planned for two people.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


_SAMPLES = """
SELECT tablename || '.' || attname FROM pg_stats WHERE
strpos(concat(most_common_vals::text, histogram_bounds::text, most_common_elems::text), %s) > 0
"""


@on_postgresql
def test_the_planner_keeps_no_sample_of_what_a_person_said() -> None:
    canaries = [f"canary{secrets.token_hex(8)}" for _ in range(2)]
    for canary in canaries:
        everything_about_somebody(canary)

    draw_samples()

    with connection.cursor() as cursor:
        cursor.execute(_SAMPLES, ["canary"])
        assert cursor.fetchall() == []
        cursor.execute(_SAMPLES, ["person"])
        assert ("erasures.asked_by",) in cursor.fetchall()  # samples were drawn


def test_nothing_of_an_erased_person_is_left(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(
        settings, "CELERY_TASK_ALWAYS_EAGER", False
    )  # a worker would work off what is due of the neighbour, too
    monkeypatch.setattr(broker, "_send", lambda *_: None)
    canary = f"canary{secrets.token_hex(8)}"
    user = everything_about_somebody(canary)
    neighbour = f"canary{secrets.token_hex(8)}"
    alone = rows_by_table()
    assert {table for table in tables_of_people() if not alone[table]} == set(), "nothing of the person is looked for"
    other = everything_about_somebody(neighbour)
    both = rows_by_table()
    logged_by_factories = len(caplog.records)
    draw_samples()
    assert canary.encode() in dump()
    readable = bool(kept_after_rewriting(canary))

    ordered = order_erasure(of=user)
    with least_rights():
        assert erase(erasure_pk=ordered.pk)

    # a transaction that still looks back, such as autovacuum's own, keeps old rows: the next VACUUM takes them
    try:
        eventually(lambda: not kept_after_rewriting(canary), "a file without what was erased")
    except AssertionError as error:
        error.add_note(f"{kept_after_rewriting(canary)}, and who looks back: {who_looks_back()}")
        raise
    assert kept_in_files(canary) == []
    left = rows_by_table()
    destroyed = {table for room in room_erasures() for table, fate in room.tables.items() if fate == "destroyed"}
    destroyed -= {"audit_pending"}  # what waits is written first, of the neighbour too
    theirs = {table: both[table] - alone[table] for table in destroyed}
    theirs["outgoing_mails"] += 1  # which tells the person that they are erased, and waits for the worker
    assert {table: left[table] for table in destroyed} == theirs
    kept = dump()
    assert canary.encode() not in kept
    assert readable == bool(kept_in_files(neighbour))
    assert neighbour.encode() in kept
    assert not [line for line in caplog.records[logged_by_factories:] if canary in line.getMessage() + str(line.args)]

    # what was made for the neighbour without an entry would be a finding while its rows stand
    later = order_erasure(of=other)
    with least_rights():
        assert erase(erasure_pk=later.pk)
    call_command("verify_audit", stdout=StringIO())


_asking = (
    "INSERT INTO erasures (user_id, asked_by, asked_at, due_at, undo_digest) "
    "VALUES ({user}, '{by}', now(), now() + interval '{days} days', '')"
)


@on_postgresql
def test_the_servers_role_takes_away_no_facts_but_by_an_erasure_that_is_due() -> None:
    request = factories.ConsentRequestFactory()
    decision_actions.deny(request_id=request.request_id, by=request.user)
    waiting = factories.ErasureFactory(user=request.user)
    over = factories.ErasureFactory(asked_at=timezone.now() - timedelta(days=9), cancelled_at=timezone.now())
    tries = [
        "DELETE FROM audit_facts",
        "DELETE FROM audit_chains",
        "UPDATE audit_facts SET about = ''",
        "UPDATE audit_chains SET subject = 'person:x'",
        "DELETE FROM consent_receipts",
        "TRUNCATE audit_facts CASCADE",
        f"SELECT erase_consent_rows({waiting.pk})",
        f"SELECT erase_consent_rows({over.pk})",
        f"UPDATE erasures SET due_at = asked_at WHERE id = {waiting.pk}",
        # nobody who has the server's rights erases without the days in which it can be taken back
        _asking.format(user=over.user_id, by="operator", days=0),
        _asking.format(user=over.user_id, by="person", days=0),
        _asking.format(user=over.user_id, by="operator", days=7),
        # the setting of the functions is of no use to anybody but them
        "SELECT set_config('consent.erasing', 'on', true); UPDATE consent_requests SET purpose = 'other'",
    ]

    with least_rights():
        for statement in tries:
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)
        with pytest.raises(CommandError, match="owner of the tables"):
            call_command("erase_person", over.user.public_id, yes=True, stdout=StringIO())
        erasure = request_erasure(by=over.user)
        assert take_back(by=over.user)
        assert not erase(erasure_pk=erasure.pk)

    assert AuditFacts.objects.count() == 2
