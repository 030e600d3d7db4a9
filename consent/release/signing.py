"""The release key: who releases signs the manifest as a C2SP note, and a deployment knows the public half."""

import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.jwk import OKPKey

from consent.log import notes

NAME = "consent-runtime/release"  # of the key, where nobody named it


def read_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a file: an Ed25519 JWK. Raises ValueError where it is none."""
    try:
        key = OKPKey.import_key(json.loads(path.read_text())).private_key
    except Exception as error:  # whatever the library raises for what is no key
        raise ValueError(f"{path} holds no Ed25519 key as a JWK") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path} holds no private Ed25519 key")
    return key


def verifier_of(key: Ed25519PrivateKey, name: str = NAME) -> notes.VerifierKey:
    """What verifies the manifests that this key signs."""
    return notes.VerifierKey(name, notes.ED25519, key.public_key().public_bytes_raw())


def signed(text: str, key: Ed25519PrivateKey, verifier: notes.VerifierKey) -> str:
    """The note: the manifest's text, and the signature under it."""
    return f"{text}\n{notes.signature_line(verifier, key.sign(text.encode()))}"


def holds(note: str, verifier_key: str) -> bool:
    """Whether this key signed the note. Raises ValueError where the text is no verifier key."""
    verifier = notes.VerifierKey.parse(verifier_key, kind=notes.ED25519)
    return "\n\n" in note and notes.is_signed_by(note, verifier)
