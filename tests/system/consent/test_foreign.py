"""Proofs made here hold for implementations that are not the server's: sigstore's, and the browser's own."""

import base64
import json
import subprocess

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client

from consent.log import keys, published
from consent.log.models import AuditCheckpoint
from tests.consent.log.conftest import Grow
from tests.system.bridge_js.node import ROOT, install, node


@pytest.fixture(scope="session")
def packages() -> None:
    install(ROOT / "tests" / "node")


def test_sigstore_and_the_browser_verify_every_proof(grow: Grow, packages: None) -> None:
    for count in (1, 2, 4, 250, 1, 40):
        entries = grow(count)
    notes = [checkpoint.note for checkpoint in AuditCheckpoint.objects.order_by("size")]
    sizes = list(AuditCheckpoint.objects.order_by("size").values_list("size", flat=True))
    spki = keys.signing_keys()[0].public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ask = Client()
    given = {
        "key": str(keys.verifier_keys()[0]),
        "spki": base64.b64encode(spki).decode(),
        "proofs": [
            {
                "entry": base64.urlsafe_b64decode(entry.entry_hash + "=").hex(),
                "text": published.proof_of_entry(entry.pk),
            }
            for entry in entries[::7] + entries[-3:]
        ],
        "consistency": [
            {
                "old": notes[at],
                "new": notes[later],
                "proof": ask.get(f"/log/consistency?old={sizes[at]}&new={sizes[later]}").content.decode(),
            }
            for at in range(len(sizes))
            for later in range(at, len(sizes))
        ],
    }
    done = subprocess.run(
        [node(), ROOT / "tests" / "system" / "consent" / "foreign.mjs"],
        input=json.dumps(given).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()

    body = json.loads(done.stdout)
    assert len(body["browser"]) == len(body["sigstore"]) == len(given["proofs"]) > 40
    assert set(body["browser"] + body["sigstore"] + body["consistent"]) == {True}
    assert set(body["other"] + body["inconsistent"]) == {False}
