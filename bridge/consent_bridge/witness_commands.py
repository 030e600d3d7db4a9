"""The commands of a witness: making its key, and serving."""

from __future__ import annotations

import signal
import sys
import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from consent_bridge.encoding import decode_base64url, encode_base64url, parse_object
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.notes import ED25519, VerifierKey
from consent_bridge.state import read_small_file, state_directory, write_private_file
from consent_bridge.witness import Witness, server_of

ABOUT = (
    "cosign the log of a deployment once it is seen that it only grew",
    "Serves C2SP's tlog-witness. It makes its key at the first start and prints the verifier key that the log's "
    "operator puts into LOG_WITNESSES. Run it beside another deployment than the log's, and keep its state: a "
    "witness that forgot what it cosigned is none.",
)


def add_options(parser: ArgumentParser) -> None:
    """Those of `consent-bridge witness`."""
    parser.add_argument("--name", required=True, help="the witness's name: an address without its scheme")
    text = "the verifier key of a log to witness, or a file that holds it; repeatable"
    parser.add_argument("--log", action="append", default=[], required=True, metavar="KEY", help=text)
    parser.add_argument("--listen", default="127.0.0.1:7380", metavar="HOST:PORT", help="default: %(default)s")
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="what was cosigned is kept here")
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="private Ed25519 JWK; key.json in the state if left out"
    )
    parser.add_argument("--show-key", action="store_true", help="print the verifier key and end")


def witness_command(options: Namespace) -> dict[str, Any] | None:
    """Serve until told to stop; prints the verifier key that a log names in LOG_WITNESSES."""
    folder = options.state or state_directory() / "witness"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = _key(options.key or folder / "key.json")
    witness = Witness(
        name=options.name, key=key, logs=[_log(text) for text in options.log], path=folder / "seen.sqlite3"
    )
    if options.show_key:
        return {"verifier_key": str(witness.key)}
    host, _, port = options.listen.rpartition(":")
    if not port.isdecimal():
        raise Refused("--listen takes HOST:PORT")
    server = server_of(witness, host.strip("[]"), int(port))
    sys.stderr.write(f"{witness.key} listens on {host}:{server.server_port}\n")
    sys.stderr.flush()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    server.server_close()
    return None


def _log(text: str) -> VerifierKey:
    """A verifier key, or the file that holds one."""
    path = Path(text)
    key = VerifierKey.parse(path.read_text("utf-8").strip() if path.is_file() else text)
    if key.kind != ED25519:
        raise KeyRefused(f"{key.name} is no key of a log")
    return key


def _key(path: Path) -> Ed25519PrivateKey:
    """The witness's own key, made at the first start."""
    if not path.exists():
        fresh = Ed25519PrivateKey.generate()
        jwk = {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": encode_base64url(fresh.public_key().public_bytes_raw()),
            "d": encode_base64url(fresh.private_bytes_raw()),
        }
        write_private_file(path, jwk)
    jwk = parse_object(read_small_file(path, "the witness's key"), f"the key file {path}")
    raw = decode_base64url(jwk.get("d"), "d")
    if (jwk.get("kty"), jwk.get("crv"), len(raw)) != ("OKP", "Ed25519", 32):
        raise KeyRefused(f"{path} holds no private Ed25519 key")
    return Ed25519PrivateKey.from_private_bytes(raw)
