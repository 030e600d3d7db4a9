"""The header profile: what is sealed under the right key, but with a header that breaks one rule, is refused."""

from typing import Any

import pytest

from tests.system.browser.sealing.chromium import Tab
from tests.system.browser.sealing.opener import b64, seal

pytestmark = pytest.mark.browser

KEY = bytes(range(32))
ADDRESS = {"domain": "lifestyle", "segment_id": "food", "content_revision": 3}
HEADER = {"alg": "A256KW", "enc": "A256GCM", "typ": "pkm-segment+jwe", "kid": "vk_a", "sub": "usr_a", **ADDRESS}
REPEATED = (
    '{"alg":"A256KW","enc":"A256GCM","typ":"pkm-segment+jwe","kid":"vk_a","sub":"usr_b","sub":"usr_a",'
    '"domain":"lifestyle","segment_id":"food","content_revision":3}'
)

OPEN_SEGMENT = """async ([jwe, address, hex]) => {
  const { refusal, vaultKey } = await import("/tests/system/browser/sealing/page.js");
  const { openSegment } = await import("/static/js/formats/vault.js");
  const vault = await vaultKey("usr_a", "vk_a", hex);
  return refusal(() => openSegment(jwe, vault, address));
}"""


def without(member: str) -> dict[str, Any]:
    return {name: value for name, value in HEADER.items() if name != member}


def open_segment(page: Tab, jwe: str) -> dict[str, Any]:
    outcome: dict[str, Any] = page.run(OPEN_SEGMENT, [jwe, ADDRESS, KEY.hex()])
    return outcome


def test_segment_with_exactly_the_listed_members_opens(sealing_page: Tab) -> None:
    assert open_segment(sealing_page, seal(HEADER, b'{"a": 1}', KEY)) == {"opened": {"a": 1}}


@pytest.mark.parametrize(
    ("header", "reason", "member"),
    [
        ({**HEADER, "zip": "DEF"}, "forbidden_member", "zip"),
        ({**HEADER, "crit": ["exp"], "exp": 1}, "forbidden_member", "crit"),
        ({**HEADER, "apu": "QQ"}, "forbidden_member", "apu"),
        ({**HEADER, "apv": "QQ"}, "forbidden_member", "apv"),
        ({**HEADER, "jku": "https://example.org/keys"}, "forbidden_member", "jku"),
        ({**HEADER, "jwk": {"kty": "oct", "k": "AA"}}, "forbidden_member", "jwk"),
        ({**HEADER, "x5c": []}, "forbidden_member", "x5c"),
        ({**HEADER, "x5t#S256": "AA"}, "forbidden_member", "x5t#S256"),
        ({**HEADER, "cty": "application/json"}, "unexpected_member", "cty"),
        ({**HEADER, "p2c": 250000}, "unexpected_member", "p2c"),
        ({**HEADER, "__proto__": "x"}, "unexpected_member", "__proto__"),
        ({**HEADER, "alg": "A128KW"}, "algorithm", "alg"),
        ({**HEADER, "alg": "none"}, "algorithm", "alg"),
        ({**HEADER, "alg": ["A256KW"]}, "algorithm", "alg"),
        ({**HEADER, "enc": "A128GCM"}, "algorithm", "enc"),
        ({**HEADER, "enc": "A256CBC-HS512"}, "algorithm", "enc"),
        ({**HEADER, "typ": "vault-key+jwe"}, "mismatch", "typ"),
        (without("sub"), "missing_member", "sub"),
        (without("content_revision"), "missing_member", "content_revision"),
        ({**HEADER, "kid": "vk a"}, "bad_value", "kid"),
        ({**HEADER, "kid": "v" * 129}, "bad_value", "kid"),
        ({**HEADER, "kid": "vk_b"}, "mismatch", "kid"),
        ({**HEADER, "sub": "usr_b"}, "mismatch", "sub"),
        ({**HEADER, "sub": ["usr_a"]}, "bad_value", "sub"),
        ({**HEADER, "domain": "contact"}, "mismatch", "domain"),
        ({**HEADER, "content_revision": "3"}, "bad_value", "content_revision"),
        ({**HEADER, "content_revision": 0}, "bad_value", "content_revision"),
        ({**HEADER, "content_revision": 4}, "mismatch", "content_revision"),
        (REPEATED, "malformed", "sub"),
        ("[]", "malformed", None),
        ("{", "malformed", None),
        ('{"alg": "A256KW"' + " " * 9000 + "}", "malformed", None),
    ],
)
def test_header_that_breaks_a_rule_is_refused(sealing_page: Tab, header: Any, reason: str, member: str | None) -> None:
    assert open_segment(sealing_page, seal(header, b"{}", KEY)) == {"reason": reason, "member": member}


@pytest.mark.parametrize("plaintext", [b"[]", b'"text"', b"null", b"{", b"\xff\xfe", b""])
def test_sealed_content_that_is_no_object_is_refused(sealing_page: Tab, plaintext: bytes) -> None:
    assert open_segment(sealing_page, seal(HEADER, plaintext, KEY)) == {"reason": "plaintext", "member": None}


@pytest.mark.parametrize("change", ["four parts", "six parts", "padding", "standard alphabet", "stray bits", "nothing"])
def test_text_that_is_no_compact_jwe_is_refused(sealing_page: Tab, change: str) -> None:
    good = seal(HEADER, b"{}", KEY)
    # A tag has 16 octets, 22 characters: the last one carries four bits that nobody reads.
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    changed = {
        "four parts": good.rpartition(".")[0],
        "six parts": good + ".AA",
        "padding": good + "==",
        "standard alphabet": good[:-1] + "+",
        "stray bits": good[:-1] + alphabet[alphabet.index(good[-1]) + 1],
        "nothing": "",
    }[change]
    assert open_segment(sealing_page, changed) == {"reason": "malformed", "member": None}


UNWRAP = """async ([kind, jwe, secret]) => {
  const { refusal } = await import("/tests/system/browser/sealing/page.js");
  const { unwrap } = await import("/static/js/formats/wrappers.js");
  return refusal(() => unwrap(kind, jwe, secret, { userId: "usr_a", keyId: "vk_a" }));
}"""
WRAPPER = {
    "alg": "PBES2-HS512+A256KW",
    "enc": "A256GCM",
    "typ": "vault-key+jwe",
    "kid": "vk_a",
    "sub": "usr_a",
    "kind": "passphrase",
    "p2c": 250000,
    "p2s": b64(bytes(16)),
}


@pytest.mark.parametrize(
    ("changed", "reason", "member"),
    [
        ({"p2c": 209999}, "iterations", "p2c"),
        ({"p2c": 1000001}, "iterations", "p2c"),
        ({"p2c": 250000.5}, "iterations", "p2c"),
        ({"p2c": "250000"}, "iterations", "p2c"),
        ({"p2s": b64(bytes(8))}, "bad_value", "p2s"),
        ({"p2s": b64(bytes(17))}, "bad_value", "p2s"),
        ({"kind": "recovery"}, "mismatch", "kind"),
        ({"salt": b64(bytes(32))}, "unexpected_member", "salt"),
        ({"alg": "PBES2-HS256+A128KW"}, "algorithm", "alg"),
    ],
)
def test_passphrase_wrapper_that_breaks_a_rule_is_refused(
    sealing_page: Tab, changed: dict[str, Any], reason: str, member: str
) -> None:
    outcome = sealing_page.run(
        UNWRAP, ["passphrase", seal({**WRAPPER, **changed}, bytes(32), KEY), "a long passphrase"]
    )
    assert outcome == {"reason": reason, "member": member}


@pytest.mark.parametrize("salt", [b64(bytes(31)), b64(bytes(32)) + "=", 7])
def test_recovery_wrapper_with_a_bad_salt_is_refused(sealing_page: Tab, salt: Any) -> None:
    header = {k: v for k, v in WRAPPER.items() if k not in ("p2c", "p2s")}
    jwe = seal({**header, "alg": "A256KW", "kind": "recovery", "salt": salt}, bytes(32), KEY)
    refused = sealing_page.run(UNWRAP, ["recovery", jwe, "-".join(["AAAA"] * 8)])
    assert refused == {"reason": "bad_value", "member": "salt"}


@pytest.mark.parametrize(
    ("change", "member", "reason"),
    [
        ({"epk": {"kty": "EC", "crv": "P-256", "x": "A" * 43, "y": "A" * 43}}, "epk", "mismatch"),
        ({"epk": {"kty": "OKP", "crv": "X25519", "x": "A" * 43, "d": "A" * 43}}, "epk", "bad_value"),
        ({"epk": {"kty": "OKP", "crv": "X25519", "x": "AAAA"}}, "epk", "bad_value"),
        ({"epk": None}, "epk", "mismatch"),
        ({"iss": "https://evil.example"}, "iss", "mismatch"),
        ({"cty": "text/plain"}, "cty", "bad_value"),
        ({"request_digest": "AAAA"}, "request_digest", "bad_value"),
        ({"apu": "QQ"}, "apu", "forbidden_member"),
        ({"scope": "attr.contact.*"}, "scope", "mismatch"),
    ],
)
def test_export_header_that_breaks_a_rule_is_refused(
    sealing_page: Tab, vectors: dict[str, Any], change: dict[str, Any], member: str, reason: str
) -> None:
    header = {**vectors["exports"][0]["header"], "epk": {"kty": "OKP", "crv": "X25519", "x": "A" * 43}, **change}
    outcome = sealing_page.run(
        """async ([e, jwe]) => {
          const { refusal } = await import("/tests/system/browser/sealing/page.js");
          const { openExport } = await import("/static/js/formats/exports.js");
          const { alg, enc, typ, cty, ...expected } = e.header;
          return refusal(() => openExport(jwe, e.connector_private_key, expected));
        }""",
        [vectors["exports"][0], seal(header, b"{}", KEY)],
    )
    assert outcome == {"reason": reason, "member": member}
