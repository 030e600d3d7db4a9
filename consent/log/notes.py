"""Checkpoints and proofs in the log's own formats: C2SP signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof.

Signing and writing is all that the server does with them, and telling apart what it wrote itself and what witnesses
sent: verifying is its readers' work.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ED25519, COSIGNATURE = 0x01, 0x04  # signature types of signed-note
PROOF_HEADER = "c2sp.org/tlog-proof@v1"
_DASH = "\N{EM DASH}"


def base64_of(octets: bytes) -> str:
    """Standard base64, as all of these formats have it."""
    return base64.b64encode(octets).decode("ascii")


@dataclass(frozen=True)
class VerifierKey:
    """Who verifies what: a name, the type of its signatures, and 32 bytes of Ed25519."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The first four bytes of every signature of this key."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    def __str__(self) -> str:
        """As signed-note writes verifier keys."""
        return f"{self.name}+{self.key_id.hex()}+{base64_of(bytes([self.kind]) + self.public)}"

    @classmethod
    def parse(cls, text: str, *, kind: int) -> "VerifierKey":
        """Raises ValueError where the text is no verifier key of this kind, its own id included."""
        name, _, material = text.split("+", 2)
        raw = base64.b64decode(material, validate=True)
        key = cls(name, raw[0] if raw else -1, raw[1:])
        if not name or any(sign.isspace() for sign in name) or len(key.public) != 32 or key.kind != kind:
            raise ValueError(f"{text!r} is no verifier key of type {kind:#04x}")
        if str(key) != text:
            raise ValueError(f"the id of {text!r} is not that of its key")
        return key


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint says: which log, how many leaves, and their root."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64_of(self.root)}\n"

    @classmethod
    def of_note(cls, note: str) -> "Checkpoint":
        """What a note of ours says."""
        origin, size, root = note.split("\n\n", 1)[0].split("\n")
        return cls(origin, int(size), base64.b64decode(root, validate=True))


def signature_line(key: VerifierKey, signature: bytes) -> str:
    return f"{_DASH} {key.name} {base64_of(key.key_id + signature)}\n"


def signed(checkpoint: Checkpoint, keys: Iterable[Ed25519PrivateKey]) -> str:
    """The note: the checkpoint, and a signature of each key under the log's name."""
    text = checkpoint.text
    lines = (signature_line(log_key(checkpoint.origin, key.public_key()), key.sign(text.encode())) for key in keys)
    return f"{text}\n{''.join(lines)}"


def log_key(origin: str, public: Ed25519PublicKey) -> VerifierKey:
    """The verifier key of a log, which has the log's name."""
    return VerifierKey(origin, ED25519, public.public_bytes_raw())


def is_signed_by(note: str, key: VerifierKey) -> bool:
    """Whether a note of ours carries a signature of this key that holds."""
    text, lines = note.split("\n\n", 1)
    return any(_verifies(key, raw, f"{text}\n".encode()) for raw in _signatures(lines, key))


def cosignature_line(note: str, lines: str, witness: VerifierKey) -> str | None:
    """The one line among these by which a witness cosigned this note, without whatever else they hold."""
    text = note.split("\n\n", 1)[0] + "\n"
    for raw in _signatures(lines, witness):
        if _is_cosignature(witness, raw, text):
            return signature_line(witness, raw)
    return None


def _is_cosignature(witness: VerifierKey, raw: bytes, text: str) -> bool:
    at = int.from_bytes(raw[:8], "big")
    return 0 < at < 2**63 and _verifies(witness, raw[8:], f"cosignature/v1\ntime {at}\n{text}".encode())


def _signatures(lines: str, key: VerifierKey) -> Iterable[bytes]:
    """What stands behind this key's id in the lines that name it."""
    for line in lines.splitlines():
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.rpartition(" ")
        if dash != _DASH or name != key.name:
            continue
        try:
            raw = base64.b64decode(encoded, validate=True)
        except ValueError:
            continue
        if raw[:4] == key.key_id:
            yield raw[4:]


def _verifies(key: VerifierKey, signature: bytes, text: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def proof(index: int, hashes: Sequence[bytes], note: str) -> str:
    """A tlog-proof: that the leaf with this number is in the tree of this checkpoint."""
    lines = [PROOF_HEADER, f"index {index}", *map(base64_of, hashes), ""]
    return "\n".join(lines) + "\n" + note
