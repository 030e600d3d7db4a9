"""What the command line keeps between two commands: its own requests, never a value and never a token."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from consent_bridge.approvals import KeyPins, joined
from consent_bridge.encoding import parse_object
from consent_bridge.errors import BadAnswer, KeyRefused, Refused
from consent_bridge.keys import Jwk, check_private_key
from consent_bridge.results import MadeRequest, as_json, build
from consent_bridge.vault_notes import NotesMemory, newest

if sys.platform != "win32":
    import fcntl

_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
MAX_FILE_BYTES = 1024 * 1024


def state_directory() -> Path:
    """`CONSENT_BRIDGE_STATE`, or the user's state directory."""
    if chosen := os.environ.get("CONSENT_BRIDGE_STATE"):
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(base) / "consent-bridge"


def read_small_file(path: Path, what: str) -> bytes:
    """A file of at most 1 MiB; what cannot be read is Refused."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Refused(f"{what} {path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise Refused(f"{what} {path} is larger than {MAX_FILE_BYTES} bytes")
    return data


def read_key_file(path: Path) -> Jwk:
    """The private JWK in a file."""
    jwk = parse_object(read_small_file(path, "the key file"), f"the key file {path}")
    try:
        return check_private_key(jwk)
    except KeyRefused as refused:
        raise KeyRefused(f"the key file {path}: {refused.reason}", member=refused.member) from refused


def write_private_file(path: Path, value: object, *, force: bool = False) -> None:
    """JSON that only this user can read; an existing file stays unless `force`."""
    text = json.dumps(value, indent=2) + "\n"
    # Written aside and moved, so that a reader or a crash never meets half a key; link() refuses an existing name.
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # a name of its own for each writer: two threads would fill one file, and the second after it was moved
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
        aside = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            _move(aside, path, force=force)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}") from error


def _move(aside: Path, path: Path, *, force: bool) -> None:
    if force:
        aside.replace(path)
        return
    try:
        os.link(aside, path)
    except FileExistsError as error:
        raise Refused(f"{path} exists; --force overwrites it") from error


def check_writable(directory: Path) -> None:
    """Refused where no file can be written there, which is found out before a call that cannot be taken back."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise Refused(f"{directory} cannot be written: {error.strerror}") from error


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """No other program is in such a block of the same file; on Windows, which has no such locks, one may be."""
    # a file beside it, which stays: the one that is written is another one each time
    beside = path.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Refused(f"{beside} cannot be written: {error.strerror}") from error
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class OwnerKeys:
    """The key that each person signs with, one file for all, as it was first met on this machine."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "owner_keys.json"

    def load(self) -> KeyPins:
        """Those that are kept."""
        if not self._path.exists():
            return KeyPins()
        body = parse_object(read_small_file(self._path, "the record"), f"the record {self._path}")
        try:
            return KeyPins(body)
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(f"the record {self._path} holds no keys of people") from error

    @contextmanager
    def keeping(self, pins: KeyPins) -> Iterator[None]:
        """Remember them after this block, also where it refuses a key: when it was met counts.

        What other programs kept meanwhile stays. Refused before the block where they cannot be written.
        """
        with alone(self._path):
            check_writable(self._path.parent)
        before = pins.dump()
        try:
            yield
        finally:
            with alone(self._path):
                stored = self.load().dump()
                now = joined(before, pins.dump(), stored)
                if now != stored or not self._path.exists():
                    write_private_file(self._path, now, force=True)


class SeenNotes(NotesMemory):
    """What was seen of each person's vault on this machine, one file for all."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "vault_notes.json"

    def load(self, user_id: str) -> dict[str, Any]:
        """What was seen of this person's."""
        found = self._all().get(user_id, {})
        if not isinstance(found, dict):
            raise Refused(f"the record {self._path} holds nothing of notes")
        return found

    def keep(self, user_id: str, seen: dict[str, Any]) -> None:
        """Remember what is newer of it than what is remembered, whatever other programs keep meanwhile."""
        with alone(self._path):
            known = self.load(user_id)
            if (now := newest(known, seen)) != known:
                self._write(user_id, now)

    def replace(self, user_id: str, seen: dict[str, Any]) -> None:
        """Remember this alone, however old: by the person's word."""
        with alone(self._path):
            self._write(user_id, seen)

    def _write(self, user_id: str, seen: dict[str, Any]) -> None:
        write_private_file(self._path, {**self._all(), user_id: seen}, force=True)

    def _all(self) -> dict[str, Any]:
        if not self._path.exists():
            return {}
        return parse_object(read_small_file(self._path, "the record"), f"the record {self._path}")


class RequestLog:
    """The requests that were made on this machine, one file each, with the highest revision seen."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "requests"
        self.owner_keys = OwnerKeys(directory)

    def _path(self, request_id: str) -> Path:
        if not _REQUEST_ID.match(request_id):
            raise Refused("this is not a request id")
        return self._directory / f"{request_id}.json"

    def check_writable(self) -> None:
        """Refused where nothing can be remembered."""
        check_writable(self._directory)

    def keep(self, request: MadeRequest, *, revision: int = 0) -> None:
        """Remember a request, and the revision that was read of it where none that is kept is higher."""
        with alone(self._directory):
            known = self.find(request.request_id)
            record = {"asked": as_json(request), "revision": max(revision, known[1] if known else 0)}
            write_private_file(self._path(request.request_id), record, force=True)

    def find(self, request_id: str) -> tuple[MadeRequest, int] | None:
        """A request and the highest revision read of it, or None if it was not made here."""
        path = self._path(request_id)
        if not path.exists():
            return None
        return self._parse(parse_object(read_small_file(path, "the record"), f"the record {path}"))

    def _parse(self, body: dict[str, Any]) -> tuple[MadeRequest, int]:
        try:
            request = build(MadeRequest, body.get("asked"), "the record")
        except BadAnswer as error:
            raise Refused(str(error)) from error
        revision = body.get("revision")
        return request, revision if isinstance(revision, int) else 0
