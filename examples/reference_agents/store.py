"""The profiles that the agents keep: one SQLite file, or memory that ends with the process.

A profile is found by its identifiers, phone (E.164) and e-mail address (case folded). Identifiers of two kept people in
one prompt find nobody, so that no prompt mixes them. Every value has the consent under which it was given, so that what
came under one of them can go with it, and what came under another one stays.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examples.reference_agents.prompts import Call

IDENTIFIERS = ("phone", "email")
_SCHEMA = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS fields (
    profile INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL CHECK (json_valid(value)),
    consent TEXT NOT NULL, at REAL NOT NULL, person TEXT NOT NULL, PRIMARY KEY (profile, name, consent)
);
CREATE INDEX IF NOT EXISTS identifiers ON fields (name, value) WHERE name IN ('phone', 'email');
"""
_FORGET = """
DELETE FROM fields WHERE profile = :profile AND (:consent IS NULL OR consent = :consent) AND at < :before
AND (person = :person OR person = '' OR :person = '') AND name NOT IN ('phone', 'email')
"""


class Store:
    """Kept profiles; one connection, used by one thread at a time."""

    def __init__(self, path: Path | None = None) -> None:
        if path is not None:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path or ":memory:", check_same_thread=False, timeout=10)
        self._connection.executescript(_SCHEMA)

    def find(self, known: Mapping[str, Any]) -> dict[str, Any] | None:
        """The profile under these identifiers; None where there is none, or where there are two."""
        with self._lock:
            found = self._numbers(known)
            return self._profile(found.pop()) if len(found) == 1 else None

    def change(
        self, known: Mapping[str, Any], fields: Mapping[str, Any], removed: frozenset[str] = frozenset(), *, by: Call
    ) -> None:
        """Make or change the profile under the identifiers in `known`.

        `fields`, given under the consent of `by`, replace those of the same name; `removed` go. Raises `ValueError`
        where there is no identifier, and where identifiers are of different kept profiles.
        """
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            found = self._numbers(known) | self._numbers(fields)
            if len(found) > 1 or not (found or _named(fields)):
                raise ValueError("a profile is kept under the phone number or e-mail address of one person")
            [last] = self._connection.execute("SELECT coalesce(max(profile), 0) FROM fields").fetchone()
            number = found.pop() if found else last + 1
            gone = [(number, name) for name in {*removed, *IDENTIFIERS & fields.keys()}]
            self._connection.executemany("DELETE FROM fields WHERE profile = ? AND name = ?", gone)
            values = {**{name: json.dumps(value) for name, value in fields.items()}, **dict(_named(fields))}
            rows = [(number, name, value, by.consent, by.at, by.person) for name, value in values.items()]
            self._connection.executemany("INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?, ?, ?)", rows)

    def forget(self, known: Mapping[str, list[str]], *, consent: str | None, before: float, person: str) -> int:
        """Delete what was given before then, under this consent or, without one, under any of this person's; how many
        fields went.

        `known` says where to look: what another `sub` gave there is another person's, and stays. A profile of which
        identifiers alone are left goes as a whole.
        """
        which, deleted = {"consent": consent, "before": before, "person": person}, 0
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            pairs = [{kind: value} for kind, values in known.items() for value in values]
            for number in {found for pair in pairs for found in self._numbers(pair)}:
                deleted += len(self._profile(number))
                self._connection.execute(_FORGET, {**which, "profile": number})
                if self._profile(number).keys() <= set(IDENTIFIERS):
                    self._connection.execute("DELETE FROM fields WHERE profile = ?", (number,))
                deleted -= len(self._profile(number))
        return deleted

    def _numbers(self, known: Mapping[str, Any]) -> set[int]:
        query = "SELECT profile FROM fields WHERE name = ? AND value = ? AND name IN ('phone', 'email')"
        return {row[0] for pair in _named(known) for row in self._connection.execute(query, pair)}

    def _profile(self, number: int) -> dict[str, Any]:
        """Field → value, of several consents what was given last."""
        query = "SELECT name, value FROM fields WHERE profile = ? ORDER BY rowid"
        return {name: json.loads(value) for name, value in self._connection.execute(query, (number,))}


def _named(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, value) of each identifier, as it is stored."""
    return [(kind, json.dumps(str(known[kind]).casefold())) for kind in IDENTIFIERS if known.get(kind)]


_opened: list[Store] = []


def keep_in(path: Path | None) -> None:
    """Keep profiles in this file from now on; None keeps them in memory, until the process ends."""
    _opened[:] = [Store(path)]


def kept() -> Store:
    if not _opened:
        keep_in(None)
    return _opened[0]
