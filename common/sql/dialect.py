"""What PostgreSQL and SQLite spell differently, so that a statement is written once and no action names a database."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, Func, Value
from django.db.models.sql.compiler import SQLCompiler


class Clock(NamedTuple):
    """The database's clock as a part of a statement, and the parameters that the statement needs for it."""

    sql: str
    parameters: dict[str, Any]


def clock() -> Clock:
    """PostgreSQL reads its own when it looks at a row; SQLite runs in this process, whose clock is its clock."""
    if connection.vendor == "postgresql":
        return Clock("clock_timestamp()", {})
    return Clock("%(now)s", {"now": timestamp(datetime.now(UTC))})


def timestamp(moment: datetime) -> Any:
    """A time as a parameter of a statement in SQL."""
    return connection.ops.adapt_datetimefield_value(moment)


def joined(column: str) -> str:
    """The aggregate of a text column, with a space between."""
    return f"{'string_agg' if connection.vendor == 'postgresql' else 'group_concat'}({column}, ' ')"


def rows_of_json(table: str, names: Sequence[str]) -> str:
    """A SELECT of these columns of `table` out of its one parameter, a JSON array of objects."""
    if connection.vendor == "postgresql":
        return f"SELECT {', '.join(names)} FROM json_populate_recordset(NULL::{table}, %s)"  # noqa: S608  # our own names
    columns = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in names)
    return f"SELECT {columns} FROM json_each(%s)"  # noqa: S608  # our own names


class ClockTimestamp(Func):
    """The same clock for the ORM. `Now()` is when the statement began, so before whatever it waited for."""

    function = "clock_timestamp"
    output_field = DateTimeField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> tuple[str, Any]:
        return compiler.compile(Value(datetime.now(UTC), output_field=DateTimeField()))
