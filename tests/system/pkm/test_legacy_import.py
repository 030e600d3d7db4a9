"""Old rows: nothing writes them but `import_legacy`, which may be killed, run again and fed nonsense."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from accounts.models import User
from common import encryption
from common.sql.triggers import lifted
from pkm.legacy.models import Closed, LegacyBlob, LegacyMetadata, MigrationState
from pkm.rules import LEGACY_RULES
from tests import factories
from tests.database import missing_rules
from tests.served_site import ROOT, database_url

JWE = factories.old_jwe({"favorite_cuisine": "Georgian"})


def line(email: str, domain: str = "lifestyle", **change: Any) -> str:
    record = {"user_email": email, "domain": domain, "jwe": JWE, "updated_at": "2024-05-17T09:30:00Z"}
    return json.dumps(record | change)


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "old.jsonl"
    path.write_text("".join(f"{text}\n" for text in lines))
    return path


def rows() -> list[tuple[Any, ...]]:
    found = LegacyBlob.objects.order_by("user__email", "domain").values_list("user__email", "domain", "jwe")
    return [(email, domain, encryption.opened(jwe)) for email, domain, jwe in found]


# --- nothing else writes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factory", [factories.LegacyBlobFactory, factories.LegacyMetadataFactory])
def test_model_and_database_refuse_every_other_write(factory: Any, db: None) -> None:
    row = factory()
    objects = type(row).objects

    for refused in (row.save, row.delete, objects.all().delete, lambda: objects.create(user=row.user, domain="x")):
        with pytest.raises(Closed):
            refused()
    copy = type(row)(
        user=row.user, domain="other", updated_at=row.updated_at, **({"jwe": "x"} if "jwe" in vars(row) else {})
    )
    for refused in (lambda: objects.bulk_create([copy]), lambda: objects.update(domain="other")):
        with pytest.raises(DatabaseError, match="is closed"), transaction.atomic():
            refused()
    assert objects.values_list("domain", flat=True).get() == "lifestyle"


def test_lifted_rules_come_back_whatever_happens(person: User) -> None:
    with pytest.raises(RuntimeError), transaction.atomic(), lifted(connection, LEGACY_RULES):
        raise RuntimeError
    factories.LegacyBlobFactory(user=person)

    assert missing_rules(connection, LEGACY_RULES) == []
    with pytest.raises(DatabaseError, match="is closed"), transaction.atomic():
        LegacyBlob.objects.update(domain="other")


# --- the command ------------------------------------------------------------------------------------------------------


def test_good_lines_come_in_and_their_owners_are_asked(person: User, tmp_path: Path) -> None:
    call_command("import_legacy", written(tmp_path, line(person.email.upper()), "", line(person.email, "identity")))

    assert rows() == [(person.email, "identity", JWE), (person.email, "lifestyle", JWE)]
    assert JWE not in LegacyBlob.objects.values_list("jwe", flat=True)
    own = MigrationState.objects.get(user=person)
    assert (own.status, own.last_error) == ("waiting_for_unlock", "")
    file = MigrationState.objects.get(user=None)
    assert (file.status, file.counts) == ("completed", {"imported": 2, "known": 0, "refused": 0})


def test_same_file_again_changes_nothing(person: User, tmp_path: Path) -> None:
    path = written(tmp_path, line(person.email), line(person.email, "identity"))
    call_command("import_legacy", path)
    before = list(LegacyBlob.objects.order_by("pk").values())

    call_command("import_legacy", path)

    assert list(LegacyBlob.objects.order_by("pk").values()) == before
    assert MigrationState.objects.get(user=None).counts == {"imported": 0, "known": 2, "refused": 0}


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("batch", [1, 100])
def test_newest_of_two_rows_stays(person: User, tmp_path: Path, newest_first: bool, batch: int) -> None:
    other = factories.old_jwe({"favorite_cuisine": "Lao"})
    lines = [line(person.email, jwe=other, updated_at="2025-01-01T00:00:00+02:00"), line(person.email)]
    path = written(tmp_path, *(lines if newest_first else lines[::-1]))

    call_command("import_legacy", path, batch=batch)

    assert rows() == [(person.email, "lifestyle", other)]


def test_what_was_moved_comes_back_only_where_it_is_newer(person: User, tmp_path: Path) -> None:
    moved = {"moved": {"lifestyle": "2024-05-17T09:30:00+00:00", "identity": "2024-01-01T00:00:00+00:00"}}
    factories.MigrationStateFactory(user=person, status="completed", checkpoint=moved)

    call_command("import_legacy", written(tmp_path, line(person.email), line(person.email, "identity")))

    assert rows() == [(person.email, "identity", JWE)]
    assert MigrationState.objects.get(user=person).status == "waiting_for_unlock"


BAD = {
    "is not valid JSON": "{",
    "is not a JSON object": "[]",
    "user_email: nobody": line("nobody@example.org"),
    "user_email: is missing": json.dumps({"domain": "x"}),
    "jwe: is not a compact JWE": line("zoe@example.org", jwe="a.b"),
    "jwe: alg: is not sealed under": line("zoe@example.org", jwe="eyJhbGciOiJub25lIn0" + JWE[JWE.index(".") :]),
    "domain: is not the name": line("zoe@example.org", "Life style"),
    "updated_at: is not a time": line("zoe@example.org", updated_at="yesterday"),
    "updated_at: has no time zone": line("zoe@example.org", updated_at="2024-05-17T09:30:00"),
    "members that are not known": line("zoe@example.org", surprise=1),
}


def test_bad_lines_are_named_and_the_good_ones_come_in(db: None, tmp_path: Path, capsys: Any) -> None:
    factories.PersonFactory(email="zoe@example.org")
    path = written(tmp_path, *BAD.values(), line("zoe@example.org"))

    with pytest.raises(CommandError, match=f"1 imported, 0 known already, {len(BAD)} refused"):
        call_command("import_legacy", path)

    named = capsys.readouterr().err.splitlines()
    assert len(named) == len(BAD)
    for reason in BAD:
        assert any(reason in complaint for complaint in named), (reason, named)
    assert [complaint.split(":")[0] for complaint in named] == [f"line {number + 1}" for number in range(len(BAD))]
    assert rows() == [("zoe@example.org", "lifestyle", JWE)]
    assert MigrationState.objects.get(user=None).last_error.startswith(f"{len(BAD)} lines refused: 1, 2, 3")


def test_person_who_came_later_is_found_by_the_next_run(db: None, tmp_path: Path) -> None:
    path = written(tmp_path, line("zoe@example.org"))
    with pytest.raises(CommandError):
        call_command("import_legacy", path)
    factories.PersonFactory(email="zoe@example.org")

    call_command("import_legacy", path)

    assert rows() == [("zoe@example.org", "lifestyle", JWE)]


def test_file_that_is_not_there_is_refused(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"cannot be read: No such file"):
        call_command("import_legacy", tmp_path / "nothing")


def test_line_that_is_too_long_is_skipped_without_being_read_whole(
    person: User, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setattr("pkm.legacy.imports.LONGEST", 2_000)
    path = written(tmp_path, "x" * 5_000, line(person.email))

    with pytest.raises(CommandError):
        call_command("import_legacy", path)

    assert capsys.readouterr().err.startswith("line 1:")
    assert rows() == [(person.email, "lifestyle", JWE)]


def test_second_run_of_the_same_file_stops(person: User, tmp_path: Path) -> None:
    from pkm.legacy.imports import ImportedElsewhere, claim, import_batches

    path = written(tmp_path, line(person.email), line(person.email, "identity"))
    first = import_batches(path, claim(path), lines=1)
    second = import_batches(path, claim(path), lines=1)
    next(first)

    with pytest.raises(ImportedElsewhere):
        next(second)
    list(first)
    assert len(rows()) == 2


def test_status_tells_counts(person: User, tmp_path: Path, capsys: Any) -> None:
    call_command("import_legacy", written(tmp_path, line(person.email)), verbosity=0)
    capsys.readouterr()

    call_command("migration_status")

    output = capsys.readouterr().out.splitlines()
    assert output[:5] == ["waiting_for_unlock: 1", "running: 0", "completed: 0", "failed: 0", "old rows left: 1"]
    assert output[5].endswith(": completed, line 1, 1 imported, 0 known, 0 refused")


# --- killed -----------------------------------------------------------------------------------------------------------


# The command as manage.py runs it, which then tells the most memory it ever had: what the system tells of an ended
# process counts the one that it was forked from, too.
COMMAND = """
import re, sys
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
with open("/proc/self/status") as status:
    print(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1])
"""


def _start(path: Path, batch: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", COMMAND, "import_legacy", str(path), "--batch", str(batch)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.served_settings", "DATABASE_URL": database_url()}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def _line_reached() -> int:
    state = MigrationState.objects.filter(user=None).first()
    return state.checkpoint["line"] if state else 0


def _peak(process: "subprocess.Popen[str]") -> int:
    """Wait for its end, which is a good one; the most memory it ever had, in megabytes."""
    output, _ = process.communicate()
    assert process.returncode == 0
    return int(output.split()[-1]) // 1024


@pytest.fixture
def people(transactional_db: None) -> list[User]:
    return factories.PersonFactory.create_batch(50, password="!")


@pytest.mark.long("100,000 rows, killed five times; in short 600, killed twice")
def test_killed_import_is_complete_in_the_end_and_once_each(
    people: list[User], tmp_path: Path, long_form: bool
) -> None:
    total, kills, batch = (100_000, 5, 100) if long_form else (600, 2, 5)
    wanted = [(people[number % 50].email, f"d{number // 50}") for number in range(total)]
    one = _peak(_start(written(tmp_path, line(people[0].email, "d0")), batch))
    MigrationState.objects.all().delete()
    path = written(tmp_path, *(line(email, domain) for email, domain in wanted))

    reached = [0]
    for kill in range(kills):
        process = _start(path, batch)
        while _line_reached() <= max(reached[-1], total * kill // (kills + 1)):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        reached.append(_line_reached())
    peak = _peak(_start(path, batch))

    assert reached == sorted(set(reached))
    assert reached[-1] < total
    found = list(LegacyBlob.objects.values_list("user__email", "domain"))
    assert sorted(found) == sorted(wanted)
    file = MigrationState.objects.get(user=None)
    assert (file.status, file.counts) == ("completed", {"imported": total - 1, "known": 1, "refused": 0})
    assert MigrationState.objects.filter(user__isnull=False, status="waiting_for_unlock").count() == 50
    assert missing_rules(connection, LEGACY_RULES) == []
    assert peak < one + 24, "memory grows with the file"
    assert LegacyMetadata.objects.count() == 0
