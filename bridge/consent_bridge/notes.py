"""Signed checkpoints of a log and proofs against them, read strictly: C2SP signed-note, tlog-checkpoint,
tlog-cosignature and tlog-proof.

Nothing of a note is believed before a signature of a known key holds. A signature of a known key that does not hold
refuses the note; those of unknown keys are passed over.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from consent_bridge.errors import KeyRefused, Refused, shown
from consent_bridge.merkle import HASH_BYTES, includes

ED25519, COSIGNATURE = 0x01, 0x04  # signature types
_KINDS = (ED25519, COSIGNATURE)
_DASH = "\N{EM DASH}"
_PROOF_HEADER = "c2sp.org/tlog-proof@v1"
# ASCII's control characters but for the newline, and what is no UTF-8: no others, and so neither U+007F nor U+0085
_FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\ud800-\udfff]")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,18})\Z")
_MAX_NOTE_BYTES = 1024 * 1024
_MAX_SIGNATURES = 100
_MAX_HASHES = 64  # no tree is deeper


@dataclass(frozen=True)
class VerifierKey:
    """Who verifies what: a name, a type of signature and an Ed25519 key. `str` gives the text that it was read from."""

    name: str
    kind: int
    public: bytes

    @property
    def key_id(self) -> bytes:
        """The four bytes before each of its signatures."""
        return hashlib.sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{encode(bytes([self.kind]) + self.public)}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """A key of the log or of a witness, as signed-note writes it; its id is checked."""
        parts = text.split("+", 2)
        if len(parts) != 3 or not _is_name(parts[0]):
            raise KeyRefused(f"{shown(text)} is no verifier key")
        material = decode(parts[2], "the verifier key")
        if len(material) != 33 or material[0] not in _KINDS:
            raise KeyRefused(f"{shown(parts[0])} is no verifier key of Ed25519")
        key = cls(parts[0], material[0], material[1:])
        if key.key_id.hex() != parts[1]:
            raise KeyRefused(f"the id of {shown(parts[0])} is not that of its key")
        return key


@dataclass(frozen=True)
class Cosignature:
    """A witness saw this tree as the largest of its log at this time, in seconds since 1970."""

    witness: str
    at: int


@dataclass(frozen=True)
class Checkpoint:
    """What a log signed: its name, how many leaves it has, their root, and which known witnesses cosigned it."""

    origin: str
    size: int
    root: bytes
    note: str
    cosignatures: tuple[Cosignature, ...] = ()


@dataclass(frozen=True)
class Proof:
    """A tlog-proof: that a leaf with this number is in the tree of a checkpoint."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: Checkpoint

    def check(self, entry: bytes) -> None:
        """Refuse unless the leaf is this entry."""
        if not includes(entry, self.index, self.checkpoint.size, self.hashes, self.checkpoint.root):
            raise Refused("the proof does not hold: the log does not have this entry there", member="proof")


def encode(octets: bytes) -> str:
    """Standard base64, with padding."""
    return base64.b64encode(octets).decode("ascii")


def decode(text: str, what: str) -> bytes:
    """The same back; another spelling of the same bytes is refused."""
    try:
        octets = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(f"{what} is not base64") from error
    if encode(octets) != text:
        raise Refused(f"{what} is not canonical base64")
    return octets


def read_number(text: str, what: str) -> int:
    """A decimal number without leading zeroes."""
    if not _NUMBER.match(text):
        raise Refused(f"{what} is no number")
    return int(text)


def read_checkpoint(
    note: str, keys: Sequence[VerifierKey], witnesses: Sequence[VerifierKey] = (), *, by_anyone: bool = False
) -> Checkpoint:
    """A checkpoint that one of the log's keys signed; its origin is the name of that key.

    `by_anyone` takes one that none of them signed: only its consistency with a signed one says that it is the log's.
    """
    text, signatures = split_note(note)
    known = [key for key in keys if _verifies(key, signatures, text)]
    if not known and not by_anyone:
        raise Refused("no key of the log signed this checkpoint", member="signature")
    lines = text.split("\n")
    if len(lines) != 4:
        raise Refused("this is no checkpoint: it does not have three lines")
    origin, size, root = lines[:3]
    if any(key.name != origin for key in known):
        raise Refused(f"the checkpoint is of another log, {shown(origin)}", member="origin")
    digest = decode(root, "the checkpoint's root")
    if len(digest) != HASH_BYTES:
        raise Refused("the checkpoint's root is no SHA-256", member="root")
    found = (_cosignature(witness, signatures, text) for witness in witnesses)
    cosignatures = tuple(cosignature for cosignature in found if cosignature is not None)
    return Checkpoint(origin, read_number(size, "the checkpoint's size"), digest, note, cosignatures)


def signers(note: str, keys: Sequence[VerifierKey]) -> tuple[VerifierKey, ...]:
    """Those of these keys that signed a note; Refused where a signature under one of them does not hold."""
    text, signatures = split_note(note)
    return tuple(key for key in keys if _verifies(key, signatures, text))


def origin_of(note: str) -> str:
    """The name of the log that a note is of, by its first line; nothing of it is checked."""
    return split_note(note)[0].partition("\n")[0]


def key_ids(note: str) -> list[str]:
    """The keys by which a note is said to be signed in its log's own name, in hexadecimal; nothing of it is checked."""
    _, signatures = split_note(note)
    return [raw[:4].hex() for name, raw in signatures if name == origin_of(note)]


def signed_by_log(note: str) -> str:
    """A note with the signatures of its log alone, as its signer made it, without those of witnesses."""
    text, signatures = split_note(note)
    lines = (signature_line(name, raw) for name, raw in signatures if name == origin_of(note))
    return f"{text}\n{''.join(lines)}"


def has_other_signer(checkpoint: Checkpoint, keys: Sequence[VerifierKey]) -> bool:
    """Whether somebody signed in the log's own name with a key that is none of these; nothing of it is checked."""
    known = {key.key_id for key in keys}
    _, signatures = split_note(checkpoint.note)
    return any(name == checkpoint.origin and raw[:4] not in known for name, raw in signatures)


def read_proof(
    text: str, keys: Sequence[VerifierKey], witnesses: Sequence[VerifierKey] = (), *, by_anyone: bool = False
) -> Proof:
    """A tlog-proof; whether it holds for an entry, `Proof.check` says."""
    head, separator, note = text.partition("\n\n")
    lines = head.split("\n")
    if not separator or lines[0] != _PROOF_HEADER:
        raise Refused(f"this is no proof: it does not begin with {_PROOF_HEADER}")
    if len(lines) > 1 and lines[1].startswith("extra "):
        decode(lines.pop(1)[len("extra ") :], "the proof's extra data")
    if len(lines) < 2 or not lines[1].startswith("index "):
        raise Refused("the proof does not say the number of its leaf")
    hashes = read_hashes(lines[2:])
    checkpoint = read_checkpoint(note, keys, witnesses, by_anyone=by_anyone)
    return Proof(read_number(lines[1][6:], "the proof's index"), hashes, checkpoint)


def read_hashes(lines: Sequence[str]) -> tuple[bytes, ...]:
    """Hashes, one a line in base64."""
    hashes = tuple(decode(line, "a hash of the proof") for line in lines)
    if len(hashes) > _MAX_HASHES or any(len(digest) != HASH_BYTES for digest in hashes):
        raise Refused("the proof has too many hashes, or one that is no SHA-256")
    return hashes


Signatures = list[tuple[str, bytes]]  # name, and the bytes with the key's id before them


def split_note(note: str) -> tuple[str, Signatures]:
    """The text that was signed, and who is said to have signed it."""
    if len(note.encode("utf-8", "replace")) > _MAX_NOTE_BYTES:
        raise Refused("the note is too long")
    if _FORBIDDEN.search(note):
        raise Refused("the note holds a control character")
    text, separator, lines = note.rpartition("\n\n")
    if not separator or not lines.endswith("\n"):
        raise Refused("this is no signed note: it has no signatures under an empty line")
    signatures = [_signature(line) for line in lines[:-1].split("\n")]
    if len(signatures) > _MAX_SIGNATURES:
        raise Refused("the note has too many signatures")
    return text + "\n", signatures


def _signature(line: str) -> tuple[str, bytes]:
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != _DASH or not _is_name(parts[1]):
        raise Refused("the note has a line under its text that is no signature")
    raw = decode(parts[2], "a signature")
    if len(raw) < 5:
        raise Refused("a signature of the note is too short")
    return parts[1], raw


def _is_name(name: str) -> bool:
    return bool(name) and not any(sign == "+" or sign.isspace() or _FORBIDDEN.match(sign) for sign in name)


def _by(key: VerifierKey, signatures: Signatures) -> bytes | None:
    for name, raw in signatures:
        if name == key.name and raw[:4] == key.key_id:
            return raw[4:]
    return None


def _verifies(key: VerifierKey, signatures: Signatures, text: str) -> bool:
    signature = _by(key, signatures) if key.kind == ED25519 else None
    if signature is None:
        return False
    verify(key, signature, text.encode())
    return True


def _cosignature(witness: VerifierKey, signatures: Signatures, text: str) -> Cosignature | None:
    signature = _by(witness, signatures) if witness.kind == COSIGNATURE else None
    if signature is None:
        return None
    at = int.from_bytes(signature[:8], "big")
    if not 0 < at < 2**63:
        raise Refused(f"{witness.name} cosigned at no time", member="signature")
    verify(witness, signature[8:], cosigned_text(text, at))
    return Cosignature(witness.name, at)


def verify(key: VerifierKey, signature: bytes, text: bytes) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, text)
    except (InvalidSignature, ValueError) as error:
        raise Refused(f"the signature of {key.name} does not hold", member="signature") from error


def cosigned_text(text: str, at: int) -> bytes:
    """What a witness signs of a checkpoint."""
    return f"cosignature/v1\ntime {at}\n{text}".encode()


def signature_line(name: str, raw: bytes) -> str:
    """A line of a note: who signed, and the id of the key with the signature."""
    return f"{_DASH} {name} {encode(raw)}\n"


def missing(checkpoint: Checkpoint, witnesses: Sequence[VerifierKey], quorum: int | None = None) -> list[str]:
    """The witnesses whose cosignature is missing, where fewer cosigned than must (all, unless `quorum` says)."""
    seen = {cosignature.witness for cosignature in checkpoint.cosignatures}
    absent = [witness.name for witness in witnesses if witness.name not in seen]
    needed = len(witnesses) if quorum is None else quorum
    return absent if len(seen) < needed else []
