"""Inserts many rows by one statement, as JSON in one parameter; raises counters and answers with the new sum.

`bulk_create` takes ten times as long for each row.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from django.db import connection, models

from common.sql.dialect import rows_of_json, timestamp


def insert_rows(
    model: type[models.Model], rows: Sequence[Mapping[str, Any]], *, returning: Sequence[str] = ()
) -> list[tuple[Any, ...]]:
    """Store rows that all give the same columns: texts, numbers, aware times and JSON. Sends no signals.

    Returns the columns of `returning` of each, in any order.
    """
    if not rows:
        return []
    statement = _insert_json(model, tuple(rows[0]), tuple(returning))
    with connection.cursor() as cursor:
        cursor.execute(statement, [orjson.dumps([_as_json(row) for row in rows]).decode()])
        return list(cursor.fetchall()) if returning else []


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(timestamp(value)) if isinstance(value, datetime) else value for name, value in row.items()}


@cache
def _insert_json(model: type[models.Model], names: tuple[str, ...], returning: tuple[str, ...]) -> str:
    table = model._meta.db_table
    suffix = f" RETURNING {', '.join(returning)}" if returning else ""
    return f"INSERT INTO {table} ({', '.join(names)}) {rows_of_json(table, names)}{suffix}"


def update_texts(model: type[models.Model], name: str, values: Mapping[int, str]) -> None:
    """Set a text column of many rows, each to a value of its own by its key: `bulk_update` without its CASE for each.

    Sends no signals.
    """
    table, pk = model._meta.db_table, "id"
    new = rows_of_json(table, (pk, name))
    statement = f"UPDATE {table} SET {name} = new.{name} FROM ({new}) new WHERE {table}.{pk} = new.{pk}"  # noqa: S608  # our own names
    with connection.cursor() as cursor:
        cursor.execute(statement, [orjson.dumps([{pk: key, name: value} for key, value in values.items()]).decode()])


def add_to_count(
    model: type[models.Model], *, key: Mapping[str, Any], latest: Mapping[str, Any] = {}, first: Mapping[str, Any] = {}
) -> int:
    """Add 1 to `count` of the row with this unique key, made where it is missing, and return the sum.

    The ORM's own way, `update_or_create` with `F("count") + 1`, is a read, a write and a savepoint, two callers may
    meet in between, and nobody learns the sum. It made a first discovery take 1.5 times as long (docs/adr/0019).
    `latest` are columns that every count sets, `first` those that stay as the first one set them. One statement, so of
    many callers at once each gets a sum of its own.
    """
    given = {**key, **first, **latest, "count": 1}
    fields = {name: model._meta.get_field(name) for name in given}
    columns = {name: str(field.column) for name, field in fields.items()}  # type: ignore[union-attr]  # plain columns
    table = model._meta.db_table
    values = [fields[name].get_db_prep_save(value, connection) for name, value in given.items()]  # type: ignore[union-attr]
    changes = [f"count = {table}.count + 1", *(f"{columns[name]} = excluded.{columns[name]}" for name in latest)]
    statement = (
        f"INSERT INTO {table} ({', '.join(columns.values())}) VALUES ({', '.join(['%s'] * len(columns))}) "  # noqa: S608  # names of columns
        f"ON CONFLICT ({', '.join(columns[name] for name in key)}) DO UPDATE SET {', '.join(changes)} RETURNING count"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.fetchone()[0])
