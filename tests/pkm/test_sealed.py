"""Headers and keys are checked against vectors that an independent implementation made."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from conformance import cases
from pkm import sealed

VECTORS = json.loads((cases.VECTORS / "sealed.json").read_text())
KEY_ID, USER_ID = VECTORS["vault"]["key_id"], VECTORS["user_id"]


def _with_header(jwe: str, change: dict[str, Any] | bytes) -> str:
    first, rest = jwe.split(".", 1)
    if isinstance(change, dict):
        header = json.loads(base64.urlsafe_b64decode(first + "==")) | change
        change = json.dumps({name: value for name, value in header.items() if value is not None}).encode()
    return base64.urlsafe_b64encode(change).decode().rstrip("=") + "." + rest


def _refusal(call: Any, *args: Any, **kwargs: Any) -> tuple[str, str]:
    with pytest.raises(sealed.InvalidHeader) as caught:
        call(*args, **kwargs)
    return caught.value.member, caught.value.reason


@pytest.mark.parametrize("index", range(len(VECTORS["segments"])))
def test_segment_header_fits_its_address(index: int) -> None:
    vector = VECTORS["segments"][index]
    address = {name: vector[name] for name in ("domain", "segment_id", "content_revision")}
    header = sealed.read_header(vector["jwe"])
    sealed.check_segment_header(header, key_id=KEY_ID, user_id=USER_ID, **address)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("key_id", "vk_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("user_id", "usr_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        ("domain", "contact"),
        ("segment_id", "shopping"),
        ("content_revision", 2),
    ],
)
def test_segment_header_of_elsewhere_is_refused_by_its_member(member: str, value: Any) -> None:
    vector = VECTORS["segments"][0]
    expected = {
        "key_id": KEY_ID,
        "user_id": USER_ID,
        **{name: vector[name] for name in ("domain", "segment_id", "content_revision")},
        member: value,
    }
    refused, _ = _refusal(sealed.check_segment_header, sealed.read_header(vector["jwe"]), **expected)
    assert refused == {"key_id": "kid", "user_id": "sub"}.get(member, member)


@pytest.mark.parametrize(
    ("change", "member", "reason"),
    [
        ({"content_revision": True}, "content_revision", "is not 1"),
        ({"content_revision": 1.0}, "content_revision", "is not 1"),
        ({"cty": "application/json"}, "cty", "does not belong in this header"),
        ({"typ": None}, "typ", "is missing from the header"),
        ({"alg": "A128KW"}, "alg", "is not 'A256KW'"),
        ({"enc": "A128GCM"}, "enc", "is not 'A256GCM'"),
        ({"crit": ["exp"]}, "crit", "must not stand in a header"),
        ({"zip": "DEF"}, "zip", "must not stand in a header"),
        ({"apu": "AA"}, "apu", "must not stand in a header"),
        ({"x5u": "https://example.org"}, "x5u", "must not stand in a header"),
        ({"jwk": {}}, "jwk", "must not stand in a header"),
        (b"[1]", "protected header", "is not an object"),
        (b"{", "protected header", "is not JSON"),
        (b'{"alg":"A256KW","alg":"dir"}', "protected header", "names a member twice"),
        (b'{"alg":{"a":1,"a":2}}', "protected header", "names a member twice"),
        (b'{"alg":NaN}', "protected header", "holds NaN, which is not JSON"),
        (b'{"alg":"\xff"}', "protected header", "is not JSON"),
        (b'{"\\ud800":1}', "protected header", "is not JSON"),
        (b'{"a":' + b"[" * 5000, "protected header", "is not JSON"),
    ],
)
def test_header_outside_the_profile_is_refused(change: Any, member: str, reason: str) -> None:
    vector = VECTORS["segments"][0]

    def both() -> None:
        header = sealed.read_header(_with_header(vector["jwe"], change))
        address = {name: vector[name] for name in ("domain", "segment_id", "content_revision")}
        sealed.check_segment_header(header, key_id=KEY_ID, user_id=USER_ID, **address)

    assert _refusal(both) == (member, reason)


def _parts(**change: str) -> str:
    names = ("header", "key", "iv", "ciphertext", "tag")
    parts = dict(zip(names, VECTORS["segments"][0]["jwe"].split("."), strict=True)) | change
    return ".".join(parts.values())


@pytest.mark.parametrize(
    ("jwe", "member", "reason"),
    [
        ("", "", "is not a compact JWE"),
        ("a.b.c.d", "", "is not a compact JWE"),
        ("a.b.c.d.e.f", "", "is not a compact JWE"),
        (_parts(header="A" * 8193), "", "has a protected header over 8 KiB"),
        (_parts(key=""), "encrypted key", "has 0 bytes instead of 40"),
        (_parts(iv="AAAA"), "iv", "has 3 bytes instead of 12"),
        (_parts(tag="AAAAAAAAAAAAAAAAAAAAAB"), "tag", "is not canonical base64url"),
        (_parts(tag="AAAAAAAAAAAAAAAAAAAAA="), "tag", "is not base64url"),
        (_parts(ciphertext=""), "ciphertext", "is not base64url"),
        (_parts(ciphertext="AAAAA"), "ciphertext", "is not base64url"),
        (_parts(ciphertext="AB"), "ciphertext", "is not canonical base64url"),
        (_parts(ciphertext="A+A/"), "ciphertext", "is not base64url"),
        (_parts(ciphertext="AAAA\n"), "ciphertext", "is not base64url"),
        (_parts(ciphertext="A" * (16 * 1024 * 1024)), "", "is larger than 16 MiB"),
    ],
)
def test_what_is_no_compact_jwe_of_this_profile_is_refused(jwe: str, member: str, reason: str) -> None:
    assert _refusal(sealed.read_header, jwe) == (member, reason)


@pytest.mark.parametrize("kind", ["passphrase", "recovery", "passkey"])
def test_wrapper_header_fits_its_kind(kind: str) -> None:
    header = sealed.read_header(VECTORS["wrappers"][kind]["jwe"])
    sealed.check_wrapper_header(header, key_id=KEY_ID, user_id=USER_ID, kind=kind)


@pytest.mark.parametrize(
    ("kind", "change", "member"),
    [
        ("passphrase", {"p2c": 209_999}, "p2c"),
        ("passphrase", {"p2c": 1_000_001}, "p2c"),
        ("passphrase", {"p2c": True}, "p2c"),
        ("passphrase", {"p2c": "250000"}, "p2c"),
        ("passphrase", {"p2s": "AAAA"}, "p2s"),
        ("passphrase", {"p2s": None}, "p2s"),
        ("passphrase", {"salt": "AAAA"}, "salt"),
        ("recovery", {"salt": None}, "salt"),
        ("recovery", {"salt": "AAAA"}, "salt"),
        ("recovery", {"kind": "passkey"}, "kind"),
        ("passkey", {"kid": "vk_another"}, "kid"),
        ("passkey", {"sub": "usr_another"}, "sub"),
    ],
)
def test_wrapper_header_outside_the_profile_is_refused(kind: str, change: dict[str, Any], member: str) -> None:
    header = sealed.read_header(_with_header(VECTORS["wrappers"][kind]["jwe"], change))
    refused, _ = _refusal(sealed.check_wrapper_header, header, key_id=KEY_ID, user_id=USER_ID, kind=kind)
    assert refused == member


def test_wrapper_of_another_kind_is_refused() -> None:
    header = sealed.read_header(VECTORS["wrappers"]["passphrase"]["jwe"])
    refused = _refusal(sealed.check_wrapper_header, header, key_id=KEY_ID, user_id=USER_ID, kind="recovery")
    assert refused == ("salt", "is missing from the header")


def test_weak_wrapper_of_the_vectors_is_refused() -> None:
    vector = next(reject for reject in VECTORS["rejects"] if reject["kind"] == "wrapper")
    header = sealed.read_header(vector["jwe"])
    refused, _ = _refusal(sealed.check_wrapper_header, header, key_id=KEY_ID, user_id=USER_ID, kind="passphrase")
    assert refused == "p2c"


def _expected(vector: dict[str, Any]) -> dict[str, Any]:
    names = ("kid", "iss", "sub", "aud", "request_id", "scope", "revision", "request_digest")
    return {name: vector["header"][name] for name in names}


@pytest.mark.parametrize("index", range(len(VECTORS["exports"])))
def test_export_header_fits_its_request(index: int) -> None:
    vector = VECTORS["exports"][index]
    curve = vector["connector_public_key"]["crv"]
    sealed.check_export_header(sealed.read_header(vector["jwe"]), _expected(vector), curve=curve)


@pytest.mark.parametrize("member", ["kid", "iss", "sub", "aud", "request_id", "scope", "revision", "request_digest"])
def test_export_header_names_the_member_that_differs(member: str) -> None:
    vector = VECTORS["exports"][0]
    expected = _expected(vector) | {member: 2 if member == "revision" else "another"}
    header = sealed.read_header(vector["jwe"])
    assert _refusal(sealed.check_export_header, header, expected, curve="X25519")[0] == member


@pytest.mark.parametrize(
    "epk",
    [
        None,
        "key",
        {"kty": "OKP", "crv": "X25519", "x": "A" * 43},
        {"kty": "OKP", "crv": "X25519"},
        {"kty": "EC", "crv": "X25519", "x": "UR5TJEWU6yg71Qle3uztDQfvA4uOTVHP_NOYEgPKpXc"},
        {"kty": "OKP", "crv": "X25519", "x": "UR5TJEWU6yg71Qle3uztDQfvA4uOTVHP_NOYEgPKpXc", "d": "AA"},
        {"kty": "OKP", "crv": "X448", "x": "UR5TJEWU6yg71Qle3uztDQfvA4uOTVHP_NOYEgPKpXc"},
    ],
)
def test_export_with_an_ephemeral_key_that_does_not_fit_is_refused(epk: Any) -> None:
    vector = VECTORS["exports"][0]
    header = sealed.read_header(vector["jwe"]) | {"epk": epk}
    assert _refusal(sealed.check_export_header, header, _expected(vector), curve="X25519")[0] == "epk"


@pytest.mark.parametrize("vector", VECTORS["bad_connector_keys"], ids=lambda vector: vector["why"])
def test_bad_connector_key_is_refused_with_a_reason(vector: dict[str, Any]) -> None:
    member, reason = _refusal(sealed.check_connector_key, vector["jwk"])
    assert (member, reason) == {
        "all-zero X25519 point": ("x", "is not a point that a key can be agreed with"),
        "low-order X25519 point of order 8": ("x", "is not a point that a key can be agreed with"),
        "31 bytes": ("x", "has 31 bytes instead of 32"),
        "private member present": ("d", "is a private member; send the public key only"),
        "Ed25519 is a signing curve": ("crv", "is neither an X25519 nor a P-256 key"),
        "P-256 point off the curve": ("x", "is not a point that a key can be agreed with"),
        "standard base64 with padding": ("x", "is not base64url"),
        "RSA": ("kty", "is neither an X25519 nor a P-256 key"),
    }[vector["why"]]


GOOD = VECTORS["exports"][0]["connector_public_key"]


@pytest.mark.parametrize(
    ("jwk", "member"),
    [
        (None, "connector_public_key"),
        ([], "connector_public_key"),
        ("key", "connector_public_key"),
        ({}, "kty"),
        (GOOD | {"x": 7}, "x"),
        (GOOD | {"x": GOOD["x"] + "="}, "x"),
        (GOOD | {"x": GOOD["x"][:-1] + "d"}, "x"),
        (GOOD | {"kty": ["OKP"]}, "crv"),
        (GOOD | {"kty": "EC"}, "crv"),
        ({"kty": "EC", "crv": "P-256", "x": GOOD["x"]}, "y"),
        ({"kty": "EC", "crv": "P-256", "x": "_" * 42 + "8", "y": "_" * 42 + "8"}, "x"),
    ],
)
def test_connector_key_that_does_not_parse_is_refused(jwk: Any, member: str) -> None:
    assert _refusal(sealed.check_connector_key, jwk)[0] == member


@pytest.mark.parametrize("vector", VECTORS["exports"], ids=lambda vector: vector["connector_public_key"]["crv"])
def test_connector_key_is_cleaned_and_has_the_known_thumbprint(vector: dict[str, Any]) -> None:
    given = (
        vector["connector_public_key"]
        | {"kid": "mine", "use": "enc", "alg": "ECDH-ES+A256KW", "key_ops": []}
        | {"ext": True, "x5c": []}
    )
    cleaned = sealed.check_connector_key(given)
    assert cleaned == vector["connector_public_key"]
    assert sealed.thumbprint(cleaned) == vector["thumbprint"]


def test_nothing_here_can_open_anything() -> None:
    """The module has no way of decrypting: neither a JOSE library nor a cipher is imported."""
    source = Path(sealed.__file__).read_text()
    assert "joserfc" not in source
    assert "ciphers" not in source
    assert "aead" not in source
    assert "decrypt" not in source
