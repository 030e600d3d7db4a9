"""Fresh secrets for a deployment. Needs neither settings nor Django: `python -m consent.release.fresh_keys FOLDER`."""

import json
import os
import secrets
import shlex
import sys
from pathlib import Path

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from common.jose import base64url
from consent.release import manifest

RECEIPT_KEYS_FILE, LOG_KEYS_FILE = "receipt-keys.json", "log-keys.json"
RELEASE_KEY_FILE = "release-key.json"
_ROOT = Path(__file__).resolve().parents[2]


def printed() -> str:
    """A whole set, one line each, as `env` has them. Raises ValueError as `keep` does."""
    keys = {name: json.dumps([_signing_key()], separators=(",", ":")) for name in ("RECEIPT_KEYS", "LOG_KEYS")}
    return "\n".join(_line(name, value) for name, value in {**_secrets(), **keys}.items())


def keep(folder: Path) -> None:
    """Add what is missing to the folder's `env` and to the files beside it, mode 0600, with a release key.

    Raises ValueError where the folder's own name cannot stand in such a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "RECEIPT_KEYS_FILE": _keep_keys(folder.resolve() / RECEIPT_KEYS_FILE),
        "LOG_KEYS_FILE": _keep_keys(folder.resolve() / LOG_KEYS_FILE),
    }
    # its own releaser, as a clone is: who releases elsewhere keeps this key elsewhere
    verifier = _keep_release_key(folder.resolve() / RELEASE_KEY_FILE)
    _keep_missing(folder / "env", {**_secrets(), **files, "RELEASE_VERIFIER_KEY": verifier})


def _line(name: str, value: str) -> str:
    """As a shell, systemd and our own reader of `env` understand it alike."""
    if "'" in value or "\n" in value:
        raise ValueError(f"{name} would hold a quote or a line break, which not every reader of such a file takes.")
    return f"{name}={shlex.quote(value)}"


def _secrets() -> dict[str, str]:
    return {"SECRET_KEY": secrets.token_urlsafe(50), "DATA_ENCRYPTION_KEYS": Fernet.generate_key().decode()}


def _signing_key() -> dict[str, str]:
    """A private Ed25519 key as a JWK."""
    key = Ed25519PrivateKey.generate()
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": base64url(key.public_key().public_bytes_raw()),
        "d": base64url(key.private_bytes_raw()),
    }


def _keep_keys(path: Path) -> str:
    """Make the file where there is none; its name, from the project's folder where it lies inside.

    So both can move together.
    """
    if not path.exists():
        _write_private(path, json.dumps([_signing_key()], indent=1))
    return str(path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else path)


def _keep_release_key(path: Path) -> str:
    """Make the file where there is none; what verifies the key in it."""
    if not path.exists():
        _write_private(path, json.dumps(_signing_key(), indent=1))
    return str(manifest.verifier_of(manifest.read_key(path)))


def _keep_missing(path: Path, wanted: dict[str, str]) -> None:
    """Add what is missing; a secret that is there stays, since losing it would lose what it protects."""
    lines = path.read_text().splitlines() if path.exists() else []
    lines = [line for line in lines if line.strip() not in {f"{name}=" for name in wanted}]  # a name alone is none
    present = {line.split("=", 1)[0] for line in lines}
    missing = [_line(name, value) for name, value in wanted.items() if name not in present]
    if missing:
        _write_private(path, "\n".join([*lines, *missing]) + "\n")


def _write_private(path: Path, text: str) -> None:
    """For its owner's eyes alone from the first byte on, and whole or not at all."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    temporary.replace(path)


if __name__ == "__main__":
    try:
        keep(Path(sys.argv[1]))
    except ValueError as reason:
        sys.exit(str(reason))
