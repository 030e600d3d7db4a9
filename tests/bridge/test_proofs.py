"""Receipts and checkpoints: verified by their signature alone, refused with the reason."""

import json

import pytest

from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.proofs import read_keys, verify_receipt
from tests.bridge.fake_service import Reply
from tests.bridge.signed_receipts import CLAIMS, OTHER_KEY, SIGNING_KEY, jwks, signed

KEYS = read_keys(jwks())


def test_receipt_that_is_too_long_is_refused():
    with pytest.raises(Refused, match="is longer than"):
        verify_receipt("x" * 300_000, KEYS)


@pytest.mark.parametrize(
    "key_set",
    [
        None,
        {},
        {"keys": []},
        {"keys": [7]},
        {"keys": [{"kty": "EC", "crv": "P-256"}]},
        {"keys": [{**jwks()["keys"][0], "x": "AAAA"}]},
        {"keys": [{**jwks()["keys"][0], "kid": 7}]},
        {"keys": [{**jwks()["keys"][0], "use": "enc"}]},
        {"keys": [SIGNING_KEY.as_dict(private=True)]},
        {"keys": jwks()["keys"] * 2},
        {"keys": jwks()["keys"] * 101},
    ],
)
def test_key_set_that_cannot_be_used_is_refused(key_set):
    with pytest.raises(KeyRefused if key_set != {"keys": [{**jwks()["keys"][0], "x": "AAAA"}]} else Refused):
        read_keys(key_set)


def test_keys_of_other_kinds_are_passed_over():
    assert read_keys({"keys": [{"kty": "RSA", "n": "AQ", "e": "AQAB"}, *jwks()["keys"]]}) == KEYS


# -- the command line


@pytest.fixture
def keys_file(tmp_path):
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(jwks()))
    return str(path)


def test_command_verifies_without_a_network(cli, keys_file):
    done = cli("verify-receipt", "--jwks", keys_file, "--expect", "event.type=approved", stdin=signed().encode())

    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == CLAIMS


def test_command_takes_the_downloaded_file_as_it_is(cli, keys_file, tmp_path):
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({"receipt_id": "rct_a", "jws": signed(), "claims": CLAIMS}, ensure_ascii=False))
    forged = json.dumps({"jws": signed(), "claims": {**CLAIMS, "purpose": "Other"}}).encode()

    assert json.loads(cli("verify-receipt", str(path), "--jwks", keys_file).stdout) == CLAIMS
    refused = cli("verify-receipt", "--jwks", keys_file, stdin=forged)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"claims beside the signature" in refused.stderr


def test_command_fetches_the_keys_from_the_service(cli, fake):
    fake.on("GET", "/.well-known/consent-keys.json", Reply(jwks()))

    done = cli("verify-receipt", stdin=signed().encode(), CONSENT_BASE_URL=f"{fake.url}/api/v1")

    assert json.loads(done.stdout) == CLAIMS
    assert "authorization" not in fake.received[0].headers


@pytest.mark.parametrize(
    ("text", "expect", "reason"),
    [
        (signed(), "event.type=denied", b'member event.type is "approved", not "denied"'),
        (signed(), "iat=7", b"member iat is 1795169100"),
        (signed(), "event=approved", b"cannot be compared as text"),
        (signed(typ="JWT"), "iat=1795169100", b"typ"),
        (signed(alg="HS256"), "iat=1795169100", b"alg"),
        (signed(key=OTHER_KEY), "iat=1795169100", b"kid"),
        (signed(key=OTHER_KEY, kid=SIGNING_KEY.thumbprint()), "iat=1795169100", b"signature does not hold"),
        ("\u00e9", "iat=1795169100", b"not ASCII"),
    ],
)
def test_command_refuses_with_the_reason(cli, keys_file, text, expect, reason):
    done = cli("verify-receipt", "--jwks", keys_file, "--expect", expect, stdin=text.encode())

    assert (done.returncode, done.stdout) == (1, b"")
    assert reason in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_command_compares_what_is_no_text(cli, keys_file):
    expect = ["--expect", "retention.expires_at=null", "--expect", "retention.access_duration=86400"]

    assert cli("verify-receipt", "--jwks", keys_file, *expect, stdin=signed().encode()).returncode == 0


def test_command_without_keys_says_where_they_could_come_from(cli):
    done = cli("verify-receipt", stdin=signed().encode())

    assert done.returncode == 1
    assert b"--jwks FILE" in done.stderr


# -- the client


def test_client_verifies_what_it_fetches(fake, client):
    fake.on("GET", "/.well-known/consent-keys.json", Reply(jwks()))
    fake.on("GET", "/api/v1/receipts/rct_a", Reply({"receipt_id": "rct_a", "jws": signed(), "claims": {"forged": 1}}))
    fake.on("GET", "/api/v1/receipts/rct_b", Reply({"receipt_id": "rct_b", "jws": signed(), "claims": CLAIMS}))

    assert client.receipt("rct_a").claims == CLAIMS
    with pytest.raises(Refused, match="member receipt_id"):
        client.receipt("rct_b")
    assert len(fake.calls("/.well-known/consent-keys.json")) == 1
    assert all("authorization" not in call.headers for call in fake.received if "well-known" in call.path)


def test_client_fetches_the_keys_again_after_a_rotation(fake, client):
    fake.on("GET", "/.well-known/consent-keys.json", Reply(jwks()), Reply(jwks(OTHER_KEY, SIGNING_KEY)))
    fake.on("GET", "/api/v1/receipts/rct_a", Reply({"jws": signed()}), Reply({"jws": signed(key=OTHER_KEY)}))

    assert client.receipt("rct_a").claims == client.receipt("rct_a").claims == CLAIMS
