"""What the programs of the neighbourhood keep: named JSON objects in one SQLite file, or in memory."""

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

_TABLE = """
CREATE TABLE IF NOT EXISTS kept (
    place INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL,
    UNIQUE (kind, name)
)
"""
_MOST = 2_000  # of one kind; the oldest go


class Store:
    """Objects by kind and name, in the order in which they first came. Several processes may use one file."""

    def __init__(self, path: Path | None = None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)  # it holds what stands in for secrets
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path or ":memory:", timeout=10, check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA synchronous = OFF")  # nothing here is worth waiting for the disk
        self._database.execute(_TABLE)

    def add(self, kind: str, name: str, content: dict[str, Any]) -> bool:
        """Keep a new object; False where there is one of this name, which stays as it is."""
        added = self._run(
            "INSERT OR IGNORE INTO kept (kind, name, content) VALUES (?, ?, ?)", kind, name, _json(content)
        )
        self._run(
            "DELETE FROM kept WHERE kind = ? AND place <= (SELECT place FROM kept WHERE kind = ? ORDER BY place DESC"
            " LIMIT 1 OFFSET ?)",
            kind, kind, _MOST,
        )  # fmt: skip
        return added == 1

    def change(self, kind: str, name: str, content: dict[str, Any]) -> None:
        """Put `content` in the place of what this name holds."""
        self._run("UPDATE kept SET content = ? WHERE kind = ? AND name = ?", _json(content), kind, name)

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        found = self._rows("SELECT content FROM kept WHERE kind = ? AND name = ?", kind, name)
        return found[0] if found else None

    def take(self, kind: str, name: str) -> dict[str, Any] | None:
        """The object, which is gone afterwards: of two who ask at once, one gets it."""
        found = self._rows("DELETE FROM kept WHERE kind = ? AND name = ? RETURNING content", kind, name)
        return found[0] if found else None

    def newest(self, kind: str, most: int = 100) -> list[dict[str, Any]]:
        return self._rows("SELECT content FROM kept WHERE kind = ? ORDER BY place DESC LIMIT ?", kind, most)

    def named(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """All of this kind with their names, the oldest first."""
        with self._lock:
            found = self._database.execute("SELECT name, content FROM kept WHERE kind = ? ORDER BY place", (kind,))
            return [(str(name), json.loads(content)) for name, content in found]

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def _run(self, statement: str, *parameters: Any) -> int:
        with self._lock:
            return self._database.execute(statement, parameters).rowcount

    def _rows(self, statement: str, *parameters: Any) -> list[dict[str, Any]]:
        with self._lock:
            found = self._database.execute(statement, parameters).fetchall()
        return [json.loads(row[0]) for row in found]


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content)
