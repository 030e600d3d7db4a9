"""A witness of logs (C2SP tlog-witness): cosigns a checkpoint once it has seen that the log only grew.

It keeps, for each log, the checkpoint that it cosigned last, in one SQLite file: comparing and keeping is one
transaction, on the disk before anything is answered. It is meant to run beside another deployment than the log's.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from consent_bridge import merkle, notes
from consent_bridge.errors import Refused
from consent_bridge.notes import COSIGNATURE, Checkpoint, VerifierKey

_TEXT, _SIZE = "text/plain; charset=utf-8", "text/x.tlog.size"
_MAX_BODY = 64 * 1024
_MAX_PROOF = 63
_CHECKPOINT_PATH = re.compile(r"/([0-9a-f]{64})/checkpoint\Z")
_SECONDS = 10.0  # a caller that says nothing for so long is given up
_TABLE = (
    "CREATE TABLE IF NOT EXISTS seen (origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT)"
)


@dataclass(frozen=True)
class Answer:
    """Status, body and media type."""

    status: int
    body: str = ""
    media_type: str = _TEXT


class _Says(Exception):
    """The answer that ends a request early."""

    def __init__(self, status: int, body: str = "", media_type: str = _TEXT) -> None:
        super().__init__(body)
        self.answer = Answer(status, body, media_type)


class Witness:
    """Cosigns the logs whose keys it was given, under one name and key."""

    def __init__(
        self,
        *,
        name: str,
        key: Ed25519PrivateKey,
        logs: Sequence[VerifierKey],
        path: Path,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.key = VerifierKey(name, COSIGNATURE, key.public_key().public_bytes_raw())
        self._private, self._logs, self._path, self._clock = key, list(logs), path, clock
        self._lock = threading.Lock()
        with self._database() as database:
            database.execute(_TABLE)

    def add_checkpoint(self, body: bytes) -> Answer:
        """`POST add-checkpoint`."""
        try:
            return self._add_checkpoint(body)
        except _Says as said:
            return said.answer

    def _add_checkpoint(self, body: bytes) -> Answer:
        old, proof, note = _read_request(body)
        checkpoint = self._verified(note)
        if old > checkpoint.size:
            raise _Says(400, "the old size is above that of the checkpoint\n")
        with self._lock, self._database() as database:
            seen = database.execute("SELECT size, root FROM seen WHERE origin = ?", [checkpoint.origin]).fetchone()
            size, root = seen or (0, merkle.EMPTY_ROOT)
            if old != size:
                raise _Says(409, f"{size}\n", _SIZE)
            if checkpoint.size == 0 and checkpoint.root != merkle.EMPTY_ROOT:
                raise _Says(422, "an empty tree has another root\n")
            if not merkle.is_consistent(old, root, checkpoint.size, checkpoint.root, proof):
                raise _Says(422, "this tree does not begin with the one that was cosigned before\n")
            line = self._cosigned(note)
            database.execute(
                "INSERT INTO seen VALUES (?, ?, ?, ?) ON CONFLICT (origin) DO UPDATE SET size = excluded.size, "
                "root = excluded.root, note = excluded.note",
                [checkpoint.origin, checkpoint.size, checkpoint.root, self._kept(note) + line],
            )
        return Answer(200, line)

    def _verified(self, note: str) -> Checkpoint:
        try:
            text, _ = notes.split_note(note)
        except Refused as refused:
            raise _Says(400, f"{refused}\n") from refused
        keys = [key for key in self._logs if key.name == text.split("\n", 1)[0]]
        if not keys:
            raise _Says(404, "this log is not one that is witnessed here\n")
        try:
            return notes.read_checkpoint(note, keys)
        except Refused as refused:
            raise _Says(403 if refused.member == "signature" else 400, f"{refused}\n") from refused

    def _cosigned(self, note: str) -> str:
        text, _ = notes.split_note(note)
        return notes.cosign(text, name=self.key.name, key=self._private, at=int(self._clock()))

    def _kept(self, note: str) -> str:
        """The checkpoint with the log's signatures that were verified, and no other."""
        text, signatures = notes.split_note(note)
        known = {(key.name, key.key_id) for key in self._logs}
        lines = [notes.signature_line(name, raw) for name, raw in signatures if (name, raw[:4]) in known]
        return f"{text}\n{''.join(lines)}"

    def checkpoint(self, origin_hash: str) -> Answer:
        """`GET <origin hash>/checkpoint`: what was cosigned last."""
        with self._database() as database:
            for origin, note in database.execute("SELECT origin, note FROM seen"):
                if sha256(origin.encode()).hexdigest() == origin_hash:
                    return Answer(200, note)
        return Answer(404, "nothing of such a log was cosigned here\n")

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """One transaction that excludes all others, also of other processes, and is on the disk once it ended."""
        database = sqlite3.connect(self._path, timeout=_SECONDS, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
        finally:
            database.close()  # takes back what was not committed


def _read_request(body: bytes) -> tuple[int, tuple[bytes, ...], str]:
    """Old size, proof and note of an add-checkpoint."""
    try:
        head, separator, note = body.decode().partition("\n\n")
        first, *lines = head.split("\n")
        if not separator or not first.startswith("old ") or len(lines) > _MAX_PROOF:
            raise Refused("give `old` and a size, at most 63 hashes, an empty line and a checkpoint")
        return notes.read_number(first[4:], "the old size"), notes.read_hashes(lines), note
    except (Refused, UnicodeDecodeError) as error:
        raise _Says(400, f"{error}\n") from error


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # logs keep their connection
    timeout = _SECONDS
    witness: Witness

    def do_POST(self) -> None:
        """`add-checkpoint`."""
        length = self.headers.get("Content-Length", "")
        if self.path != "/add-checkpoint":
            self._send(Answer(404, "there is nothing here\n"), close=True)
        elif not length.isdecimal() or int(length) > _MAX_BODY:
            self._send(Answer(413 if length.isdecimal() else 411), close=True)
        else:
            self._send(self.witness.add_checkpoint(self.rfile.read(int(length))))

    def do_GET(self) -> None:
        """The monitoring address."""
        found = _CHECKPOINT_PATH.match(self.path)
        self._send(self.witness.checkpoint(found[1]) if found else Answer(404, "there is nothing here\n"))

    def _send(self, answer: Answer, *, close: bool = False) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(body)))
        if close:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "consent-bridge-witness"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is worth knowing, the log says."""


def server_of(witness: Witness, host: str, port: int) -> ThreadingHTTPServer:
    """A server of this witness; port 0 takes a free one."""
    handler = type("Handler", (_Handler,), {"witness": witness})
    server = ThreadingHTTPServer((host, port), handler)
    server.daemon_threads = True
    return server
