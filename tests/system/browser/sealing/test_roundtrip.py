"""What the browser seals, an independent opener in Python opens: the same values, and exactly the listed header."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.system.browser.sealing import opener
from tests.system.browser.sealing.chromium import Tab

pytestmark = pytest.mark.browser

VALUES = {"full_name": "Zoë Łukasiewicz \U0001f9c1", "age": 41, "wants": ["a", {"b": [None, True, 0.1]}], "empty": ""}
KEY = bytes(range(32))
OWNER = {"userId": "usr_a", "keyId": "vk_a"}


def test_segment_sealed_in_the_browser_opens_in_python(sealing_page: Tab) -> None:
    address = {"domain": "identity", "segment_id": "basic", "content_revision": 12}
    jwe = sealing_page.run(
        """async ([values, address, hex]) => {
          const { vaultKey } = await import("/tests/system/browser/sealing/page.js");
          const { sealSegment } = await import("/static/js/formats/vault.js");
          return sealSegment(values, await vaultKey("usr_a", "vk_a", hex), address);
        }""",
        [VALUES, address, KEY.hex()],
    )
    assert opener.open_segment(jwe, KEY) == VALUES
    assert opener.header_of(jwe) == {
        "alg": "A256KW",
        "enc": "A256GCM",
        "typ": "pkm-segment+jwe",
        "kid": "vk_a",
        "sub": "usr_a",
        **address,
    }


def wrapped(page: Tab, kind: str, secret: str) -> str:
    jwe: str = page.run(
        """async ([kind, secret, key, owner]) => {
          const { bytes } = await import("/tests/system/browser/sealing/page.js");
          const { wrap } = await import("/static/js/formats/wrappers.js");
          return wrap(kind, bytes(key), kind === "passkey" ? bytes(secret) : secret, owner);
        }""",
        [kind, secret, KEY.hex(), OWNER],
    )
    return jwe


def wrapper_header(kind: str, alg: str, jwe: str, *measured: str) -> dict[str, Any]:
    header = opener.header_of(jwe)
    fixed = {"alg": alg, "enc": "A256GCM", "typ": "vault-key+jwe", "kid": "vk_a", "sub": "usr_a", "kind": kind}
    return {**fixed, **{name: header[name] for name in measured}}


def test_passphrase_wrapper_opens_in_python_after_nfkc(sealing_page: Tab) -> None:
    jwe = wrapped(sealing_page, "passphrase", "Cafe\u0301 \ufb01lters, twice")
    header = opener.header_of(jwe)
    assert opener.from_passphrase(jwe, "Caf\u00e9 filters, twice") == KEY
    assert header == wrapper_header("passphrase", "PBES2-HS512+A256KW", jwe, "p2s", "p2c")
    assert (header["p2c"], len(opener.unb64(header["p2s"]))) == (250000, 16)


def test_recovery_wrapper_opens_in_python(sealing_page: Tab) -> None:
    code = sealing_page.run('async () => (await import("/static/js/formats/wrappers.js")).newRecoveryCode()')
    jwe = wrapped(sealing_page, "recovery", code)
    header = opener.header_of(jwe)
    assert [len(group) for group in code.split("-")] == [4] * 8
    assert opener.from_secret(jwe, opener.recovery_octets(code), b"consent-vault-recovery") == KEY
    assert header == wrapper_header("recovery", "A256KW", jwe, "salt")
    assert len(opener.unb64(header["salt"])) == 32


def test_passkey_wrapper_opens_in_python(sealing_page: Tab) -> None:
    secret = bytes(range(100, 132))
    jwe = wrapped(sealing_page, "passkey", secret.hex())
    assert opener.from_secret(jwe, secret, b"consent-vault-passkey") == KEY
    assert opener.header_of(jwe) == wrapper_header("passkey", "A256KW", jwe, "salt")


def x25519() -> tuple[dict[str, str], dict[str, str]]:
    key = X25519PrivateKey.generate()
    public = {
        "kty": "OKP",
        "crv": "X25519",
        "x": opener.b64(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)),
    }
    secret = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return public, {**public, "d": opener.b64(secret)}


def p256() -> tuple[dict[str, str], dict[str, str]]:
    numbers = ec.generate_private_key(ec.SECP256R1()).private_numbers()
    x, y, d = (
        opener.b64(number.to_bytes(32, "big"))
        for number in (numbers.public_numbers.x, numbers.public_numbers.y, numbers.private_value)
    )
    public = {"kty": "EC", "crv": "P-256", "x": x, "y": y}
    return public, {**public, "d": d}


@pytest.mark.parametrize("pair", [x25519, p256])
def test_export_sealed_in_the_browser_opens_in_python(sealing_page: Tab, pair: Any) -> None:
    public, private = pair()
    members = {
        "kid": "connector-1",
        "iss": "https://consent.example",
        "sub": "usr_a",
        "aud": "app_a",
        "request_id": "req_a",
        "scope": "attr.identity.basic.*",
        "revision": 2,
        "request_digest": "A" * 43,
    }
    plaintext = {"scope": "attr.identity.basic.*", "approved_attributes": [], "data": {"identity": {"basic": VALUES}}}
    jwe = sealing_page.run(
        """async ([plaintext, members, key]) => {
          const { sealExport } = await import("/static/js/formats/exports.js");
          return sealExport(plaintext, members, key);
        }""",
        [plaintext, members, {**public, "kid": "dropped", "alg": "ECDH-ES"}],
    )
    header = opener.header_of(jwe)
    opened = opener.open_export(jwe, private)
    assert not opened.pop("pad").strip(" ")
    assert opened == plaintext
    assert set(header["epk"]) == set(public)
    assert header == {
        "alg": "ECDH-ES+A256KW",
        "enc": "A256GCM",
        "typ": "consent-export+jwe",
        "cty": "application/json",
        **members,
        "epk": header["epk"],
    }
