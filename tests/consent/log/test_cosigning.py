"""The log asks real witnesses, over HTTP, and says who did not cosign."""

from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client
from django.utils import timezone

from common.clock import database_now
from consent.log import cosigning, keys, published
from consent.log.models import AuditCheckpoint
from consent.tasks import ask_log_witnesses
from consent_bridge import notes
from tests.consent.log.conftest import Grow, Hire
from tests.fakes.witness import Witness


def checkpoint_json() -> dict[str, Any]:
    body: dict[str, Any] = Client().get("/.well-known/consent-checkpoint.json").json()
    return body


def served(witnesses: list[Witness]) -> notes.Checkpoint:
    logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
    note = Client().get("/log/checkpoint").content.decode()
    return notes.read_checkpoint(note, logs, [witness.key for witness in witnesses])


def test_every_witness_cosigns_the_newest_checkpoint(grow: Grow, hire: Hire) -> None:
    witnesses = [hire("w1.example"), hire("w2.example/w")]
    for count in (3, 1, 300):
        grow(count)
        assert ask_log_witnesses() == 2
    assert ask_log_witnesses() == 0

    read = served(witnesses)
    assert read.size == 304
    assert [cosignature.witness for cosignature in read.cosignatures] == ["w1.example", "w2.example/w"]
    assert checkpoint_json()["cosignatures_missing"] == []


def test_a_log_that_forgot_what_its_witness_saw_asks_again(grow: Grow, hire: Hire) -> None:
    hire("w1.example")
    grow(3)
    ask_log_witnesses()
    cosigning._sizes.clear()
    grow(4)

    assert ask_log_witnesses() == 0  # it is told the size
    assert ask_log_witnesses() == 1


def test_a_checkpoint_waits_for_its_witnesses_and_is_then_published_without_them(
    grow: Grow, hire: Hire, unprotected: None
) -> None:
    present = hire("w1.example")
    grow(2)
    ask_log_witnesses()
    hire("w2.example", away=True)
    grow(3)
    assert ask_log_witnesses() == 1
    assert served([present]).size == 2

    AuditCheckpoint.objects.filter(size=5).update(at=database_now() - timedelta(seconds=11))
    assert served([present]).size == 5
    assert checkpoint_json()["cosignatures_missing"] == ["w2.example"]


def test_a_quorum_is_enough(grow: Grow, hire: Hire, settings: Any) -> None:
    hire("w1.example", away=True)
    present = hire("w2.example")
    settings.LOG_WITNESS_QUORUM = 1
    (entry,) = grow(1)
    assert published.proof_of_entry(entry.pk) is None
    assert Client().get(f"/log/proof/{entry.entry_hash}").status_code == 202

    assert ask_log_witnesses() == 1

    assert checkpoint_json()["cosignatures_missing"] == ["w1.example"]
    logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
    proof = notes.read_proof(str(published.proof_of_entry(entry.pk)), logs, [present.key])
    assert proof.checkpoint.cosignatures


def test_a_witness_that_names_no_size_keeps_nobody_else_from_cosigning(
    grow: Grow, hire: Hire, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd, _ = hire("w1.example"), hire("w2.example")
    monkeypatch.setattr(odd, "add_checkpoint", lambda body: (409, "9" * 5000))
    grow(2)

    assert ask_log_witnesses() == 1


def test_a_witness_that_lies_is_not_believed(grow: Grow, hire: Hire, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = hire("w1.example")
    grow(2)
    other = Ed25519PrivateKey.generate()
    monkeypatch.setattr(witness, "_private", other)

    assert ask_log_witnesses() == 0
    assert AuditCheckpoint.objects.get().cosignatures == ""


def test_a_witness_that_saw_more_than_there_is_alarms(
    grow: Grow, hire: Hire, caplog: pytest.LogCaptureFixture, unprotected: None
) -> None:
    hire("w1.example")
    grow(2)
    grow(3)
    ask_log_witnesses()
    AuditCheckpoint.objects.filter(size=5).delete()
    cosigning._sizes.clear()
    assert ask_log_witnesses() == 0

    assert "cosigned 5 leaves, and the log has 2" in caplog.text


def test_a_cosignature_is_renewed_before_readers_take_it_for_old(
    grow: Grow, hire: Hire, unprotected: None, time_machine: Any
) -> None:
    witness = hire("w1.example")
    grow(2)
    ask_log_witnesses()
    (first,) = served([witness]).cosignatures
    assert published.is_confirmed()
    assert not cosigning.is_due()
    before = database_now() - timedelta(hours=13)
    AuditCheckpoint.objects.update(cosigned_at=before, at=before)
    time_machine.move_to(timezone.now() + timedelta(seconds=5))

    assert cosigning.is_due()
    assert ask_log_witnesses() == 1

    (renewed,) = served([witness]).cosignatures
    assert renewed.at > first.at
    assert not cosigning.is_due()


def test_a_log_without_witnesses_is_confirmed_by_nobody(grow: Grow, hire: Hire) -> None:
    grow(2)

    assert not published.is_confirmed()
    assert not cosigning.is_due()


def test_who_is_leaving_is_asked_still_and_counts_no_more(grow: Grow, hire: Hire, settings: Any) -> None:
    first, second = hire("w1.example"), hire("w2.example")
    (old, old_url), new = settings.LOG_WITNESSES
    settings.LOG_WITNESSES = [(f"-{old}", "http://127.0.0.1:9"), new]
    grow(2)

    assert ask_log_witnesses() == 1
    assert AuditCheckpoint.objects.get().cosigned_at is not None
    assert cosigning.is_due()
    settings.LOG_WITNESSES = [(f"-{old}", old_url), new]
    assert ask_log_witnesses() == 1
    assert not cosigning.is_due()

    assert [each.witness for each in served([first, second]).cosignatures] == ["w1.example", "w2.example"]
    assert checkpoint_json()["cosignatures_missing"] == []
