"""After an erasure and a VACUUM nothing of the person is left: no dump, no file of a table and no log has it.

On PostgreSQL the erasure runs with the rights of deploy/postgresql/roles.sql and no others.
"""

import logging
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.erasure.actions import erase, order_erasure
from accounts.models import User
from consent.decisions import actions as decision_actions
from consent.decisions import blocked_apps
from consent.grants.models import Grant
from consent.ledger.models import AuditFacts
from developers.members.models import AppInvitation
from pkm.history.models import Event
from pkm.segments.models import Manifest
from tests import factories
from tests.canary.kept import dump, octets_of

pytestmark = pytest.mark.django_db(transaction=True)
ROLES = Path(__file__).parents[2] / "deploy" / "postgresql" / "roles.sql"
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no rights")


@contextmanager
def least_rights() -> Iterator[None]:
    """This connection has the rights of the server's role; on SQLite there are none to lose."""
    if connection.vendor != "postgresql":
        yield
        return
    role = f"consent_{secrets.token_hex(6)}"
    given = connection.settings_dict
    address = ["-h", given["HOST"], "-p", str(given["PORT"] or 5432), "-U", given["USER"] or "root"]
    made = ["psql", *address, "-d", given["NAME"], f"--set=role={role}", f"--file={ROLES}", "--quiet"]
    subprocess.run(made, check=True, capture_output=True)
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
            cursor.execute(f"DROP OWNED BY {role}")
            cursor.execute(f"DROP ROLE {role}")


def live(canary: str) -> User:
    """Somebody who wrote the canary into whatever can be written into, and of whom others wrote it."""
    user: User = factories.PersonFactory(email=f"{canary}@example.org", display_name=f"{canary} Meier")
    vault = factories.give_vault(user)
    profile: dict[str, Any] = {"handle": f"h-{canary}"[:32], "headline": canary, "location_hint": canary}
    factories.PublicProfileFactory(user=user, display_name=canary, **profile)
    factories.ReleasedHandleFactory(user=user, handle=f"r-{canary}"[:32])
    factories.ManagementTokenFactory(user=user, label=canary)
    factories.SessionFactory(user=user)
    asked = {"user": user, "purpose": f"To {canary}", "binding_message": canary}
    grant = factories.ExportFactory(
        grant__request=factories.ConsentRequestFactory(status="approved", **asked),
        sources=[{"domain": "lifestyle", "segment_id": canary, "content_revision": 1}],
    ).grant
    Grant.objects.filter(pk=grant.pk).update(approved_attributes=[f"lifestyle.food.{canary}"])
    denied = factories.ConsentRequestFactory(**asked)
    decision_actions.deny(request_id=denied.request_id, by=user, reason=canary)
    factories.ConsentRequestFactory(**asked)
    blocked_apps.report_app(app_id=grant.app.app_id, by=user, text=canary)
    factories.ManifestPathFactory(manifest=Manifest.objects.get(user=user), path=f"lifestyle.food.{canary}")
    Event.objects.create(user=user, sequence=999, kind="segment_written", facts={"segment": canary}, at=timezone.now())
    invited = factories.AppInvitationFactory(email=user.email)
    AppInvitation.objects.filter(pk=invited.pk).update(invited_by=factories.PersonFactory())
    LogEntry.objects.create(
        user=factories.StaffFactory(), content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk),
        object_repr=user.email, action_flag=CHANGE, change_message=canary,
    )  # fmt: skip
    assert vault.user == user
    return user


def files_of_tables() -> bytes:
    """The files of this database, where the server of PostgreSQL lets them be read; an empty text elsewhere."""
    if connection.vendor != "postgresql":
        return octets_of(Path(settings.DATABASES["default"]["NAME"]))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        )
        folder, oid = cursor.fetchone()
    try:
        return b"".join(file.read_bytes() for file in (Path(folder) / "base" / str(oid)).iterdir() if file.is_file())
    except OSError:
        return b""


def vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL" if connection.vendor == "postgresql" else "VACUUM")
        cursor.execute("CHECKPOINT" if connection.vendor == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.slow("reads all of the database's files, before and after")
def test_nothing_of_an_erased_person_is_left(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    canary = f"canary{secrets.token_hex(8)}"
    user = live(canary)
    neighbour = f"canary{secrets.token_hex(8)}"
    live(neighbour)
    factories_said = len(caplog.records)
    vacuum()
    assert canary.encode() in dump()
    readable = canary.encode() in files_of_tables()

    with least_rights():
        assert erase(erasure_pk=order_erasure(of=user).pk)
    vacuum()

    kept, files = dump(), files_of_tables()
    assert canary.encode() not in kept
    assert canary.encode() not in files
    assert readable == (neighbour.encode() in files)
    assert neighbour.encode() in kept
    assert not [line for line in caplog.records[factories_said:] if canary in line.getMessage() + str(line.args)]
    call_command("verify_audit", stdout=StringIO())


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
        # the setting of the functions is of no use to anybody but them
        "SELECT set_config('consent.erasing', 'on', true); UPDATE consent_requests SET purpose = 'other'",
    ]

    with least_rights():
        for statement in tries:
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)

    assert AuditFacts.objects.count() == 2
