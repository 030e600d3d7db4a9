"""Rows inserted by a statement that is put together once for each model.

One row, the hot write of asking:
The plain code is `row.save(force_insert=True)`; tests/consent/test_hot_reads.py compares the two. The ORM compiles the
same INSERT anew for every row, which costs `POST /request-consent` 13 % more processor time (docs/adr/0019).

Many rows, as JSON in one parameter: `bulk_create` takes a tenth of a hot read for each row, and this takes the tenth
of that. It writes down ends with 0.7 of the processor time.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import orjson
from django.db import connection, models

from common.sql.dialect import rows_of_json, timestamp

# fields whose values both databases take as they are; a list or a time, for example, is converted first
_AS_THEY_ARE = (models.CharField, models.TextField, models.IntegerField, models.BooleanField, models.ForeignKey)


def insert_row(row: models.Model) -> None:
    """Store a new row. Sends no signals, and does not learn the key that the row was given."""
    statement, fields = _insert_into(type(row))
    values = [
        field.get_db_prep_save(getattr(row, name), connection) if is_converted else getattr(row, name)
        for field, name, is_converted in fields
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@cache
def _insert_into(model: type[models.Model]) -> "tuple[str, list[tuple[models.Field[object, object], str, bool]]]":
    """The statement, and for each value its field, its attribute, and whether a database takes it in another form."""
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(str(field.column) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({places})"  # noqa: S608  # its own names
    return statement, [(field, field.attname, not isinstance(field, _AS_THEY_ARE)) for field in fields]


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
    told = f" RETURNING {', '.join(returning)}" if returning else ""
    return f"INSERT INTO {table} ({', '.join(names)}) {rows_of_json(table, names)}{told}"


def update_texts(model: type[models.Model], name: str, values: Mapping[int, str]) -> None:
    """Set a text column of many rows, each to a value of its own by its key: `bulk_update` without its CASE for each.

    Sends no signals.
    """
    table, pk = model._meta.db_table, "id"
    new = rows_of_json(table, (pk, name))
    statement = f"UPDATE {table} SET {name} = new.{name} FROM ({new}) new WHERE {table}.{pk} = new.{pk}"  # noqa: S608  # our own names
    with connection.cursor() as cursor:
        cursor.execute(statement, [orjson.dumps([{pk: key, name: value} for key, value in values.items()]).decode()])
