"""Receipts with their proofs, and the log as its readers follow it, from the real application."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import connection

from common.clock import database_now
from common.sql.triggers import lifted
from consent import shapes
from consent.ledger import audit
from consent.ledger.models import AuditEntry, LogQueue
from consent.log import keys, restoring
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.log.sequencing import sequence_and_sign, sequence_batch, sign_checkpoint
from consent.rules import RULES
from consent_bridge.aio import AsyncClient
from consent_bridge.client import Client
from consent_bridge.errors import Refused
from consent_bridge.sealed import generate_connector_key
from tests.contract.test_shapes import fits
from tests.system.bridge.steps import CUISINE, ask


@pytest.fixture
def approved(caller, owner, person):
    made_request = ask(caller, person, generate_connector_key())
    return owner.approve(owner.review(made_request.request_id), attributes=[CUISINE], invited=True)


def log_size() -> int:
    """How many entries the log has."""
    size: int = LogState.objects.get().size
    return size


def begin_another_log() -> None:
    """What somebody does who has database and log key: the same entries in another order, signed anew."""
    entries = list(AuditEntry.objects.order_by("-leaf__log_index"))
    with without_rules_of_the_log():
        for model in (LogLeaf, LogTile, AuditCheckpoint):
            model.objects.all()._raw_delete(connection.alias)
        LogState.objects.update(size=0, frontier=b"")
    Path(settings.LOG_SIGNER_FILE).unlink()
    for entry in entries:
        LogQueue.objects.create(entry=entry)
        sequence_batch()
    assert sign_checkpoint()


def without_rules_of_the_log() -> Any:
    names = ("consent_log_", "consent_audit_checkpoints")
    there = [rule for rule in RULES if rule.table.startswith(names) and rule.statements(connection.vendor)]
    return lifted(connection, there)


def test_receipt_comes_with_its_entry_and_proof(caller, api, approved):
    assert caller.receipt_with_proof(approved.receipt_id) is None  # 202: it is not in the log yet
    answer = api.get(f"/receipts/{approved.receipt_id}?proof=1")
    assert (answer.status_code, answer["Retry-After"]) == (202, "3")
    assert answer.json() == {"receipt_id": approved.receipt_id, "proof": None}
    fits(shapes.UnprovenReceipt, answer.content)

    sequence_and_sign()
    proven = caller.receipt_with_proof(approved.receipt_id)
    fits(shapes.Receipt, api.get(f"/receipts/{approved.receipt_id}?proof=1").content)

    assert proven.receipt.claims["audit"] == {
        "chain": proven.entry.chain, "sequence": proven.entry.sequence, "entry_hash": proven.entry.entry_hash,
    }  # fmt: skip
    assert (proven.entry.kind, proven.entry.facts["receipt_id"]) == ("approved", approved.receipt_id)
    assert proven.size == log_size()
    leaf = LogLeaf.objects.get(log_index=proven.index)
    assert bytes(leaf.entry_hash) == proven.entry.leaf


def test_the_other_client_does_the_same(caller, service, api, approved):
    sequence_and_sign()

    async def both():
        async with AsyncClient(f"{service}/api/v1", api.token) as client:
            return await client.receipt_with_proof(approved.receipt_id), await client.follow_log()

    proven, sight = asyncio.run(both())
    assert proven == caller.receipt_with_proof(approved.receipt_id)
    assert sight == caller.follow_log()
    assert sight.fresh is None


@pytest.mark.parametrize(
    "query", ["?proof=0", "?proof=", "?proof=1&proof=1", "?proofs=1"], ids=["no", "empty", "twice", "another name"]
)
def test_what_is_no_question_for_a_proof_is_refused(api, approved, query):
    assert api.get(f"/receipts/{approved.receipt_id}{query}").status_code == 400


def test_a_proof_verifies_without_a_network(cli, api, service, approved, tmp_path):
    sequence_and_sign()
    receipt = api.get(f"/receipts/{approved.receipt_id}?proof=1").content
    jwks = tmp_path / "jwks.json"
    jwks.write_bytes(requests.get(f"{service}/.well-known/consent-keys.json", timeout=60).content)
    key = requests.get(f"{service}/log/key", timeout=60).text.strip()
    command = ("verify-receipt", "--proof", "--jwks", jwks, "--log-key", key)

    printed = json.loads(cli(*command, stdin=receipt, CONSENT_BRIDGE_STATE=str(tmp_path)).stdout)
    assert (printed["claims"]["receipt_id"], printed["log"]["size"]) == (approved.receipt_id, log_size())
    for member, other in (("kind", "denied"), ("sequence", 9), ("facts", {}), ("entry_hash", "A" * 43)):
        body = json.loads(receipt)
        body["entry"][member] = other
        refused = cli(*command, stdin=json.dumps(body).encode(), CONSENT_BRIDGE_STATE=str(tmp_path / "new"))
        assert refused.returncode == 1, member
    without = json.loads(receipt)
    del without["proof"]
    assert cli(*command, stdin=json.dumps(without).encode(), CONSENT_BRIDGE_STATE=str(tmp_path)).returncode == 1


def test_a_log_that_is_rewritten_shows_to_who_saw_it(caller, service, api, owner, approved, tmp_path):
    sequence_and_sign()
    memory = tmp_path / "logs.json"
    with Client(f"{service}/api/v1", api.token, log_memory=memory) as before:
        assert before.follow_log().checkpoint.size == log_size()

    begin_another_log()

    with Client(f"{service}/api/v1", api.token, log_memory=memory) as later:
        with pytest.raises(Refused, match="the log was rewritten"):
            later.follow_log()
        with pytest.raises(Refused, match="the log was rewritten"):
            later.receipt_with_proof(approved.receipt_id)
    with Client(f"{service}/api/v1", api.token) as fresh:
        assert (
            fresh.follow_log().checkpoint.size == log_size()
        )  # who sees it for the first time can only take it as it is


def test_a_log_that_is_rolled_back_shows_to_who_saw_it(caller, owner, person, approved):
    sequence_and_sign()
    before = log_size()
    owner.revoke(approved.grant.grant_id)
    sequence_and_sign()
    assert caller.follow_log().checkpoint.size == log_size() > before

    with without_rules_of_the_log():
        AuditCheckpoint.objects.filter(size=log_size())._raw_delete(connection.alias)
    gone = f"{before} entries and had {log_size()} when it was last seen: it was rolled back"
    with pytest.raises(Refused, match=gone):
        caller.follow_log()


def test_a_log_that_began_anew_is_taken_by_somebodys_word(cli, owner, service, approved, tmp_path):
    """After a restore without a mirror: the command says what happened, and the new log goes on from there."""
    file = tmp_path / "history.json"
    file.write_text(json.dumps(owner.history()))
    environ = {"CONSENT_BASE_URL": f"{service}/api/v1", "CONSENT_BRIDGE_STATE": str(tmp_path / "state")}
    early = cli("verify-history", file, **environ)
    assert (early.returncode, json.loads(early.stdout)["log"]) == (1, None)
    assert b"as it was written, as far as it shows by itself: nothing has been published in the log yet" in early.stderr
    sequence_and_sign()
    assert cli("verify-history", file, **environ).returncode == 0
    restoring.begin_epoch("one")
    origin = keys.origin("one")

    assert f"begins anew as {origin}".encode() in cli("verify-history", file, **environ).stderr
    shown = json.loads(cli("accept-epoch", **environ).stdout)
    assert (shown["new"]["origin"], shown["new_begins_after_last_seen"], shown["accepted"]) == (origin, True, False)
    assert json.loads(cli("accept-epoch", "--yes", **environ).stdout)["accepted"] is True
    verified = json.loads(cli("verify-history", file, **environ).stdout)
    assert (verified["log"]["origin"], verified["in_log"]) == (origin, verified["entries"])


def test_a_receipt_of_an_earlier_key_verifies_online(cli, api, service, approved, tmp_path, monkeypatch):
    new = Ed25519PrivateKey.generate()
    sequence_and_sign()
    receipt, size = api.get(f"/receipts/{approved.receipt_id}?proof=1").content, log_size()
    first = str(keys.verifier_keys()[0])
    monkeypatch.setattr(keys, "signing_keys", lambda: [new])
    audit.append(chain="person:else", kind="denied", actor="person", at=database_now(), facts={})
    sequence_and_sign()
    now = str(keys.verifier_keys()[0])
    at = {"CONSENT_BASE_URL": f"{service}/api/v1", "CONSENT_BRIDGE_STATE": str(tmp_path / "state")}
    command = ("verify-receipt", "--proof", "--log-key", now)

    refused = cli(*command, stdin=receipt, **at)
    assert (refused.returncode, refused.stdout) == (1, b"")
    for message in (
        f"signed by the key {first.split('+')[1]} of",
        f"known are {now.split('+')[1]}",
        "--log-key",
        "online",
    ):
        assert message.encode() in refused.stderr
    assert json.loads(cli(*command, "--log-key", first, stdin=receipt, **at).stdout)["log"]["size"] == size
    assert json.loads(cli(*command, "--online", stdin=receipt, **at).stdout)["log"]["size"] == size


def test_a_persons_own_history_is_verified_against_the_log(cli, owner, service, approved, tmp_path):
    owner.revoke(approved.grant.grant_id)
    sequence_and_sign()
    body = owner.history()
    file = tmp_path / "history.json"
    file.write_text(json.dumps(body))
    environ = {"CONSENT_BASE_URL": f"{service}/api/v1", "CONSENT_BRIDGE_STATE": str(tmp_path / "state")}

    printed = json.loads(cli("verify-history", file, **environ).stdout)
    assert (printed["entries"], printed["in_log"]) == (len(body["entries"]), len(body["entries"]))
    assert printed["log"]["freshness"] == "not proven: no witness is known"

    body["entries"][0]["kind"] = "denied"
    file.write_text(json.dumps(body))
    refused = cli("verify-history", file, **environ)
    assert (refused.returncode, b"entry 1: the entry is not what was written" in refused.stderr) == (1, True)
    assert os.stat(tmp_path / "state" / "logs.json").st_mode & 0o777 == 0o600
