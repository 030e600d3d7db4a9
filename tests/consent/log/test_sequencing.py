"""Entries enter the log in batches, once, in an order that tells nothing; what was signed is never signed otherwise."""

import base64
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from consent.errors import LogRefused
from consent.ledger import audit
from consent.ledger.models import AuditEntry, LogQueue
from consent.log import keys, mirror, notes, sequencing, signer, tree
from consent.log.merkle import Frontier, tile_width
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.sequencing import sequence_and_sign
from consent.tasks import sequence_log
from tests.consent.log.conftest import AT, Grow


def raw(entry: AuditEntry) -> bytes:
    return base64.urlsafe_b64decode(entry.entry_hash + "=")


def test_an_entry_is_queued_in_its_own_transaction_and_leaves_the_queue_with_its_leaf(grow: Grow) -> None:
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})
    assert LogQueue.objects.count() == 1

    with transaction.atomic():
        audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})
        transaction.set_rollback(True)
    assert LogQueue.objects.count() == 1

    assert sequence_and_sign() == 1
    leaf = LogLeaf.objects.get()
    assert (leaf.log_index, bytes(leaf.entry_hash)) == (0, raw(leaf.entry))
    assert LogQueue.objects.count() == 0
    assert sequence_and_sign() == 0


def test_a_batch_is_sorted_by_hash_so_that_neighbours_tell_nothing(grow: Grow) -> None:
    entries = grow(20)

    assert [raw(entry) for entry in entries] == sorted(map(raw, entries))
    assert [entry.sequence for entry in entries] != sorted(entry.sequence for entry in entries)


def test_leaves_tiles_state_and_queue_change_together_or_not_at_all(grow: Grow, monkeypatch) -> None:
    grow(250)
    for _ in range(10):
        audit.append(chain="person:b", kind="denied", actor="person", at=AT, facts={})
    monkeypatch.setattr(sequencing, "database_now", lambda: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        sequence_and_sign()

    assert (LogLeaf.objects.count(), LogTile.objects.count(), LogQueue.objects.count()) == (250, 0, 10)
    assert LogState.objects.get().size == 250


def test_what_is_kept_grows_as_one_tree(grow: Grow) -> None:
    entries = [*grow(300), *grow(300)][300:]
    state = LogState.objects.get()

    whole = Frontier()
    whole.append([raw(entry) for entry in entries])
    assert (state.size, bytes(state.frontier)) == (600, whole.to_bytes())
    assert LogTile.objects.filter(level=0).count() == 2
    newest = AuditCheckpoint.objects.order_by("size").last()
    assert newest is not None
    assert newest.note.startswith(f"localhost:8000/log\n600\n{notes.base64_of(whole.root())}\n\n— localhost:8000/log ")


def test_a_batch_costs_the_same_number_of_queries_whatever_the_log_has(grow: Grow) -> None:
    def queries() -> int:
        for _ in range(5):
            audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})
        with connection.execute_wrapper(counting := Counting()):
            sequencing.sequence_batch()
        return counting.count

    first = queries()
    grow(600)
    assert queries() == first


class Counting:
    count = 0

    def __call__(self, execute, sql, parameters, many, context):
        self.count += 1
        return execute(sql, parameters, many, context)


@pytest.mark.parametrize("table", ["consent_log_leaves", "consent_log_tiles", "consent_audit_checkpoints"])
def test_nobody_takes_anything_out_of_the_log(grow: Grow, table: str) -> None:
    grow(256)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table}")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE consent_log_leaves SET entry_id = NULL",
        "UPDATE consent_log_tiles SET number = 7",
        "UPDATE consent_log_state SET size = 1",
        "UPDATE consent_log_state SET epoch = 'x'",
        "DELETE FROM consent_log_state",
        "UPDATE consent_audit_checkpoints SET note = 'x'",
        "UPDATE consent_audit_checkpoints SET size = 9999",
    ],
)
def test_nobody_changes_what_is_in_the_log(grow: Grow, change: str) -> None:
    grow(256)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)


# --- the signer -------------------------------------------------------------------------------------------------------


def memory() -> dict[str, object]:
    read: dict[str, object] = json.loads(Path(settings.LOG_SIGNER_FILE).read_text())
    return read


def test_the_signer_remembers_what_it_signed_before_it_answers(grow: Grow) -> None:
    grow(3)
    newest = AuditCheckpoint.objects.get()

    assert (memory()["size"], memory()["note"]) == (3, newest.note)
    assert Path(settings.LOG_SIGNER_FILE).stat().st_mode & 0o777 == 0o600


def test_what_was_signed_and_could_not_be_kept_is_signed_again_the_very_same(grow: Grow, monkeypatch) -> None:
    grow(2)
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})
    with monkeypatch.context() as patch:
        patch.setattr(sequencing, "keep_checkpoint", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            sequence_and_sign()
    signed = memory()["note"]

    sequence_and_sign()

    assert AuditCheckpoint.objects.get(size=3).note == signed


def test_the_signer_refuses_a_database_that_was_rewritten(grow: Grow, unprotected: None) -> None:
    grow(4)
    LogLeaf.objects.filter(log_index=1).update(entry_hash=b"x" * 32)
    whole = Frontier()
    whole.append([bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")])
    LogState.objects.update(frontier=whole.to_bytes())
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})

    with pytest.raises(LogRefused, match="do not follow from what was signed before"):
        sequence_and_sign()
    assert AuditCheckpoint.objects.count() == 1


def test_the_signer_refuses_a_database_that_was_rolled_back(grow: Grow, unprotected: None) -> None:
    grow(4)
    LogLeaf.objects.filter(log_index__gte=2).delete()
    AuditCheckpoint.objects.all().delete()
    whole = Frontier()
    whole.append([bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")])
    LogState.objects.update(size=2, frontier=whole.to_bytes())

    with pytest.raises(LogRefused, match="signed 4 leaves, and the database has 2"):
        sequence_and_sign()


def test_the_signer_without_its_memory_signs_nothing(grow: Grow) -> None:
    grow(1)
    Path(settings.LOG_SIGNER_FILE).unlink()
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})

    with pytest.raises(LogRefused, match="is missing"):
        sequence_and_sign()
    Path(settings.LOG_SIGNER_FILE).write_text('{"size": 1}')
    with pytest.raises(LogRefused, match="is not what a signer wrote"):
        sequence_and_sign()
    assert LogLeaf.objects.count() == 2


def test_the_signer_signs_for_one_log(grow: Grow, settings) -> None:
    grow(1)
    settings.ISSUER = "https://other.example"
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})

    with pytest.raises(LogRefused, match="signs for localhost:8000/log"):
        sequence_and_sign()


def test_every_key_signs_while_one_takes_the_place_of_another(grow: Grow, settings, monkeypatch) -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    both = [Ed25519PrivateKey.generate(), *keys.signing_keys()]
    monkeypatch.setattr(keys, "signing_keys", lambda: both)
    grow(1)

    note = AuditCheckpoint.objects.get().note
    assert [notes.is_signed_by(note, key) for key in keys.verifier_keys()] == [True, True]


# --- what runs it -----------------------------------------------------------------------------------------------------


def test_the_task_sequences_where_the_keys_are(db: None, settings) -> None:
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})
    own, settings.LOG_KEYS = settings.LOG_KEYS, []
    assert sequence_log() == 0

    settings.LOG_KEYS = own
    assert sequence_log() == 1


def test_the_command_sequences_once(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})

    call_command("sequence_log", "--once")

    assert capsys.readouterr().out == "1 entries entered the log, which has 1.\n"


def test_the_command_tells_the_other_processes_whose_log_it_is(settings, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("sequence_log", "--print-keys")
    printed, own = capsys.readouterr().out.strip(), keys.verifier_keys("b")

    settings.LOG_VERIFIER_KEYS, settings.LOG_KEYS = printed.split(","), []

    assert keys.verifier_keys("b") == own
    with pytest.raises(CommandError, match="LOG_KEYS is not set here"):
        call_command("sequence_log", "--print-keys")


# --- the mirror -------------------------------------------------------------------------------------------------------


def test_the_mirror_has_every_file_that_is_published(grow: Grow, settings, tmp_path: Path) -> None:
    settings.LOG_MIRROR = str(tmp_path)
    for count in (3, 300, 700):
        grow(count)

    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {
        "checkpoint", "checkpoints/3", "checkpoints/303", "checkpoints/1003",
        "tile/0/000.p/3", "tile/0/000", "tile/0/001.p/47", "tile/0/001", "tile/0/002", "tile/0/003.p/235",
        "tile/1/000.p/1", "tile/1/000.p/3",
        "tile/entries/000.p/3", "tile/entries/000", "tile/entries/001.p/47", "tile/entries/001",
        "tile/entries/002", "tile/entries/003.p/235",
    }  # fmt: skip
    assert (tmp_path / "tile/0/003.p/235").read_bytes() == tree.tile(0, 3, tile_width(0, 3, 1003))
    assert list(mirror.entries(1003)) == [bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")]


def test_nothing_is_published_that_the_mirror_does_not_take(grow: Grow, settings, tmp_path: Path) -> None:
    settings.LOG_MIRROR = str(tmp_path)
    grow(2)
    (tmp_path / "tile/0/000.p").mkdir(exist_ok=True)
    (tmp_path / "tile/0/000.p/3").write_bytes(b"another")
    audit.append(chain="person:a", kind="denied", actor="person", at=AT, facts={})

    with pytest.raises(RuntimeError, match="another"):
        sequence_and_sign()
    assert AuditCheckpoint.objects.get().size == 2
    (tmp_path / "tile/0/000.p/3").unlink()
    sequence_and_sign()
    assert AuditCheckpoint.objects.filter(size=3).exists()


@pytest.mark.parametrize(
    ("number", "width", "path"),
    [
        (0, 256, "tile/0/000"),
        (999, 1, "tile/0/999.p/1"),
        (1000, 256, "tile/0/x001/000"),
        (1234067, 255, "tile/0/x001/x234/067.p/255"),
    ],
)
def test_tiles_are_named_as_tlog_tiles_says(number: int, width: int, path: str) -> None:
    assert mirror.tile_path(0, number, width) == path


def test_the_memory_of_the_signer_is_read_by_nobody_else() -> None:
    assert signer.last_note() is None
