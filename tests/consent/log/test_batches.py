"""What the worker ends in batches enters the log and is proved exactly as what is ended one by one."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from common.clock import database_now
from consent.decisions import expiry
from consent.exports.read_batches import chain_pending_reads
from consent.ledger.models import AuditEntry, AuditHead, AuditPending, LogQueue, Receipt
from consent.ledger.pending import write_pending_entries
from consent.log import keys
from consent.log.published import proof_for_app
from consent.log.sequencing import sequence_and_sign
from consent_bridge.logs import Memory, Trust, check_receipt, read_keys
from tests.consent.broken_audit import audit_away
from tests.consent.bulk import overdue, read_often
from tests.consent.verification.world import World, make_world
from tests.factories import AppFactory

Work = Callable[[], object]


def claims(jws: str) -> dict[str, Any]:
    payload = jws.split(".")[1]
    decoded: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return decoded


def memory() -> Memory:
    return Memory(Trust(read_keys("\n".join(map(str, keys.verifier_keys())))))


def proven(receipt: Receipt) -> int:
    """The leaf that the app's copy is proved by, checked as the app's client checks it."""
    own = claims(receipt.app_jws)
    proof = proof_for_app(app_id=own["pii_controller"]["app_id"], claims=own)
    assert proof is not None, receipt.receipt_id
    return check_receipt(own, proof, memory()).proof.index


@pytest.fixture
def over(db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    """A history by the program's own actions, of which three grants and a request are over by now."""
    made = make_world()
    sequence_and_sign()
    later = database_now() + timedelta(days=400)
    monkeypatch.setattr(expiry, "database_now", lambda: later)
    return made


def test_a_batch_of_ends_is_sequenced_proved_and_verified(over: World) -> None:
    before = set(Receipt.objects.values_list("pk", flat=True))

    assert expiry.write_down_expiry() == 4

    assert LogQueue.objects.count() == 8  # of each end the person's entry and the app's
    assert sequence_and_sign() == 8
    ends = Receipt.objects.exclude(pk__in=before)
    assert len({proven(receipt) for receipt in ends}) == 4
    assert AuditEntry.objects.filter(leaf=None).count() == LogQueue.objects.count() == 0
    assert all_hold() == f"{AuditHead.objects.count()} chains, {AuditEntry.objects.count()} entries: all hold.\n"


def test_ends_that_wait_for_the_audit_are_proved_once_it_is_back(over: World) -> None:
    before = set(Receipt.objects.values_list("pk", flat=True))
    with audit_away():
        assert expiry.write_down_expiry() == 4
    assert (LogQueue.objects.count(), AuditPending.objects.count()) == (0, 8)

    assert write_pending_entries() == 8
    assert sequence_and_sign() == 8
    assert len({proven(receipt) for receipt in Receipt.objects.exclude(pk__in=before)}) == 4
    assert all_hold().endswith("all hold.\n")


def all_hold() -> str:
    output = StringIO()
    call_command("verify_audit", stdout=output, stderr=StringIO())
    return output.getvalue()


def write_ends() -> None:
    overdue(5, [AppFactory(), AppFactory()])
    expiry.write_down_expiry()


def write_reads() -> None:
    read_often(4, 3)
    chain_pending_reads()


@pytest.mark.parametrize("work", [write_ends, write_reads])
def test_every_entry_of_a_batch_is_queued_with_it(db: None, work: Work) -> None:
    work()

    written = set(AuditEntry.objects.values_list("pk", flat=True))
    assert written
    assert set(LogQueue.objects.values_list("pk", flat=True)) == written
    assert sequence_and_sign() == len(written)
