"""The hot read of a proof finds what the ORM finds."""

from typing import Any

import pytest
from django.db.models import Q

from common.clock import database_now
from consent.ledger.models import AuditEntry
from consent.log import proof_read, published
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent_bridge import notes
from tests.consent.log.conftest import Grow


def plainly(index: int) -> dict[str, Any] | None:
    """Three reads by the ORM: the leaf, where the log stands, and the first checkpoint that may prove it."""
    if not LogLeaf.objects.filter(pk=index).exists():
        return None
    state = LogState.objects.get(pk=1)
    cosigned = AuditCheckpoint.objects.filter(epoch=state.epoch, size__gt=index, cosigned_at__isnull=False)
    first = cosigned.order_by("size").first()
    if first is None:
        return None
    tree = {"epoch": state.epoch, "size": state.size, "frontier": bytes(state.frontier)}
    proof = {"proved_by": first.size, "note": first.note, "cosignatures": first.cosignatures}
    return {"log_index": index, **tree, **proof}


def by_hand(by: str, value: Any) -> dict[str, Any] | None:
    found = proof_read.find(by, value)
    return found and {**found, "frontier": bytes(found["frontier"])}


def by_hash(index: int) -> dict[str, Any] | None:
    return by_hand("entry_hash", bytes(LogLeaf.objects.get(pk=index).entry_hash))


@pytest.fixture
def grown(grow: Grow) -> list[AuditEntry]:
    """A log of 603 leaves under three checkpoints, whose newest waits for its witnesses."""
    grow(300)
    grow(1)
    entries = grow(302)
    AuditCheckpoint.objects.filter(size=603).update(cosigned_at=None)
    return entries


def test_every_leaf_is_found_by_whatever_names_it(grown: list[AuditEntry]) -> None:
    for index in (0, 1, 255, 299, 300, 301, 602, 603):
        expected = plainly(index)
        if index < len(grown):
            leaf = LogLeaf.objects.get(pk=index)
            assert by_hand("entry_hash", bytes(leaf.entry_hash)) == expected
            assert by_hand("entry", leaf.entry_id) == expected  # type: ignore[attr-defined]  # of the one-to-one field
        assert (expected is None) == (index >= 301)
    assert by_hand("entry_hash", b"x" * 32) is None

    AuditCheckpoint.objects.filter(size=603).update(cosigned_at=database_now())
    assert by_hash(602) == plainly(602)
    AuditCheckpoint.objects.filter(size=301).update(cosigned_at=None)
    assert [each and each["proved_by"] for each in map(plainly, (299, 300))] == [300, 603]
    assert by_hash(300) == plainly(300)


def test_checkpoints_of_another_epoch_prove_nothing(grown: list[AuditEntry], unprotected: None) -> None:
    LogState.objects.update(epoch="one")
    assert by_hash(3) is plainly(3) is None


def test_tiles_are_found_as_the_orm_finds_them(grown: list[AuditEntry]) -> None:
    for places in ([], [(0, 0)], [(0, 0), (0, 1), (0, 2), (1, 0)], [(3, 9)]):
        wanted = Q(pk=0)
        for level, number in places:
            wanted |= Q(level=level, number=number)
        plain = LogTile.objects.filter(wanted).values_list("level", "number", "hashes")
        found = [(row["level"], row["number"], bytes(row["hashes"])) for row in proof_read.tiles(places)]
        assert sorted(found) == sorted((level, number, bytes(hashes)) for level, number, hashes in plain)


def test_each_proof_holds(grown: list[AuditEntry]) -> None:
    keys = [notes.VerifierKey.parse(str(key)) for key in published.keys.verifier_keys()]
    for index in (0, 17, 255, 256, 299, 300):
        entry_hash = bytes(LogLeaf.objects.get(pk=index).entry_hash)
        proof = notes.read_proof(str(published.proof_of(entry_hash)), keys)
        proof.check(entry_hash)
        assert proof.index == index
