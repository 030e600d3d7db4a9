"""Counters kept in rows: add, and know the sum.

The ORM's own way, `update_or_create` with `F("count") + 1`, is a read, a write and a savepoint, two callers may meet in
between, and nobody learns the sum. It made a first discovery take 1.5 times as long (docs/adr/0019).
"""

from collections.abc import Mapping
from typing import Any

from django.db import connection, models


def add_to_count(
    model: type[models.Model], *, key: Mapping[str, Any], latest: Mapping[str, Any] = {}, first: Mapping[str, Any] = {}
) -> int:
    """Add 1 to `count` of the row with this unique key, made where it is missing, and return the sum.

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
