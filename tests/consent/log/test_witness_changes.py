"""Other witnesses than before are entered in the log, and proved to those who know the former ones."""

import base64
import time
from typing import Any

import pytest
from django.test import Client

from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.log import keys, witness_changes
from consent.log.sequencing import sequence_and_sign
from consent.tasks import ask_log_witnesses
from consent_bridge import notes
from tests.consent.log.conftest import Grow, Hire


def listed_changes() -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = Client().get("/log/witnesses").json()["changes"]
    return changes


def test_nothing_is_entered_where_nobody_watches(grow: Grow, hire: Hire) -> None:
    assert not witness_changes.record()
    assert listed_changes() == []


def test_witnesses_are_entered_once_for_each_change(grow: Grow, hire: Hire, settings: Any) -> None:
    first = hire("w1.example")
    assert witness_changes.record()
    assert not witness_changes.record()
    hire("w2.example")
    settings.LOG_WITNESS_QUORUM = 1
    assert witness_changes.record()
    settings.LOG_WITNESSES, settings.LOG_WITNESS_QUORUM = [], None
    assert witness_changes.record()

    entries = AuditEntry.objects.of(audit.DEPLOYMENT).order_by("sequence")
    both = sorted([str(first.key), *(text for text in entries[1].facts["witnesses"] if text != str(first.key))])
    assert [entry.facts for entry in entries] == [
        {"witnesses": [str(first.key)], "quorum": 1},
        {"witnesses": both, "quorum": 1},
        {"witnesses": [], "quorum": 0},
    ]


def test_the_same_witnesses_in_another_order_are_no_change(grow: Grow, hire: Hire, settings: Any) -> None:
    for name in ("w1.example", "w2.example"):
        hire(name)
    assert witness_changes.record()
    settings.LOG_WITNESSES = settings.LOG_WITNESSES[::-1]

    assert not witness_changes.record()
    assert AuditEntry.objects.of(audit.DEPLOYMENT).count() == 1


def test_an_answer_is_searched_for_once_in_a_while(grow: Grow, hire: Hire, monkeypatch: pytest.MonkeyPatch) -> None:
    hire("w1.example")
    witness_changes.record()
    searched: list[int] = []
    proof = witness_changes._proof

    def counted(*given: Any) -> str | None:
        searched.append(1)
        return proof(*given)

    monkeypatch.setattr(witness_changes, "_proof", counted)
    first = [listed_changes() for _ in range(3)]
    assert (len(searched), first) == (1, [first[0]] * 3)
    sequence_and_sign()  # another checkpoint is another answer
    assert listed_changes()[0]["proof"] is not None
    later = time.time() + witness_changes.KEPT_SECONDS + 1
    monkeypatch.setattr("common.cache.time.time", lambda: later)
    listed_changes()
    assert len(searched) == 3


def test_a_change_is_proved_once_those_before_it_cosigned_it(grow: Grow, hire: Hire, settings: Any) -> None:
    old = hire("w1.example")
    witness_changes.record()
    sequence_and_sign()
    (first,) = listed_changes()
    assert first["proof"] is not None  # before it there was nobody who had to cosign

    former = settings.LOG_WITNESSES[0]
    settings.LOG_WITNESSES = []
    hire("w2.example")
    witness_changes.record()
    sequence_and_sign()
    assert ask_log_witnesses() == 1
    assert listed_changes()[1]["proof"] is None
    settings.LOG_WITNESSES = [(f"-{former[0]}", former[1]), *settings.LOG_WITNESSES]
    assert ask_log_witnesses() == 1

    _, second = listed_changes()
    logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
    proof = notes.read_proof(second["proof"], logs, [old.key])
    assert [each.witness for each in proof.checkpoint.cosignatures] == ["w1.example"]
    proof.check(base64.urlsafe_b64decode(second["entry"]["entry_hash"] + "="))
