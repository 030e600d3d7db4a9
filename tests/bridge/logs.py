"""A log made by hand, for readers and witnesses: its tree by the definition of the RFC, its notes signed here."""

import hashlib
from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from consent_bridge import notes

EMPTY = hashlib.sha256(b"").digest()


def split(count: int) -> int:
    return 1 << (count - 1).bit_length() - 1


def mth(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) < 2:
        return hashlib.sha256(b"\x00" + leaves[0]).digest() if leaves else EMPTY
    at = split(len(leaves))
    return hashlib.sha256(b"\x01" + mth(leaves[:at]) + mth(leaves[at:])).digest()


def path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """RFC 9162, 2.1.3.1."""
    if len(leaves) == 1:
        return []
    at = split(len(leaves))
    if index < at:
        return [*path(index, leaves[:at]), mth(leaves[at:])]
    return [*path(index - at, leaves[at:]), mth(leaves[:at])]


def consistency(old: int, leaves: Sequence[bytes], whole: bool = True) -> list[bytes]:
    """RFC 9162, 2.1.4.1."""
    if old in (0, len(leaves)):
        return [] if whole else [mth(leaves)]
    at = split(len(leaves))
    if old <= at:
        return [*consistency(old, leaves[:at], whole), mth(leaves[at:])]
    return [*consistency(old - at, leaves[at:], False), mth(leaves[:at])]


class Log:
    """A log with leaves of its own choosing."""

    def __init__(self, origin: str = "log.example/log") -> None:
        self.private = Ed25519PrivateKey.generate()
        self.key = notes.VerifierKey(origin, notes.ED25519, self.private.public_key().public_bytes_raw())
        self.leaves: list[bytes] = []

    def grow(self, count: int, salt: str = "") -> None:
        self.leaves += [hashlib.sha256(f"{salt}{len(self.leaves) + at}".encode()).digest() for at in range(count)]

    def note(self, size: int | None = None, *, origin: str | None = None, root: bytes | None = None) -> str:
        size = len(self.leaves) if size is None else size
        digest = mth(self.leaves[:size]) if root is None else root
        return self.signed(f"{origin or self.key.name}\n{size}\n{notes.encode(digest)}\n")

    def signed(self, text: str) -> str:
        return f"{text}\n" + notes.signature_line(self.key.name, self.key.key_id + self.private.sign(text.encode()))

    def proof(self, index: int, size: int | None = None, note: str | None = None) -> str:
        size = len(self.leaves) if size is None else size
        hashes = [notes.encode(digest) for digest in path(index, self.leaves[:size])]
        return "\n".join(["c2sp.org/tlog-proof@v1", f"index {index}", *hashes, "", note or self.note(size)])

    def request(self, old: int, new: int | None = None) -> bytes:
        """The body of add-checkpoint."""
        new = len(self.leaves) if new is None else new
        hashes = [notes.encode(digest) for digest in consistency(old, self.leaves[:new])] if old <= new else []
        return ("\n".join([f"old {old}", *hashes, "", ""]) + self.note(new)).encode()
