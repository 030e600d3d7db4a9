"""The lookup `begins`: what starts with these characters, by the plain index of the column.

`startswith` cannot use one on SQLite, whose LIKE ignores case; a range in PostgreSQL would follow the collation of the
database. On PostgreSQL it is LIKE, for which Django makes an index of its own on text with `db_index` or `unique`.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Lookup
from django.db.models.sql.compiler import SQLCompiler

_LAST = "\U0010ffff"  # after every character that a text may go on with


@CharField.register_lookup
class Begins(Lookup):
    """Characters count as they are: case, `%` and `_` too."""

    lookup_name = "begins"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} LIKE %s", [*parameters, f"{connection.ops.prep_for_like_query(self.rhs)}%"]

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any) -> tuple[str, Any]:
        column, parameters = self.process_lhs(compiler, connection)
        both = [*parameters, self.rhs, *parameters, f"{self.rhs}{_LAST}"]
        return f"({column} >= %s AND {column} < %s)", both
