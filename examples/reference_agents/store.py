"""The profiles that the agents keep: one SQLite file, or memory that ends with the process.

A profile is found by its identifiers, phone (E.164) and e-mail address (case folded). Identifiers of two kept people in
one prompt find nobody, so that no prompt mixes them.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

IDENTIFIERS = ("phone", "email")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS profiles (id INTEGER PRIMARY KEY, fields TEXT NOT NULL CHECK (json_valid(fields)));
CREATE TABLE IF NOT EXISTS identifiers (
    kind TEXT NOT NULL CHECK (kind IN ('phone', 'email')),
    value TEXT NOT NULL CHECK (value <> ''),
    profile INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, value)
) WITHOUT ROWID;
"""


class TwoPeople(Exception):
    """The identifiers belong to different kept profiles."""


class Store:
    """Kept profiles; one connection, used by one thread at a time."""

    def __init__(self, path: Path | None = None) -> None:
        if path is not None:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path or ":memory:", check_same_thread=False, timeout=10)
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA secure_delete = ON")
        self._connection.executescript(_SCHEMA)

    def find(self, identifiers: Mapping[str, Any]) -> dict[str, Any] | None:
        """The profile under these identifiers, or None."""
        with self._lock:
            try:
                number = self._number(identifiers)
            except TwoPeople:
                return None
            return None if number is None else self._fields(number)

    def change(
        self, identifiers: Mapping[str, Any], fields: Mapping[str, Any], removed: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """Make or change the profile under these identifiers, and return it whole.

        `fields` replace those of the same name, `removed` go. Raises `TwoPeople`, and `ValueError` without identifier.
        """
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            number = self._number(identifiers)
            before = {} if number is None else self._fields(number)
            after = {name: value for name, value in {**before, **fields}.items() if name not in removed}
            after |= {kind: before[kind] for kind in IDENTIFIERS if kind in before and kind not in after}
            if not _named(after):
                raise ValueError("a profile is kept under a phone number or an e-mail address")
            if self._number(after) not in (None, number):
                raise TwoPeople
            if number is None:
                number = self._connection.execute("INSERT INTO profiles (fields) VALUES ('{}')").lastrowid
            self._connection.execute("UPDATE profiles SET fields = ? WHERE id = ?", (json.dumps(after), number))
            self._connection.execute("DELETE FROM identifiers WHERE profile = ?", (number,))
            rows = [(kind, value, number) for kind, value in _named(after)]
            self._connection.executemany("INSERT INTO identifiers (kind, value, profile) VALUES (?, ?, ?)", rows)
            return after

    def forget(self, identifiers: Mapping[str, Any]) -> bool:
        """Delete the profile under these identifiers; whether there was one. Raises `TwoPeople`."""
        with self._lock, self._connection:
            number = self._number(identifiers)
            self._connection.execute("DELETE FROM profiles WHERE id = ?", (number,))
            return number is not None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _number(self, identifiers: Mapping[str, Any]) -> int | None:
        query = "SELECT profile FROM identifiers WHERE kind = ? AND value = ?"
        found = {row[0] for pair in _named(identifiers) for row in self._connection.execute(query, pair)}
        if len(found) > 1:
            raise TwoPeople
        return found.pop() if found else None

    def _fields(self, number: int) -> dict[str, Any]:
        (text,) = self._connection.execute("SELECT fields FROM profiles WHERE id = ?", (number,)).fetchone()
        fields: dict[str, Any] = json.loads(text)
        return fields


def _named(identifiers: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(kind, value) of each identifier, as it is stored."""
    return [(kind, str(identifiers[kind]).casefold()) for kind in IDENTIFIERS if identifiers.get(kind)]


_opened: list[Store] = []


def keep_in(path: Path | None) -> None:
    """Keep profiles in this file from now on; None keeps them in memory, until the process ends."""
    while _opened:
        _opened.pop().close()
    _opened.append(Store(path))


def kept() -> Store:
    """The store of this process."""
    if not _opened:
        keep_in(None)
    return _opened[0]
