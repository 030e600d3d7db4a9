"""What PostgreSQL and SQLite spell differently, so that a statement is written once and no action names a database."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, CharField, DateTimeField, Func, Lookup, TextField, Value
from django.db.models.sql.compiler import SQLCompiler

_LAST = "\U0010ffff"  # after every character that a text may go on with


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


class Joined(Aggregate):
    """The same for the ORM: a text column's values with a space between, None where there are none."""

    function = "string_agg"
    template = "%(function)s(%(expressions)s, ' ')"
    output_field = TextField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, function="group_concat")


class ClockTimestamp(Func):
    """The clock for the ORM. `Now()` is when the statement began, so before whatever it waited for."""

    function = "clock_timestamp"
    output_field = DateTimeField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> tuple[str, Any]:
        return compiler.compile(Value(datetime.now(UTC), output_field=DateTimeField()))


@CharField.register_lookup
class Begins(Lookup):
    """The lookup `begins`: what starts with these characters, case and `%` as they are, by the column's plain index.

    `startswith` cannot use one on SQLite, whose LIKE ignores case; a range in PostgreSQL would follow the collation of
    the database. On PostgreSQL it is LIKE, for which Django makes an index of its own with `db_index` or `unique`.
    """

    lookup_name = "begins"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} LIKE %s", [*parameters, f"{connection.ops.prep_for_like_query(self.rhs)}%"]

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> tuple[str, Any]:
        column, parameters = self.process_lhs(compiler, connection)
        both = [*parameters, self.rhs, *parameters, f"{self.rhs}{_LAST}"]
        return f"({column} >= %s AND {column} < %s)", both
