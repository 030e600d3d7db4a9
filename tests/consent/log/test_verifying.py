"""What somebody did to the log with the database's own password is found, and named by its log index."""

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.clock import database_now
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditFacts, LogQueue
from consent.ledger.verifying import Broken
from consent.log import verifying
from consent.log.merkle import Frontier
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.sequencing import sequence_batch, sign_checkpoint
from consent.log.verifying import LogPosition, verify_log_in_parts
from tests.chains import verify_log
from tests.consent.log.conftest import AT, Grow


def found() -> list[tuple[str, int, str]]:
    return [(flaw.chain, flaw.sequence, flaw.reason) for flaw in verify_log()]


def build_again() -> None:
    """The state as the leaves give it."""
    frontier = Frontier()
    frontier.append([bytes(leaf.entry_hash) for leaf in LogLeaf.objects.order_by("log_index")])
    LogState.objects.update(size=frontier.size, frontier=frontier.to_bytes())


def rewrite_leaf() -> None:
    LogLeaf.objects.filter(log_index=3).update(entry_hash=b"x" * 32)


def rewrite_leaf_and_state() -> None:
    rewrite_leaf()
    build_again()


def delete_entry() -> None:
    entry = AuditEntry.objects.get(leaf__log_index=3)
    AuditFacts.objects.filter(entry=entry).delete()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM consent_audit WHERE id = %s", [entry.pk])


def rehash_entry() -> None:
    AuditEntry.objects.filter(leaf__log_index=3).update(entry_hash="B" * 42 + "A")


def swap_entries() -> None:
    one, other = LogLeaf.objects.get(log_index=3), LogLeaf.objects.get(log_index=4)
    LogLeaf.objects.filter(log_index=3).update(entry=None)
    LogLeaf.objects.filter(log_index=4).update(entry_id=one.entry_id)
    LogLeaf.objects.filter(log_index=3).update(entry_id=other.entry_id)


def rewrite_tile() -> None:
    LogTile.objects.filter(level=0, number=0).update(hashes=b"x" * 8192)


def delete_tile() -> None:
    LogTile.objects.filter(level=0, number=0).delete()


def forge_note() -> None:
    newest = AuditCheckpoint.objects.get(size=300)
    AuditCheckpoint.objects.filter(size=300).update(note=newest.note[:-10] + "AAAAAAA==\n")


def forge_root() -> None:
    AuditCheckpoint.objects.filter(size=300).update(root="A" * 43)


def swap_notes() -> None:
    other = AuditCheckpoint.objects.get(size=200)
    AuditCheckpoint.objects.filter(size=300).update(note=other.note, root=other.root)


def add_checkpoint() -> None:
    newest = AuditCheckpoint.objects.get(size=300)
    AuditCheckpoint.objects.create(number=3, size=400, root=newest.root, note=newest.note, at=newest.at)


def delete_newest_checkpoint() -> None:
    AuditCheckpoint.objects.filter(size=300).delete()


def delete_older_checkpoint() -> None:
    AuditCheckpoint.objects.filter(size=200).delete()


def delete_every_checkpoint() -> None:
    AuditCheckpoint.objects.all().delete()


def delete_every_checkpoint_and_their_count() -> None:
    AuditCheckpoint.objects.all().delete()
    LogState.objects.update(signed=0)


# what is not among the manipulations of tests/consent/verification/of_log.py
TAMPERED: list[tuple[Callable[[], None], int, str]] = [
    (delete_entry, 3, "the entry of this leaf is gone"),
    (rehash_entry, 3, "is not the one that entered the log"),
    (swap_entries, 3, "is not the one that entered the log"),
    (rewrite_tile, 0, "the tile 0 of level 0 is missing or is not"),
    (delete_tile, 0, "the tile 0 of level 0 is missing or is not"),
    (forge_note, 300, "the signature of the checkpoint"),
    (forge_root, 300, "another root than it signed"),
    (swap_notes, 300, "not over the leaves that are there"),
    (add_checkpoint, 400, "signed over more leaves than there are"),
    (add_checkpoint, 300, "there is a checkpoint 3, and fewer were signed"),
    (delete_newest_checkpoint, 300, "the checkpoint 2 of 2 that were signed is gone"),
    (delete_older_checkpoint, 300, "the checkpoint 1 of 2 that were signed is gone"),
    (delete_every_checkpoint, 300, "the checkpoint 1 of 2 that were signed is gone"),
    (delete_every_checkpoint_and_their_count, 300, "the signer signed 300 leaves, and no checkpoint is kept"),
]


@pytest.mark.parametrize(("tamper", "index", "reason"), TAMPERED, ids=[row[0].__name__ for row in TAMPERED])
def test_what_was_done_to_the_log_is_found(
    grow: Grow, unprotected: None, tamper: Callable[[], None], index: int, reason: str
) -> None:
    grow(200)
    grow(100, chain="app:x")
    assert found() == []

    tamper()

    assert any((chain, at) == ("log", index) and reason in message for chain, at, message in found()), found()


def test_entries_that_never_entered_are_named_after_ten_minutes(grow: Grow, unprotected: None) -> None:
    grow(1)
    link = audit.append(chain="person:b", kind="denied", actor="person", at=AT, facts={})
    assert found() == []

    LogQueue.objects.update(at=database_now() - timedelta(minutes=11))
    assert found() == [(link.chain, 1, "it is of 2026-11-20T10:00:00Z and has not entered the log")]
    LogQueue.objects.all().delete()
    assert len(found()) == 1


def test_a_log_that_nobody_signs_any_more_is_a_finding(grow: Grow, unprotected: None) -> None:
    late = [("log", 2, "no checkpoint was signed over the newest leaves for more than ten minutes")]
    grow(1)
    audit.append(chain="person:a", kind="denied", actor="person", at=database_now(), facts={})
    sequence_batch()
    assert found() == []

    LogState.objects.update(at=database_now() - timedelta(minutes=11))
    assert found() == late


def test_a_signer_that_stopped_is_found_though_entries_keep_coming(grow: Grow, unprotected: None) -> None:
    grow(1)
    for minutes in (11, 1):
        at = database_now() - timedelta(minutes=minutes)
        audit.append(chain="person:a", kind="denied", actor="person", at=at, facts={})
        sequence_batch()

    assert found() == []  # it signed a moment ago, and the entry of before that came late
    AuditCheckpoint.objects.update(at=database_now() - timedelta(minutes=12))
    assert found() == [("log", 3, "no checkpoint was signed over the newest leaves for more than ten minutes")]
    sign_checkpoint()
    assert found() == []


def test_without_the_signer_beside_it_the_log_is_verified_all_the_same(grow: Grow) -> None:
    grow(3)
    Path(settings.LOG_SIGNER_FILE).unlink()

    assert found() == []


@pytest.mark.parametrize("part", [7, 90, 256, 1000])
def test_where_a_part_ends_changes_nothing(
    grow: Grow, unprotected: None, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Each part by a pass of its own, which knows no more than JSON carries."""
    monkeypatch.setattr(verifying, "_PART", part)
    grow(200)
    grow(100, chain="app:x")

    assert [flaw for _, found in in_passes() for flaw in found] == []
    rewrite_leaf_and_state()
    AuditEntry.objects.filter(leaf__log_index=250).update(entry_hash="B" * 42 + "A")
    found = [flaw for _, part_found in in_passes() for flaw in part_found]
    assert [flaw.sequence for flaw in found] == [
        3,
        200,
        0,
    ]  # the leaf, the checkpoint over it, its tile once it is full


def in_passes() -> Iterator[tuple[int, list[Broken]]]:
    position = LogPosition()
    while True:
        part = next(iter(verify_log_in_parts(position)))
        is_last = position.size == LogState.objects.get().size
        yield position.size, part
        position = LogPosition(**json.loads(json.dumps(asdict(position))))
        if is_last:
            yield position.size, list(verify_log(position))
            return


def test_a_pass_goes_on_with_the_edge_that_it_built_itself(
    grow: Grow, unprotected: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies before it is not read again, and the database's word about that counts for nothing."""
    monkeypatch.setattr(verifying, "_PART", 100)
    grow(300)
    position = LogPosition()
    parts = verify_log_in_parts(position)
    assert [next(parts), next(parts)] == [[], []]
    assert position.size == 200
    rewrite_leaf_and_state()

    assert [flaw.sequence for flaw in verify_log(position)] == [300]


def test_a_pass_over_another_tree_begins_anew(grow: Grow) -> None:
    grow(20)
    position = LogPosition(epoch="older", size=10, frontier="AAAA")

    assert list(verify_log(position)) == []
    assert (position.epoch, position.size) == ("", 20)


def test_no_table_of_the_log_is_read_at_once(grow: Grow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cursors on the server, what has no limit lies in memory whole."""
    monkeypatch.setattr(verifying, "_PART", 90)
    grow(200)
    grow(100)

    with CaptureQueriesContext(connection) as ran:
        assert found() == []

    tables = ("consent_log_leaves", "consent_log_tiles", "consent_audit_checkpoints")
    read = [each["sql"] for each in ran if any(f'FROM "{table}"' in each["sql"] for table in tables)]
    assert len([sql for sql in read if 'FROM "consent_log_leaves"' in sql]) == 4
    assert [sql for sql in read if "LIMIT" not in sql] == []


def test_leaves_hold_what_they_were_made_of_after_the_facts_were_erased(grow: Grow, unprotected: None) -> None:
    grow(5)
    AuditFacts.objects.all().delete()

    assert found() == []
    assert base64.urlsafe_b64encode(bytes(LogLeaf.objects.get(log_index=0).entry_hash)).decode().rstrip("=")
