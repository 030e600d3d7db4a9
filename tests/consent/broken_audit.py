"""The audit away, for real: its table refuses every new entry, as a lost privilege or a full disk would."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_POSTGRESQL = (
    "CREATE OR REPLACE FUNCTION audit_is_away() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'disk full'; END $$",
    "CREATE TRIGGER away BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION audit_is_away()",
)
_SQLITE = ("CREATE TRIGGER away_{table} BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'disk full'); END",)


def refuse_rows(table: str, event: str, condition: str) -> None:
    """From here on `table` refuses INSERT or UPDATE of the rows of which `condition`, on OLD or NEW, is true.

    For a test whose transaction is rolled back.
    """
    on_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if on_postgresql:
            cursor.execute(_POSTGRESQL[0])
        when = "FOR EACH ROW WHEN ({}) EXECUTE FUNCTION audit_is_away()" if on_postgresql else "WHEN {} {}"
        raises = "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        cursor.execute(f"CREATE TRIGGER some_away BEFORE {event} ON {table} {when.format(condition, raises)}")


@contextmanager
def audit_away(*tables: str) -> Iterator[None]:
    """`consent_audit`, where no other table is named, refuses every INSERT while this lasts."""
    tables = tables or ("consent_audit",)
    on_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        for table in tables:
            for statement in _POSTGRESQL if on_postgresql else _SQLITE:
                cursor.execute(statement.format(table=table))
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"DROP TRIGGER away ON {table}" if on_postgresql else f"DROP TRIGGER away_{table}")
