"""A witness of logs (C2SP tlog-witness): cosigns a checkpoint once it has seen that the log only grew."""

import sqlite3
import threading
import time
from collections.abc import Sequence
from http.server import ThreadingHTTPServer
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from consent_bridge import merkle, notes
from consent_bridge.notes import COSIGNATURE, VerifierKey
from tests.fakes.serving import Answering

_TABLE = "CREATE TABLE IF NOT EXISTS seen (origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL)"


class Witness:
    """Cosigns the logs whose keys it was given, under one name and key; what it cosigned last stays in a file."""

    def __init__(self, *, name: str, key: Ed25519PrivateKey, logs: Sequence[VerifierKey], path: Path) -> None:
        self.key = VerifierKey(name, COSIGNATURE, key.public_key().public_bytes_raw())
        self._private, self._logs, self._path = key, list(logs), path
        self._lock = threading.Lock()
        with sqlite3.connect(path) as database:
            database.execute(_TABLE)

    def add_checkpoint(self, body: bytes) -> tuple[int, str]:
        """`POST add-checkpoint`: status and body."""
        head, _, note = body.decode().partition("\n\n")
        first, *lines = head.split("\n")
        old = int(first.removeprefix("old "))
        text, _ = notes.split_note(note)
        keys = [key for key in self._logs if key.name == text.split("\n", 1)[0]]
        if not keys:
            return 404, "this log is not one that is witnessed here\n"
        checkpoint = notes.read_checkpoint(note, keys)
        if old > checkpoint.size:
            return 400, "the old size is above that of the checkpoint\n"
        with self._lock, sqlite3.connect(self._path) as database:
            seen = database.execute("SELECT size, root FROM seen WHERE origin = ?", [checkpoint.origin]).fetchone()
            size, root = seen or (0, merkle.EMPTY_ROOT)
            if old != size:
                return 409, f"{size}\n"
            if not merkle.is_consistent(old, root, checkpoint.size, checkpoint.root, notes.read_hashes(lines)):
                return 422, "this tree does not begin with the one that was cosigned before\n"
            row = [checkpoint.origin, checkpoint.size, checkpoint.root]
            database.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", row)
        at = int(time.time())
        stamped = at.to_bytes(8, "big") + self._private.sign(notes.cosigned_text(text, at))
        return 200, notes.signature_line(self.key.name, self.key.key_id + stamped)


def server_of(witness: Witness) -> ThreadingHTTPServer:
    """A server of this witness on a free port."""

    class Handler(Answering):
        def post(self) -> None:
            if self.path != "/add-checkpoint":
                return self.answer(404)
            status, body = witness.add_checkpoint(self.body())
            return self.answer(status, body.encode())

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)
