"""What a checkpoint swears to can be checked, and what it saw cannot go unnoticed."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.db import connection

from common.sql.triggers import install_rules
from consent.ledger import audit, verifying
from consent.ledger.checkpoints import merkle_root, newest_checkpoint, sign_checkpoint, verify_checkpoints
from consent.ledger.models import AuditCheckpoint, AuditEntry, AuditFacts, AuditHead
from consent.rules import RULES

AT = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)


def grow(chain: str) -> None:
    audit.append(chain=chain, kind="denied", actor="person", at=AT, facts={})


@pytest.fixture
def unprotected(db: None) -> Iterator[None]:
    """The tamperer's database: no triggers."""
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    yield
    install_rules(connection, RULES)


def test_the_tree_is_that_of_rfc_6962() -> None:
    leaves = [bytes([number]) for number in range(3)]

    assert merkle_root([]).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert merkle_root([b""]).hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert merkle_root(leaves) != merkle_root(leaves[::-1])


def test_a_checkpoint_is_signed_when_something_moved(db: None) -> None:
    assert sign_checkpoint() is False
    grow("person:a")
    grow("person:b")
    assert sign_checkpoint() is True
    assert sign_checkpoint() is False
    grow("person:b")
    assert sign_checkpoint() is True

    newest = newest_checkpoint()
    assert newest is not None
    assert (newest["claims"]["head_count"], newest["claims"]["entries"]) == (2, 3)
    assert [kept.moved.count() for kept in AuditCheckpoint.objects.order_by("pk")] == [2, 1]
    assert list(verify_checkpoints()) == []


def test_a_cut_that_also_rewinds_the_head_is_found(unprotected: None) -> None:
    for _ in range(3):
        grow("person:a")
    sign_checkpoint()
    AuditFacts.objects.filter(entry__sequence=3).delete()
    AuditEntry.objects.filter(sequence=3).delete()
    second = AuditEntry.objects.get(sequence=2)
    AuditHead.objects.update(sequence=2, entry_hash=second.entry_hash)

    assert list(verifying.verify()) == []
    assert [(flaw.chain, flaw.sequence) for flaw in verify_checkpoints()] == [("person:a", 3)]


def test_a_checkpoint_that_was_edited_is_found(unprotected: None) -> None:
    grow("person:a")
    sign_checkpoint()
    AuditCheckpoint.objects.update(root="A" * 43)

    assert [flaw.reason for flaw in verify_checkpoints()] == ["its signature does not hold"]
