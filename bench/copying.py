"""Rows by COPY: those of a template, each with some columns of its own. Foreign keys and triggers are off meanwhile."""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import JSONField, Model

Row = dict[str, Any]


@contextmanager
def without_triggers(cursor: Any) -> Iterator[None]:
    """Nothing is checked of what is copied within this."""
    cursor.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        cursor.execute("SET session_replication_role = DEFAULT")


def copy(cursor: Any, template: Model, rows: Iterable[Row], of: str) -> None:
    """Copy rows that differ from the template by the columns that they name. All of them name the same."""
    began, fields = time.monotonic(), template._meta.concrete_fields
    values = {field.column: _plain(field, template) for field in fields}
    columns = ", ".join(f'"{column}"' for column in values)
    copied = 0
    with cursor.copy(f'COPY "{template._meta.db_table}" ({columns}) FROM STDIN') as target:
        for row in rows:
            target.write_row(tuple({**values, **row}.values()))
            copied += 1
    seconds = time.monotonic() - began
    sys.stderr.write(f"  {of}: {template._meta.db_table}, {copied:,} rows in {seconds:.0f} s\n")


def _plain(field: Any, template: Model) -> Any:
    value = getattr(template, field.attname)
    if isinstance(field, JSONField):
        return None if value is None else json.dumps(value)
    return field.pre_save(template, add=True) if hasattr(field, "auto_now") else value


def number_on(cursor: Any) -> None:
    """The rows that are written from now on are numbered after all of these."""
    cursor.execute(
        "SELECT format('SELECT setval(%L, (SELECT max(id) FROM %I))', pg_get_serial_sequence(quote_ident(table_name), "
        "'id'), table_name) FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'id' "
        "AND pg_get_serial_sequence(quote_ident(table_name), 'id') IS NOT NULL"
    )
    for (statement,) in cursor.fetchall():
        cursor.execute(statement)
