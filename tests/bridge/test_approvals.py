"""What a client takes: an approval of the person's own vault, of exactly this export, by the key that it knows."""

import json
import time

import pytest

from consent_bridge.approvals import KeyPins, OwnerKeyChanged
from consent_bridge.encoding import decode_base64url, encode_base64url
from consent_bridge.errors import BadAnswer, Refused
from consent_bridge.opening import open_envelope
from consent_bridge.results import AskedConsent, Envelope, build
from consent_bridge.signatures import SigningKey
from consent_bridge.signing import generate_root, signed_rotation
from tests.bridge import wire
from tests.bridge.refusals import refused_for

ISSUER = "https://consent.example"
ASKED = build(AskedConsent, wire.ASKED)


def opened(told, pins=None, **options):
    return open_envelope(build(Envelope, told), ASKED, wire.KEY, pins=pins, **options)


def own_key():
    return wire.ROOT.app_key(ISSUER, "app_a")


def resigned(told, key=None, typ="consent-approval+jwt", **claims):
    said = json.loads(decode_base64url(told["approval"].split(".")[1], "claims"))
    return {**told, "approval": (key or own_key()).sign(typ, {**said, **claims})}


def test_what_the_vault_signed_is_taken_and_its_key_kept():
    pins = KeyPins()
    assert opened(wire.envelope(), pins).data == {"lifestyle": {"food": {"favorite_cuisine": "Thai"}}}
    assert pins.find(ISSUER, "usr_a").key == own_key().public
    assert KeyPins(pins.dump()).dump() == pins.dump()
    assert opened(wire.envelope(2), pins).revision == 2


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("iss", "https://elsewhere.example"),
        ("sub", "usr_b"),
        ("aud", "app_b"),
        ("iat", 1.5),
        ("ends_at", 2**33),
        ("request_id", "req_b"),
        ("request_digest", "A" * 43),
        ("revision", 2),
        ("access_duration", 86401),
        ("approved_attributes", ["lifestyle.food.diet_preference"]),
        ("export_sha256", "A" * 43),
        ("more", 1),
    ],
)
def test_a_claim_that_differs_is_refused_by_name(claim, value):
    with refused_for(claim):
        opened(resigned(wire.envelope(), **{claim: value}))


def test_an_approval_that_is_over_is_refused():
    old = int(time.time()) - 90000
    with pytest.raises(Refused, match="is over"):
        opened(resigned(wire.envelope(), iat=old, ends_at=old + 86400))


def test_an_export_of_the_services_own_making_is_refused():
    """A server that knows everything but the vault seals to the app's public key, and cannot sign."""
    forged = wire.envelope()
    other = wire.envelope()
    with refused_for("export_sha256"):
        opened({**forged, "approval": other["approval"], "owner_key": other["owner_key"]})
    thief = wire.signed(forged, root=generate_root())
    pins = KeyPins()
    opened(other, pins)
    with pytest.raises(OwnerKeyChanged) as changed:
        opened(thief, pins)
    assert not changed.value.reset
    assert pins.find(ISSUER, "usr_a").key == own_key().public


@pytest.mark.parametrize(
    "header",
    [{"alg": "none"}, {"alg": "Ed25519"}, {"typ": "JWT"}, {"kid": "x"}, {"jwk": {}}, {"crit": []}, {"x5c": []}],
)
def test_a_header_that_is_not_exactly_the_contracts_is_refused(header):
    told, key = wire.envelope(), own_key()
    head, payload, _ = told["approval"].split(".")
    members = {**json.loads(decode_base64url(head, "header")), **header}
    signed = key.sign_payload("x", payload).split(".")[2]
    bad = f"{encode_base64url(json.dumps(members).encode())}.{payload}.{signed}"
    with refused_for(next(iter(header))):
        opened({**told, "approval": bad})


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "OKP", "crv": "Ed25519", "x": encode_base64url(bytes(32))},
        {"kty": "OKP", "crv": "Ed25519", "x": encode_base64url(bytes([1]) + bytes(31))},
        {"kty": "OKP", "crv": "X25519", "x": encode_base64url(bytes([9]) + bytes(31))},
        {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
        {"kty": "OKP", "crv": "Ed25519", "x": encode_base64url(bytes(31) + bytes([0x40])), "d": "AA"},
    ],
)
def test_a_key_that_is_none_is_refused(key):
    with pytest.raises(Refused):
        opened({**wire.envelope(), "owner_key": key})


@pytest.mark.parametrize("member", ["approval", "owner_key"])
def test_an_unsigned_export_is_refused(member):
    with pytest.raises(BadAnswer, match=member):
        opened({**wire.envelope(), member: None})


def test_another_key_is_taken_where_the_old_one_led_to_it():
    pins, new = KeyPins(), generate_root()
    first = wire.envelope()
    opened(first, pins)
    steps = signed_rotation(wire.ROOT, new, issuer=ISSUER, user_id="usr_own", root_seq=1, apps={"app_a": ("usr_a", 1)})
    moved = {**wire.signed(wire.envelope(), root=new), "key_history": steps[1:]}

    for unfit in (
        [],
        steps[:1],
        signed_rotation(
            generate_root(), new, issuer=ISSUER, user_id="usr_own", root_seq=1, apps={"app_a": ("usr_a", 1)}
        )[1:],
    ):
        with pytest.raises(Refused):
            opened({**moved, "key_history": unfit}, pins)
    opened(moved, pins)
    assert pins.find(ISSUER, "usr_a").key == new.app_key(ISSUER, "app_a").public
    opened(first, pins)  # what was taken while the old key counted
    with pytest.raises(OwnerKeyChanged):
        opened(wire.envelope(), pins)  # what the old key signs now


def test_a_reset_key_waits_for_somebodys_decision():
    pins, new = KeyPins(), generate_root()
    opened(wire.envelope(), pins)
    reset = {**wire.signed(wire.envelope(), root=new), "owner_key_reset": True}
    for known in (pins, KeyPins()):
        with pytest.raises(OwnerKeyChanged) as changed:
            opened(reset, known)
        assert changed.value.reset
    pins.accept(ISSUER, "usr_a", changed.value.key)
    assert opened(reset, pins).revision == 1


def test_no_two_apps_share_a_key():
    one, two = (wire.ROOT.app_key(ISSUER, app).public for app in ("app_a", "app_b"))
    assert one != two
    assert (
        SigningKey(bytes(32)).public["x"] == "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik"
    )  # an RFC 8032 seed of zeros
