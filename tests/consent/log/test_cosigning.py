"""The log asks real witnesses, over HTTP, and says who did not cosign."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client

from common.clock import database_now
from consent.log import cosigning, keys, published
from consent.log.models import AuditCheckpoint
from consent.tasks import ask_log_witnesses
from consent_bridge import notes
from consent_bridge.witness import Witness, server_of
from tests.consent.log.conftest import Grow
from tests.fakes.serving import serving

Hire = Callable[..., Witness]


@pytest.fixture
def hire(settings: Any, tmp_path: Path) -> Iterator[Hire]:
    """Starts a witness of this log, and names it in LOG_WITNESSES."""
    settings.LOG_WITNESSES, settings.LOG_WITNESS_QUORUM = [], None
    cosigning._sizes.clear()
    running = ExitStack()

    def start(name: str, *, away: bool = False) -> Witness:
        logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
        witness = Witness(
            name=name, key=Ed25519PrivateKey.generate(), logs=logs, path=tmp_path / name.replace("/", "_")
        )
        server = server_of(witness, "127.0.0.1", 0)
        port = server.server_address[1]
        settings.LOG_WITNESSES = [*settings.LOG_WITNESSES, (str(witness.key), f"http://127.0.0.1:{port}")]
        if away:
            server.server_close()
            return witness
        running.enter_context(serving(server))
        return witness

    with running:
        yield start


def told() -> dict[str, Any]:
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
    assert told()["cosignatures_missing"] == []


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
    assert told()["cosignatures_missing"] == ["w2.example"]


def test_a_quorum_is_enough(grow: Grow, hire: Hire, settings: Any) -> None:
    hire("w1.example", away=True)
    present = hire("w2.example")
    settings.LOG_WITNESS_QUORUM = 1
    (entry,) = grow(1)
    assert published.proof_of_entry(entry.pk) is None
    assert Client().get(f"/log/proof/{entry.entry_hash}").status_code == 202

    assert ask_log_witnesses() == 1

    assert told()["cosignatures_missing"] == ["w1.example"]
    logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
    proof = notes.read_proof(str(published.proof_of_entry(entry.pk)), logs, [present.key])
    assert proof.checkpoint.cosignatures


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
