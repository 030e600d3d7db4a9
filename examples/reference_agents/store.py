"""The profiles that the agents keep: one SQLite file, or memory that ends with the process.

A profile is found by its identifiers, phone (E.164) and e-mail address (case folded). Identifiers of two kept people in
one prompt find nobody, so that no prompt mixes them. Of each field it is known under which consents it was given,
when and by whom, so that what came under one of them can go with it, and what is somebody else's by now stays.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

IDENTIFIERS = ("phone", "email")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS profiles (
    id INTEGER PRIMARY KEY, fields TEXT NOT NULL CHECK (json_valid(fields)),
    given TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(given))
);
CREATE TABLE IF NOT EXISTS identifiers (
    kind TEXT NOT NULL CHECK (kind IN ('phone', 'email')),
    value TEXT NOT NULL CHECK (value <> ''),
    profile INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
    PRIMARY KEY (kind, value)
) WITHOUT ROWID;
"""


_under: ContextVar[tuple[str, float, str]] = ContextVar("under", default=("", 0.0, ""))


class TwoPeople(Exception):
    """The identifiers belong to different kept profiles."""


@contextmanager
def given_under(consent: str, at: float, person: str = "") -> Iterator[None]:
    """What is kept until this ends was given under this consent, at this time (seconds since 1970), by this `sub`."""
    token = _under.set((consent, at, person))
    try:
        yield
    finally:
        _under.reset(token)


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
            given = self._given(int(number or 0))
            for name in fields:
                given[name] = [*(one for one in given.get(name, []) if one[0] != _under.get()[0]), list(_under.get())]
            self._write(int(number or 0), after, given)
            return after

    def forget(self, identifiers: Mapping[str, Any]) -> bool:
        """Delete the profile under these identifiers; whether there was one. Raises `TwoPeople`."""
        with self._lock, self._connection:
            number = self._number(identifiers)
            self._connection.execute("DELETE FROM profiles WHERE id = ?", (number,))
            return number is not None

    def forget_given(
        self, identifiers: Mapping[str, list[str]], *, consent: str | None, before: float, person: str = ""
    ) -> int:
        """Delete what was given before then, under this consent or, without one, under any of this person's; how many
        fields went.

        `identifiers` say where to look: what another `sub` gave there is another person's, and stays. A field of which
        no consent is known goes, too. A profile of which identifiers alone are left goes as a whole.
        """
        deleted = 0

        def stays(under: str, at: float, by: str = "") -> bool:
            return (consent or under) != under or at >= before or (by or person) != (person or by)

        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            pairs = [(kind, value) for kind, values in identifiers.items() for value in values]
            for number in {found for kind, value in pairs for found in self._numbers({kind: value})}:
                fields, given = self._fields(number), self._given(number)
                left = {name: [one for one in given.get(name, []) if stays(*one)] for name in fields}
                kept_ones = {name: value for name, value in fields.items() if left[name] or name in IDENTIFIERS}
                if kept_ones.keys() <= set(IDENTIFIERS) and not any(left.values()):
                    kept_ones = {}
                deleted += len(fields) - len(kept_ones)
                if kept_ones:
                    self._write(number, kept_ones, {name: left[name] for name in kept_ones if left[name]})
                else:
                    self._connection.execute("DELETE FROM profiles WHERE id = ?", (number,))
        return deleted

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _write(self, number: int, fields: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        known = json.dumps({name: given[name] for name in fields if name in given})
        written = (json.dumps(fields), known, number)
        self._connection.execute("UPDATE profiles SET fields = ?, given = ? WHERE id = ?", written)
        self._connection.execute("DELETE FROM identifiers WHERE profile = ?", (number,))
        rows = [(kind, value, number) for kind, value in _named(fields)]
        self._connection.executemany("INSERT INTO identifiers (kind, value, profile) VALUES (?, ?, ?)", rows)

    def _numbers(self, identifiers: Mapping[str, Any]) -> set[int]:
        query = "SELECT profile FROM identifiers WHERE kind = ? AND value = ?"
        return {row[0] for pair in _named(identifiers) for row in self._connection.execute(query, pair)}

    def _number(self, identifiers: Mapping[str, Any]) -> int | None:
        found = self._numbers(identifiers)
        if len(found) > 1:
            raise TwoPeople
        return found.pop() if found else None

    def _fields(self, number: int) -> dict[str, Any]:
        (text,) = self._connection.execute("SELECT fields FROM profiles WHERE id = ?", (number,)).fetchone()
        fields: dict[str, Any] = json.loads(text)
        return fields

    def _given(self, number: int) -> dict[str, list[list[Any]]]:
        """Field → [consent, time, person] of each consent under which it was given."""
        (text,) = self._connection.execute("SELECT given FROM profiles WHERE id = ?", (number,)).fetchone()
        given: dict[str, list[list[Any]]] = json.loads(text)
        return given


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
