"""Receipts and checkpoints: verified by their signature alone, refused with the reason."""

import json

import pytest

from consent_bridge.encoding import encode_base64url
from consent_bridge.errors import CannotOpen, KeyRefused, Refused
from consent_bridge.proofs import UnknownKey, read_keys, verify_receipt
from tests.bridge.fake_service import Reply
from tests.bridge.refusals import refused_for
from tests.bridge.signed_receipts import CLAIMS, OTHER_KEY, SIGNING_KEY, jwks, signed

KEYS = read_keys(jwks())


def test_receipt_gives_its_claims():
    assert verify_receipt(signed(), KEYS) == CLAIMS


def test_claims_are_compared_where_something_is_expected():
    expected = {"receipt_id": "rct_a", "event.type": "approved", "retention.expires_at": None, "iat": 1795169100}
    expected |= {"storage.location": "Turku, Finland", "storage.retention": "30 days", "jurisdiction": "Finland"}

    assert verify_receipt(signed(), KEYS, expected) == CLAIMS


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("receipt_id", "rct_b"),
        ("event.type", "denied"),
        ("event.color", "red"),
        ("event.type.more", "approved"),
        ("iat", "1795169100"),
        ("retention.access_duration", 86400.0),
        ("nothing", None),
    ],
)
def test_claim_that_differs_is_refused_by_name(member, value):
    with refused_for(member, match=member):
        verify_receipt(signed(), KEYS, {member: value})


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("lawful_basis", ["consent"]),
        ("rights", "access"),
        ("rights", ["access", 3]),
        ("notice", "2026-11"),
        ("notice", {"version": "2026-11"}),
        ("notice", {"version": 1, "language": "de"}),
    ],
)
def test_members_have_their_form(member, value):
    with refused_for(member):
        verify_receipt(signed({**CLAIMS, member: value}), KEYS)


@pytest.mark.parametrize("member", ["lawful_basis", "rights", "notice"])
def test_a_receipt_that_lacks_them_is_refused(member):
    claims = {name: value for name, value in CLAIMS.items() if name != member}

    with refused_for(member):
        verify_receipt(signed(claims), KEYS)


@pytest.mark.parametrize(
    ("header", "member"),
    [
        ({"typ": "consent-checkpoint+jwt"}, "typ"),
        ({"typ": "JWT"}, "typ"),
        ({"typ": None}, "typ"),
        ({"alg": "HS256"}, "alg"),
        ({"kid": "another"}, "kid"),
        ({"kid": None}, "kid"),
        ({"jku": "https://elsewhere.example/keys"}, "jku"),
        ({"cty": "json"}, "cty"),
    ],
)
def test_header_is_exactly_the_profile(header, member):
    with refused_for(member):
        verify_receipt(signed(**header), KEYS)


def test_unsigned_receipt_is_refused():
    header = encode_base64url(json.dumps({"alg": "none", "typ": "consent-receipt+jwt"}).encode())

    with pytest.raises(Refused, match="alg"):
        verify_receipt(f"{header}.{signed().split('.')[1]}.", KEYS)


def test_key_that_is_not_known_is_told_apart():
    with pytest.raises(UnknownKey):
        verify_receipt(signed(key=OTHER_KEY), KEYS)

    assert verify_receipt(signed(key=OTHER_KEY), read_keys(jwks(SIGNING_KEY, OTHER_KEY))) == CLAIMS


def test_signature_of_another_key_under_a_known_name_is_refused():
    with pytest.raises(CannotOpen, match="signature does not hold"):
        verify_receipt(signed(key=OTHER_KEY, kid=SIGNING_KEY.thumbprint()), KEYS)


def test_every_changed_part_is_refused():
    parts = signed().split(".")
    other = signed({**CLAIMS, "receipt_id": "rct_b"}).split(".")
    for changed in (
        [parts[0], other[1], parts[2]],
        [parts[0], parts[1], other[2]],
        [parts[0], parts[1], parts[2][:-2]],
        [parts[0], parts[1], ""],
    ):
        with refused_for("signature", CannotOpen):
            verify_receipt(".".join(changed), KEYS)


@pytest.mark.parametrize("text", ["", ".", "..", "a.b", "a.b.c.d", "!.b.c", "e30.e30.AA", "x" * 300_000])
def test_what_is_no_signed_text_is_refused(text):
    with pytest.raises(Refused):
        verify_receipt(text, KEYS)


@pytest.mark.parametrize("payload", [b"[]", b"\xff", b'{"a":1,"a":2}', b"[" * 100_000])
def test_signed_content_that_is_no_object_is_refused(payload):
    with pytest.raises(Refused):
        verify_receipt(signed(payload=payload), KEYS)


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
    assert "authorization" not in fake.asked[0].headers


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
    assert all("authorization" not in call.headers for call in fake.asked if "well-known" in call.path)


def test_client_fetches_the_keys_again_after_a_rotation(fake, client):
    fake.on("GET", "/.well-known/consent-keys.json", Reply(jwks()), Reply(jwks(OTHER_KEY, SIGNING_KEY)))
    fake.on("GET", "/api/v1/receipts/rct_a", Reply({"jws": signed()}), Reply({"jws": signed(key=OTHER_KEY)}))

    assert client.receipt("rct_a").claims == client.receipt("rct_a").claims == CLAIMS
