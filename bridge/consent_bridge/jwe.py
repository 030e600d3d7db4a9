"""One strict profile for every compact JWE here: exactly these members, these algorithms, these sizes.

The JOSE library does the cryptography; what may stand in a header is decided here, before any key is touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwe import JWERegistry, decrypt_compact, encrypt_compact
from joserfc.jwk import ECKey, OctKey, OKPKey

from consent_bridge.encoding import decode_base64url, parse_object
from consent_bridge.errors import CannotOpen, Refused, shown

Header = dict[str, Any]
Check = Callable[[str, Any], None]
Expectation = Callable[[Header], None]
Key = OctKey | OKPKey | ECKey

ENC = "A256GCM"
ALG_VAULT = "A256KW"
ALG_PBES2 = "PBES2-HS512+A256KW"
ALG_CONNECTOR = "ECDH-ES+A256KW"

MAX_PLAINTEXT_BYTES = 16 * 1024 * 1024
MAX_HEADER_CHARS = 4096
MAX_CIPHERTEXT_CHARS = (MAX_PLAINTEXT_BYTES * 4 + 2) // 3
MAX_JWE_CHARS = MAX_HEADER_CHARS + MAX_CIPHERTEXT_CHARS + 256
_IV_BYTES, _TAG_BYTES, _WRAPPED_KEY_BYTES = 12, 16, 40

_REFUSED_MEMBERS = ("zip", "crit", "apu", "apv", "jku", "jwk")
_KID = re.compile(r"[A-Za-z0-9._~-]{1,128}\Z")
_MAX_TEXT = 512


@dataclass(frozen=True)
class Profile:
    """What the protected header of one kind of sealed object holds: exactly `members`, each with its check.

    Those of `optional` may be there.
    """

    name: str
    alg: str
    members: Mapping[str, Check]
    optional: Mapping[str, Check] = field(default_factory=dict)


class _Registry(JWERegistry):
    """The library's registry with our algorithms and our sizes (its own end at 1,024 bytes and 64 KiB)."""

    max_protected_header_length = MAX_HEADER_CHARS
    max_ciphertext_length = MAX_CIPHERTEXT_CHARS

    def __init__(self) -> None:
        # Not strict: strict knows only the registered members. Our profile is stricter than both.
        super().__init__(algorithms=[ALG_VAULT, ALG_CONNECTOR, ENC], strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """PBES2 is A256KW once the key is derived; we derive it, since the library caps p2c at 300000."""
        return super().get_alg(ALG_VAULT if name == ALG_PBES2 else name)


_registry = _Registry()


def exactly(expected: str) -> Check:
    """A member with one allowed value."""

    def check(member: str, value: Any) -> None:
        if value != expected or not isinstance(value, str):
            raise Refused(f"header member {member} is {shown(value)}, not {shown(expected)}", member=member)

    return check


def text(member: str, value: Any) -> None:
    """A member that is text of 1 to 512 printable characters."""
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_TEXT or not value.isprintable():
        raise Refused(f"header member {member} is not text of 1 to {_MAX_TEXT} characters", member=member)


def counter(member: str, value: Any) -> None:
    """A member that counts from one."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < 2**53:
        raise Refused(f"header member {member} is not a positive whole number", member=member)


def key_name(member: str, value: Any) -> None:
    """A `kid`."""
    if not isinstance(value, str) or not _KID.match(value):
        raise Refused(f"header member {member} is not 1 to 128 of the characters A-Z a-z 0-9 . _ ~ -", member=member)


def vault_key_name(member: str, value: Any) -> None:
    """The `kid` of a vault key."""
    key_name(member, value)
    if not value.startswith("vk_"):
        raise Refused(f"header member {member} does not name a vault key (vk_…)", member=member)


def octets(size: int) -> Check:
    """A member that is base64url of exactly `size` bytes."""

    def check(member: str, value: Any) -> None:
        try:
            length = len(decode_base64url(value, f"header member {member}"))
        except Refused as refused:
            raise Refused(refused.reason, member=member) from refused
        if length != size:
            raise Refused(f"header member {member} has {length} bytes, not {size}", member=member)

    return check


def whole_number(low: int, high: int) -> Check:
    """A member that is a whole number within bounds."""

    def check(member: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(f"header member {member} is {shown(value)}, not within {low} to {high}", member=member)

    return check


def equal(expected: Mapping[str, Any]) -> Expectation:
    """Every member named in `expected` is that value, of that type."""

    def check(header: Header) -> None:
        for member, value in expected.items():
            found = _member(header, member)
            if type(found) is not type(value) or found != value:
                raise Refused(f"header member {member} is {shown(found)}, not {shown(value)}", member=member)

    return check


def equal_as_text(expected: list[tuple[str, str]]) -> Expectation:
    """The same for values that came in as text, from a command line."""

    def check(header: Header) -> None:
        for member, value in expected:
            found = _member(header, member)
            if isinstance(found, dict):
                raise Refused(f"header member {member} is an object and cannot be compared as text", member=member)
            if str(found) != value:
                raise Refused(f"header member {member} is {shown(found)}, not {shown(value)}", member=member)

    return check


def _member(header: Header, member: str) -> Any:
    if member not in header:
        raise Refused(f"the header has no member {shown(member)}", member=member)
    return header[member]


def read_header(sealed: str, profile: Profile) -> Header:
    """The protected header of a compact JWE after every check that needs no key; nothing is authenticated yet."""
    parts = _parts(sealed)
    if len(parts[0]) > MAX_HEADER_CHARS:
        raise Refused(f"the header is longer than {MAX_HEADER_CHARS} characters")
    header = parse_object(decode_base64url(parts[0], "the header"), "the header")
    _check_members(header, profile)
    for part, what, size in (
        (parts[1], "the encrypted key", _WRAPPED_KEY_BYTES),
        (parts[2], "the initialization vector", _IV_BYTES),
        (parts[4], "the authentication tag", _TAG_BYTES),
    ):
        if len(decode_base64url(part, what)) != size:
            raise Refused(f"{what} is not {size} bytes long")
    if len(parts[3]) > MAX_CIPHERTEXT_CHARS:
        raise Refused(f"the sealed content is larger than {MAX_PLAINTEXT_BYTES} bytes")
    return header


def _parts(sealed: str) -> list[str]:
    if not sealed:
        raise Refused("the sealed text is empty")
    if len(sealed) > MAX_JWE_CHARS:
        raise Refused(f"the sealed text is longer than {MAX_JWE_CHARS} characters")
    parts = sealed.split(".")
    if len(parts) != 5:
        raise Refused(f"the sealed text is no compact JWE: it has {len(parts)} parts, not 5")
    return parts


def _check_members(header: Header, profile: Profile) -> None:
    for member in header:
        if member in _REFUSED_MEMBERS or member.startswith("x5"):
            raise Refused(f"header member {member} is refused", member=member)
    for member, wanted in (("alg", profile.alg), ("enc", ENC)):
        if _member(header, member) != wanted:
            raise Refused(
                f"{member} {shown(header[member])} is not on the list for a sealed {profile.name}", member=member
            )
    for member, check in profile.members.items():
        check(member, _member(header, member))
    for member in profile.optional.keys() & header.keys():
        profile.optional[member](member, header[member])
    if unknown := sorted(header.keys() - profile.members.keys() - profile.optional.keys() - {"alg", "enc"}):
        raise Refused(f"header member {shown(unknown[0])} is unknown in a sealed {profile.name}", member=unknown[0])


def open_sealed(sealed: str, key: Key, what: str) -> bytes:
    """The plaintext of a compact JWE whose header `read_header` has accepted."""
    try:
        plaintext = decrypt_compact(sealed, key, registry=_registry).plaintext
    except (JoseError, ValueError, TypeError, AssertionError) as error:
        raise CannotOpen(f"the {what} does not open: another key sealed it, or it was changed") from error
    if plaintext is None:
        raise CannotOpen(f"the {what} holds nothing")
    return plaintext


def seal(header: Header, plaintext: bytes, key: Key, profile: Profile) -> str:
    """A compact JWE with a fresh content key; what we write has to pass what we accept."""
    if len(plaintext) > MAX_PLAINTEXT_BYTES:
        raise Refused(f"the content is larger than {MAX_PLAINTEXT_BYTES} bytes")
    sealed = encrypt_compact({"alg": profile.alg, "enc": ENC, **header}, plaintext, key, registry=_registry)
    read_header(sealed, profile)
    return sealed


def symmetric(key: bytes) -> OctKey:
    """Raw bytes as the library's key."""
    return OctKey.import_key(key)
