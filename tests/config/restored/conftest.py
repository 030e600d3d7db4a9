"""A world whose log is signed and mirrored."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.sqlite3.introspection import DatabaseIntrospection

from consent.log.sequencing import sequence_and_sign
from tests.consent.verification.world import World, made_world, shared_world

__all__ = ["made_world", "shared_world"]  # fixtures


@pytest.fixture
def mirror(settings: Any, tmp_path: Path) -> Path:
    settings.LOG_MIRROR = str(tmp_path / "mirror")
    return tmp_path / "mirror"


@pytest.fixture
def world(shared_world: World, mirror: Path) -> World:
    sequence_and_sign()
    return shared_world


@pytest.fixture(autouse=True)
def _each_schema_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django reads constraints out of SQLite's text of a table, which takes longer than all the rest."""
    if connection.vendor == "sqlite":
        monkeypatch.setattr(DatabaseIntrospection, "get_constraints", _constraints)


_PARSED: dict[tuple[str, ...], Any] = {}
_read = DatabaseIntrospection.get_constraints


def _constraints(self: DatabaseIntrospection, cursor: Any, table: str) -> Any:
    cursor.execute("SELECT sql FROM sqlite_master WHERE tbl_name = %s AND type <> 'trigger' ORDER BY name", [table])
    schema = (table, *(str(sql) for (sql,) in cursor.fetchall()))
    if schema not in _PARSED:
        _PARSED[schema] = _read(self, cursor, table)
    return _PARSED[schema]
