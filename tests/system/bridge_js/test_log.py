"""The client for Node at the real application's log: proofs of receipts and histories, forks, rollbacks, a new key."""

import json
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from common.clock import database_now
from consent.ledger import audit
from consent.ledger.models import AuditEntry, LogQueue
from consent.log import keys, restoring
from consent.log.sequencing import sequence_and_sign
from consent_bridge.client import Client
from consent_bridge.logs import LogEpochChanged
from consent_bridge.sealed import generate_connector_key
from tests.system.bridge.steps import CUISINE, ask
from tests.system.bridge.test_log import begin_another_log, log_size
from tests.system.bridge_js.node import run
from tests.system.bridge_js.test_bridge_js import HERE


class Reader:
    """A program in Node with a state file of its own; each look is a process of its own, too."""

    def __init__(self, memory, **environ):
        self.memory, self.environ = memory, environ

    def look(self, wish="follow", **more) -> Any:
        given = json.dumps({"wish": wish, "memory": str(self.memory), **more})
        answer = json.loads(run(HERE / "log_reader.mjs", QUESTION=given, **self.environ))
        return answer["found"] if "found" in answer else answer["refused"]


@pytest.fixture
def reader(package, service, api, tmp_path):
    return Reader(tmp_path / "state" / "logs.json", SERVICE=service, TOKEN=api.token)


@pytest.fixture
def approved(caller, owner, person):
    made_request = ask(caller, person, generate_connector_key())
    return owner.approve(owner.review(made_request.request_id), attributes=[CUISINE], invited=True)


def one_more():
    """An entry of somebody else, sequenced and signed."""
    audit.append(chain="person:else", kind="denied", actor="person", at=database_now(), facts={})
    sequence_and_sign()


def test_a_receipt_comes_with_its_proof_as_in_python(reader, caller, approved):
    assert reader.look("receipt", receiptId=approved.receipt_id) is None  # 202: it is not in the log yet
    sequence_and_sign()

    proven = reader.look("receipt", receiptId=approved.receipt_id)

    python = caller.receipt_with_proof(approved.receipt_id)
    assert (proven["claims"], proven["index"]) == (python.receipt.claims, python.index)
    assert proven["entry"]["entry_hash"] == python.entry.entry_hash
    assert proven["entry"]["facts"] == dict(python.entry.facts)
    assert (proven["log"]["size"], proven["log"]["fresh"], proven["log"]["cosigned_by"]) == (log_size(), None, [])


def test_both_clients_go_on_from_one_file(reader, service, api, approved):
    sequence_and_sign()
    reader.look()
    kept = json.loads(reader.memory.read_text())
    assert reader.memory.stat().st_mode & 0o777 == 0o600
    one_more()

    with Client(f"{service}/api/v1", api.token, log_memory=reader.memory) as python:
        assert python.follow_log().checkpoint.size == log_size()
    assert json.loads(reader.memory.read_text()).keys() == kept.keys()
    one_more()
    assert reader.look()["size"] == log_size()


def test_a_log_that_is_rewritten_shows_to_who_saw_it(reader, approved):
    sequence_and_sign()
    assert reader.look()["size"] == log_size()
    kept = reader.memory.read_text()

    begin_another_log()

    rewritten = ["Refused", "root", "the log was rewritten: it does not fit what was last seen of it"]
    assert reader.look() == rewritten
    assert reader.look("receipt", receiptId=approved.receipt_id) == rewritten
    assert reader.memory.read_text() == kept
    reader.memory.unlink()
    assert reader.look()["size"] == log_size()  # who sees it for the first time can only take it as it is


def test_a_persons_history_is_verified_against_the_log(reader, owner, approved):
    owner.revoke(approved.grant.grant_id)
    sequence_and_sign()
    body = owner.history()
    count = len(body["entries"])

    found = reader.look("history", history=body)

    assert (found["chain"], found["entries"], found["in_log"]) == (body["entries"][0]["chain"], count, count)
    assert found["log"]["size"] == log_size()
    assert reader.look("history", history=[body])["in_log"] == count
    for member, other in (("kind", "denied"), ("entry_hash", "A" * 43), ("facts", {"a": 1}), ("sequence", 7)):
        forged = json.loads(json.dumps(body))
        forged["entries"][0][member] = other
        assert reader.look("history", history=forged)[0] == "Refused", member
    without = {**body, "entries": body["entries"][1:]}
    assert reader.look("history", history=without)[1:] == ["sequence", "an entry is missing before number 2"]


def test_a_new_key_is_learned_from_the_known_one_and_from_nothing_else(reader, approved, monkeypatch, tmp_path):
    old, new = keys.signing_keys(), Ed25519PrivateKey.generate()
    sequence_and_sign()
    assert reader.look()["size"] == log_size()
    absent = Reader(tmp_path / "absent.json", **reader.environ)
    assert absent.look()["size"] == log_size()  # does not look while both sign

    monkeypatch.setattr(keys, "signing_keys", lambda: [new, *old])
    one_more()
    assert reader.look()["size"] == log_size()
    monkeypatch.setattr(keys, "signing_keys", lambda: [new])
    one_more()

    assert reader.look()["size"] == log_size()
    [kept] = json.loads(reader.memory.read_text()).values()
    assert (kept["keys"], len(kept["earlier"])) == ([str(key) for key in keys.verifier_keys()], 1)
    assert (
        reader.look("receipt", receiptId=approved.receipt_id)["log"]["size"] == log_size()
    )  # its proof is of the old key's time
    name, member, why = absent.look()
    assert (name, member) == ("LogKeyChanged", "signature")
    assert "none that this reader knows vouches for it" in why
    absent.memory.unlink()
    proven = absent.look("receipt", receiptId=approved.receipt_id)  # who comes later never knew the old key
    assert proven["log"]["size"] == log_size()


def test_a_log_without_a_checkpoint_proves_the_chain_alone(reader, owner, approved):
    name, _, why = reader.look()
    assert (name, "nothing has been published in the log yet" in why) == ("NothingPublished", True)
    body = owner.history()
    found = reader.look("history", history=body)
    assert (found["entries"], found["in_log"], found["late"], found["log"]) == (len(body["entries"]), 0, False, None)
    assert not reader.memory.exists()

    one_more_without_them()
    found = reader.look("history", history=body)
    assert (found["in_log"], found["late"], found["log"]["size"]) == (0, False, 1)


def test_a_log_that_began_anew_is_accepted_by_name(reader, service, api, approved):
    sequence_and_sign()
    assert reader.look()["size"] == log_size()
    restoring.begin_epoch("one")
    origin = keys.origin("one")

    name, member, why = reader.look()
    assert (name, member) == ("LogEpochChanged", "origin")
    assert f"begins anew as {origin}" in why
    assert reader.look("accept", origin="another")[1] == "origin"
    with Client(f"{service}/api/v1", api.token, log_memory=reader.memory) as python, pytest.raises(LogEpochChanged):
        python.follow_log()

    assert reader.look("accept", origin=origin)["size"] == log_size()
    sequence_and_sign()
    with Client(f"{service}/api/v1", api.token, log_memory=reader.memory) as python:
        assert python.receipt_with_proof(approved.receipt_id).size >= 3
    assert reader.look()["origin"] == origin


def one_more_without_them():
    """An entry of somebody else is sequenced and signed, and none of this history."""
    audit.append(chain="person:else", kind="denied", actor="person", at=database_now(), facts={})
    LogQueue.objects.exclude(entry__in=AuditEntry.objects.of("person:else")).delete()
    sequence_and_sign()


def test_keys_that_the_caller_named_are_the_only_ones(reader, service, approved):
    sequence_and_sign()
    own = requests.get(f"{service}/log/key", timeout=60).text.strip()
    name, _, _ = own.partition("+")
    other = keys.notes.log_key(name, Ed25519PrivateKey.generate().public_key())

    assert reader.look(trust={"keys": [own]})["size"] == log_size()
    assert reader.look(trust={"keys": [str(other)]})[0] in ("LogKeyChanged", "Refused")
    needed = {"keys": [own], "witnesses": [str(keys.notes.VerifierKey(name, 4, other.public))]}
    assert reader.look("receipt", receiptId=approved.receipt_id, trust=needed)[1] == "cosignatures"
