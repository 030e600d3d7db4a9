"""The adapter of `consent_bridge`: what it does with each case of the suite."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

from consent_bridge import derived, logs, merkle, notes, opening, proofs, sealed, webhooks
from consent_bridge.approvals import KeyPins
from consent_bridge.errors import BridgeError
from consent_bridge.results import Envelope, MadeRequest, as_json, build

Given = dict[str, Any]


def open_export(given: Given) -> Any:
    header = sealed.ExportHeader(**given["expected"])
    return sealed.open_export(given["jwe"], given["key"], header).as_json()


def open_envelope(given: Given) -> Any:
    request, known = build(MadeRequest, given["asked"]), given.get("known_owner_key")
    pins = KeyPins({f"{sealed.origin_of(request.issuer)} {request.user_id}": {"key": known}} if known else {})
    with mock.patch("time.time", return_value=given["now"]):
        found = opening.open_envelope(build(Envelope, given["envelope"]), request, given["key"], pins=pins)
    names = ("scope", "approved_attributes", "data", "sources", "sealed_at", "derived")
    return sealed.ExportContent(**{name: getattr(found, name) for name in names}).as_json()


def verify_webhook(given: Given) -> Any:
    found = webhooks.verify(given["body"], given["headers"], given["secret"], clock=lambda: given["now"])
    data = as_json(found.status or found.processing or found.connection)
    return {"webhook_id": found.webhook_id, "type": found.type, "timestamp": found.timestamp, "data": data}


def _trust(given: Given) -> logs.Trust:
    keys, witnesses = (tuple(map(notes.VerifierKey.parse, given.get(name, ()))) for name in ("keys", "witnesses"))
    return logs.Trust(keys, witnesses, given.get("quorum"))


def _place(checkpoint: notes.Checkpoint) -> dict[str, Any]:
    return {"origin": checkpoint.origin, "size": checkpoint.size, "root": notes.encode(checkpoint.root)}


def read_checkpoint(given: Given) -> Any:
    trust = _trust(given)
    found = notes.read_checkpoint(given["note"], trust.keys, trust.witnesses)
    trust.require(found)
    return {**_place(found), "cosigned_by": [cosignature.witness for cosignature in found.cosignatures]}


def check_proof(given: Given) -> Any:
    found = notes.read_proof(given["proof"], _trust(given).keys)
    found.check(base64.b64decode(given["leaf"]))
    return {"index": found.index, **_place(found.checkpoint)}


def check_consistency(given: Given) -> Any:
    (old, old_root), (new, new_root) = (
        (tree["size"], base64.b64decode(tree["root"])) for tree in (given["old"], given["new"])
    )
    return merkle.is_consistent(old, old_root, new, new_root, notes.read_hashes(given["hashes"]))


def prove_receipt(given: Given) -> Any:
    found = logs.check_receipt(given["claims"], given, logs.Memory(_trust(given), fixed=True))
    return {"index": found.proof.index, **_place(found.proof.checkpoint), "entry_hash": found.entry.entry_hash}


OPERATIONS: dict[str, Callable[[Given], Any]] = {
    "open_export": open_export,
    "open_envelope": open_envelope,
    "request_digest": lambda given: sealed.request_digest(given["request"]),
    "check_connector_key": lambda given: sealed.check_connector_key(given["key"]),
    "public_half": lambda given: sealed.public_half(given["key"]),
    "thumbprint": lambda given: sealed.thumbprint(given["key"]),
    "verify_receipt": lambda given: proofs.verify_receipt(
        given["jws"], proofs.read_keys(given["jwks"]), given.get("expected")
    ),
    "verify_webhook": verify_webhook,
    "read_checkpoint": read_checkpoint,
    "check_proof": check_proof,
    "check_consistency": check_consistency,
    "prove_receipt": prove_receipt,
    "derive": lambda given: derived.answer(given["rule"], given.get("value"), given["at"]),
    "open_segment": lambda given: sealed.open_segment(
        given["jwe"], bytes.fromhex(given["vault_key"]), sealed.SegmentHeader(**given["expected"])
    ),
    "unwrap": lambda given: sealed.unwrap(
        given["jwe"], given["kind"], given["secret"], user_id=given["user_id"], key_id=given["key_id"]
    ).secret.hex(),
}


def reply(call: dict[str, Any]) -> dict[str, Any]:
    operation = OPERATIONS.get(call["operation"])
    if operation is None:
        return {"unsupported": True}
    try:
        return {"answer": operation(call["input"])}
    except BridgeError as error:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
        return {"refused": kind, "member": getattr(error, "member", None)}


def main() -> None:
    """Reply to each line of standard input with one of standard output."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(reply(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
