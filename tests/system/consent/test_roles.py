"""With the rights of deploy/postgresql/roles.sql: the server only queues, the sequencer only adds to the log."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from consent.ledger import audit
from consent.ledger.models import AuditEntry, LogQueue
from consent.log import keys
from consent.log.models import AuditCheckpoint, LogLeaf, LogState
from consent.log.sequencing import sequence_and_sign
from deploy.local import scratch
from tests.chains import verify_log
from tests.consent.log.conftest import AT
from tests.least_rights import ROLES, acting_as, made_roles
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import ROOT, database_url

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no roles"),
]
REFUSED = "permission denied"


@pytest.fixture
def roles() -> Iterator[str]:
    with made_roles() as role:
        yield role


def write(count: int) -> None:
    entry = audit.NewEntry(chain="person:a", kind="denied", actor="person", at=AT, facts={"user_id": "usr_a"})
    with transaction.atomic():
        audit.append_all([entry] * count)


def refusal(statement: str) -> str:
    """What the database says; empty where it did it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as refused:
        return str(refused)
    return ""


_ADDITIONS = [
    "INSERT INTO consent_log_leaves (log_index, entry_hash) VALUES (99, '\\x00')",
    "INSERT INTO consent_log_tiles (level, number, hashes) VALUES (0, 99, '\\x00')",
    "INSERT INTO consent_audit_checkpoints (epoch, size, root, note, cosignatures, at) "
    "VALUES ('', 99, 'r', 'n', '', now())",
]
_CHANGES = [
    f"UPDATE {table} SET {column} = {column}"
    for table, column in [
        ("consent_log_leaves", "entry_hash"),
        ("consent_log_tiles", "hashes"),
        ("consent_audit_checkpoints", "note"),
        ("consent_audit_checkpoints", "root"),
        ("consent_log_queue", "at"),
        ("consent_log_state", "epoch"),
        ("consent_audit", "entry_hash"),
    ]
]
_REMOVALS = [
    f"DELETE FROM {table}"
    for table in ("consent_log_leaves", "consent_log_tiles", "consent_audit_checkpoints", "consent_log_state")
]


def test_the_server_cannot_write_the_log(roles: str) -> None:
    """Rights are looked at before any trigger is."""
    write(3)
    sequence_and_sign()
    own = [
        "DELETE FROM consent_log_queue",
        "UPDATE consent_log_state SET size = size",
        "UPDATE consent_log_state SET frontier = frontier",
        "UPDATE consent_audit_checkpoints SET cosignatures = cosignatures",
    ]
    with acting_as(roles):
        done = [each for each in [*_ADDITIONS, *_CHANGES, *_REMOVALS, *own] if REFUSED not in refusal(each)]
    assert done == []


def test_the_server_queues_and_reads(roles: str) -> None:
    with acting_as(roles):
        write(3)
        assert LogQueue.objects.count() == 3
        assert (LogLeaf.objects.count(), AuditCheckpoint.objects.count()) == (0, 0)
        with pytest.raises(DatabaseError, match=REFUSED):
            sequence_and_sign()
    assert LogQueue.objects.count() == 3


def test_the_sequencer_changes_nothing_that_is_in_the_log(roles: str) -> None:
    write(3)
    sequence_and_sign()
    own = ["INSERT INTO consent_log_queue (entry_id) VALUES (99)", "TRUNCATE consent_log_leaves"]
    with acting_as(f"{roles}_log"):
        done = [each for each in [*_CHANGES, *_REMOVALS, *own] if REFUSED not in refusal(each)]
    assert done == []


def test_the_sequencer_reads_nothing_but_the_log_and_the_hashes_of_entries(roles: str) -> None:
    readable = {
        "consent_log_queue", "consent_log_leaves", "consent_log_tiles", "consent_log_state",
        "consent_audit_checkpoints",
    }  # fmt: skip
    tables = set(connection.introspection.table_names())
    with acting_as(f"{roles}_log"):
        read = {table for table in tables if not refusal(f"SELECT * FROM {table}")}
        columns = {
            column.name
            for column in AuditEntry._meta.concrete_fields
            if not refusal(f"SELECT {column.column} FROM consent_audit")
        }
    assert read == readable
    assert columns == {"id", "entry_hash"}


def test_the_sequencer_sequences_and_signs_with_its_rights_alone(roles: str) -> None:
    write(300)
    with acting_as(f"{roles}_log"):
        assert sequence_and_sign() == 300
        assert sequence_and_sign() == 0
    assert AuditCheckpoint.objects.get().size == 300
    assert list(verify_log()) == []


def test_the_sequencer_as_a_process_has_its_role_and_the_keys_of_the_log_alone(roles: str) -> None:
    write(1)
    password = secrets.token_urlsafe(24)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER ROLE {roles}_log PASSWORD '{password}'")
    address = urlsplit(database_url())
    place = f"{roles}_log:{password}@{address.hostname}:{address.port}"
    process = sequencer(address._replace(netloc=place).geturl())
    try:
        eventually(AuditCheckpoint.objects.filter(size=1).exists, "a checkpoint of one entry")
        write(2)
        eventually(AuditCheckpoint.objects.filter(size=3).exists, "a checkpoint of three entries")
        process.send_signal(signal.SIGTERM)
        _, output = process.communicate(timeout=MOST_SECONDS)
    finally:
        process.kill()
        process.wait()

    assert (process.returncode, output) == (0, "")
    assert LogQueue.objects.count() == 0
    assert list(verify_log()) == []


def sequencer(database: str) -> subprocess.Popen[str]:
    """`manage.py sequence_log` as deploy/ starts it: no key of the vaults and none of receipts."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "CONSENT_VAR", "LOG_KEYS") if name in os.environ}
    own = {"DATABASE_URL": database, "SECRET_KEY": secrets.token_urlsafe(50), "RECEIPT_KEYS": "[]"}
    return subprocess.Popen(
        [sys.executable, "manage.py", "sequence_log"], cwd=ROOT, env={**kept, **own, "BASE_URL": _base_url()},
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _base_url() -> str:
    return f"http://{keys.origin().removesuffix('/log')}"


def test_the_sequencer_begins_no_other_log(roles: str) -> None:
    write(1)
    sequence_and_sign()
    with acting_as(f"{roles}_log"), pytest.raises(CommandError, match="run it as the owner of the tables"):
        call_command("restore_log", "--new-epoch", "b")
    assert LogState.objects.get().epoch == ""


def test_an_ordinary_owner_can_set_up_and_erase(roles: str) -> None:
    """As clouds sell PostgreSQL: who owns the database makes no roles, and sets nothing that is a superuser's."""
    owner = f"{roles}_owner"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {owner} LOGIN NOSUPERUSER NOCREATEROLE")
    address = urlsplit(scratch.make(database_url(), owner))
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {owner} OWNER TO {owner}")

        def manage(role: str, *arguments: str) -> None:
            own = address._replace(netloc=f"{role}@{address.hostname}:{address.port}").geturl()
            environment = {**os.environ, "DATABASE_URL": own, "DJANGO_SUPERUSER_PASSWORD": secrets.token_urlsafe(24)}
            subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True)

        manage(owner, "migrate", "--verbosity", "0")
        psql = ["psql", address._replace(netloc=f"{owner}@{address.hostname}:{address.port}").geturl(), "--quiet"]
        subprocess.run([*psql, f"--set=role={roles}", f"--file={ROLES}"], check=True)
        manage(roles, "createsuperuser", "--noinput", "--email", "ines@example.org")
        with psycopg.connect(address.geturl()) as superuser:  # a member of staff is not erased
            superuser.execute("UPDATE users SET is_staff = false, is_superuser = false")
        manage(owner, "erase_person", "ines@example.org", "--yes")

        with psycopg.connect(address.geturl()) as looking:
            assert looking.execute("SELECT email LIKE '%@erased.invalid' FROM users").fetchall() == [(True,)]
    finally:
        scratch.drop(database_url(), owner)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP ROLE {owner}")
