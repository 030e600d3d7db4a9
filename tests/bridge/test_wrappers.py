"""Wrappers of the vault key: their bounds, their kinds, and secrets that are not of their shape."""

import pytest
from joserfc.jwk import OctKey

from consent_bridge.encoding import encode_base64url
from consent_bridge.sealed import (
    CannotOpen,
    KeyRefused,
    Refused,
    generate_recovery_code,
    seal_segment,
    unwrap,
    wrap,
)
from consent_bridge.vault import Wrapper, unwrap_any
from tests.bridge.handmade import SEGMENT, VAULT, hand_sealed, with_header
from tests.bridge.refusals import refused_for


@pytest.mark.parametrize("p2c", [209_999, 1_000_001, 250_000.0, True, "250000"])
def test_passphrase_wrapper_with_a_count_out_of_bounds_is_refused(p2c):
    sealed = wrap(VAULT, "passphrase", "twelve chars", "usr_a")

    with refused_for("p2c"):
        unwrap(with_header(sealed, lambda header: header.update(p2c=p2c)), "passphrase", "twelve chars")


def test_passphrase_wrapper_is_not_made_with_a_count_out_of_bounds():
    with pytest.raises(Refused, match="p2c"):
        wrap(VAULT, "passphrase", "twelve chars", "usr_a", p2c=100_000)


@pytest.mark.parametrize(("kind", "member", "size"), [("passphrase", "p2s", 16), ("recovery", "salt", 32)])
def test_wrapper_with_a_salt_of_another_length_is_refused(kind, member, size):
    secret = "twelve chars" if kind == "passphrase" else generate_recovery_code()
    sealed = wrap(VAULT, kind, secret, "usr_a")

    with pytest.raises(Refused, match=f"{member} has 8 bytes, not {size}"):
        unwrap(with_header(sealed, lambda header: header.update({member: encode_base64url(bytes(8))})), kind, secret)


def test_wrapper_of_another_kind_is_refused():
    code = generate_recovery_code()

    with pytest.raises(Refused, match='kind is "recovery", not "passkey"'):
        unwrap(wrap(VAULT, "recovery", code, "usr_a"), "passkey", "00" * 32)


def test_wrapper_of_another_person_or_key_is_refused():
    sealed = wrap(VAULT, "recovery", code := generate_recovery_code(), "usr_a")

    with pytest.raises(Refused, match='sub is "usr_a", not "usr_b"'):
        unwrap(sealed, "recovery", code, user_id="usr_b")
    with pytest.raises(Refused, match="kid is"):
        unwrap(sealed, "recovery", code, key_id="vk_other")


def test_wrapper_does_not_open_with_another_secret():
    sealed = wrap(VAULT, "passphrase", "correct horse", "usr_a")

    with pytest.raises(CannotOpen, match="the wrapper does not open"):
        unwrap(sealed, "passphrase", "correct house")


def test_wrapper_whose_content_is_no_key_is_refused():
    code = generate_recovery_code()
    salt = encode_base64url(bytes(32))
    header = {"typ": "vault-key+jwe", "kid": "vk_a", "sub": "usr_a", "kind": "recovery", "salt": salt}
    from consent_bridge.wrappers import _hkdf_key, read_recovery_code

    key = OctKey.import_key(_hkdf_key(read_recovery_code(code), "recovery", header))
    sealed = hand_sealed({"alg": "A256KW", "enc": "A256GCM", **header}, key, b"short")

    with pytest.raises(Refused, match="content is no vault key"):
        unwrap(sealed, "recovery", code)


@pytest.mark.parametrize(
    ("kind", "secret", "reason"),
    [
        ("recovery", "DAIZ-LMTG", "not 32 letters"),
        ("recovery", "", "not 32 letters"),
        ("recovery", "1" * 32, "a letter that no code has"),
        ("recovery", "é" * 32, "a letter that no code has"),
        ("passkey", "xyz", "not hexadecimal"),
        ("passkey", "00" * 31, "31 bytes, not 32"),
        ("passphrase", "too short", "shorter than 12"),
    ],
)
def test_secret_of_another_shape_is_refused(kind, secret, reason):
    with pytest.raises(KeyRefused, match=reason):
        wrap(VAULT, kind, secret, "usr_a")


def test_recovery_code_is_the_same_however_it_is_typed():
    sealed = wrap(VAULT, "recovery", code := generate_recovery_code(), "usr_a")
    fullwidth = "".join(chr(ord(char) + 0xFEE0) for char in code.lower())

    for between in ("\u2010", "\u2013", "\u2015", "\u2212", "\u00a0", "\u2003", "\n", "\ufeff"):
        assert unwrap(sealed, "recovery", code.replace("-", between)) == VAULT
    assert unwrap(sealed, "recovery", fullwidth) == VAULT


def test_spoilt_wrapper_keeps_nobody_out():
    whole = wrap(VAULT, "passphrase", "twelve chars", "usr_a")
    spoilt = with_header(whole, lambda header: header.update(p2c=1))
    other = wrap(VAULT, "passphrase", "another secret", "usr_a")
    own = ("passphrase", "twelve chars", "usr_a", VAULT.key_id)

    def kept(*sealed):
        return [Wrapper(f"w{n}", "passphrase", "", None, jwe, "", None) for n, jwe in enumerate(sealed)]

    assert unwrap_any(kept(spoilt, other, whole), *own) == VAULT
    with refused_for("p2c"):
        unwrap_any(kept(spoilt, other), *own)
    with pytest.raises(KeyRefused, match="does not open the vault"):
        unwrap_any(kept(other), *own)


def test_passphrase_is_the_same_however_its_accents_are_typed():
    sealed = wrap(VAULT, "passphrase", "cafe\u0301 au lait, ﬁn", "usr_a")

    assert unwrap(sealed, "passphrase", "caf\u00e9 au lait, fin") == VAULT


def test_vault_key_does_not_print_itself():
    assert VAULT.secret.hex() not in repr(VAULT)
    assert repr(VAULT.secret) not in repr(VAULT)


def test_vault_key_of_another_length_is_refused():
    with pytest.raises(KeyRefused, match="31 bytes, not 32"):
        seal_segment({}, bytes(31), SEGMENT)
