"""What a database has besides its rows: migrations, tables with constraints and indexes, triggers and sequences."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import AutoField, Model
from django.db.utils import IntegrityError

from accounts.hooks import room_erasures
from common.sql.triggers import present_triggers
from config.checks import unknown_migrations
from config.probes import wanted_migrations
from config.restored.lines import Line, fails, left_out, passes
from config.rules import wanted_triggers

_MIGRATE = "run `migrate` as the owner of the tables"
_SEQUENCES = """
SELECT s.relname, t.relname, a.attname FROM pg_depend d
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
JOIN pg_class t ON t.oid = d.refobjid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
  AND t.relnamespace = 'public'::regnamespace ORDER BY s.relname
"""
# one row, of the number that it was made with
_NUMBERED_BY_HAND = {"consent_log_state", "consent_reads_forgotten", "pkm_registry_version"}
_UNSURE = """
SELECT t.relname || '.' || c.conname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
WHERE c.connamespace = 'public'::regnamespace AND NOT c.convalidated
UNION ALL SELECT t.relname || '.' || i.relname FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
WHERE t.relnamespace = 'public'::regnamespace AND NOT (x.indisvalid AND x.indisready)
ORDER BY 1
"""


def check_migrations() -> Iterator[Line]:
    """Every migration of this version is applied, and none that it does not know."""
    wanted, applied = wanted_migrations(), set(MigrationRecorder(connection).applied_migrations())
    for label, name in sorted(wanted - applied):
        yield fails("migrations", f"{label}.{name} is not applied: {_MIGRATE}")
    for label, name in (unknown := unknown_migrations(applied)):
        yield fails("migrations", f"{label}.{name} is of another version: start the version that made the backup")
    if wanted <= applied and not unknown:
        yield passes("migrations", f"all {len(wanted)} are applied")


def check_constraints() -> Iterator[Line]:
    """Every table with all constraints and indexes of its model, none of them unchecked; and no key leads nowhere."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    missing = [name for model in models for name in _missing_of(model)]
    missing += [f"{name} (not valid)" for name in _unsure()]
    for name in missing:
        yield fails("constraints", f"{name} is missing: restore again, with every error of it looked at")
    try:
        connection.check_constraints()  # SQLite looks through all rows; PostgreSQL did when the constraint was made
    except IntegrityError as error:
        missing.append(str(error))
        yield fails("constraints", str(error))
    if not missing:
        yield passes("constraints", f"{len(models)} tables have all of theirs")


def _missing_of(model: type[Model]) -> list[str]:
    """Names of constraints and indexes; columns where the database chose the name."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return [table]
        found = connection.introspection.get_constraints(cursor, table)
    named = [each.name for each in (*model._meta.constraints, *model._meta.indexes)]
    missing = [name for name in named if name not in found]
    kept = list(found.values())
    for field in model._meta.local_concrete_fields:
        own = [each for each in kept if each["columns"] == [field.column]]
        if field.primary_key:
            if not any(each["primary_key"] for each in own):
                missing.append(f"{field.column} as primary key")
        elif field.unique and not any(each["unique"] for each in own):
            missing.append(f"{field.column} as unique")
        refers = field.remote_field and getattr(field, "db_constraint", True)
        if refers and not any(each["foreign_key"] for each in own):
            missing.append(f"{field.column} as foreign key")
    return [f"{table}.{name}" for name in missing]


def _unsure() -> list[str]:
    """Constraints that PostgreSQL has not looked through the rows for, and indexes that it does not use."""
    return [name for (name,) in _rows(_UNSURE)] if connection.vendor == "postgresql" else []


def check_rules() -> Iterator[Line]:
    """Every trigger of the service is there and switched on; on PostgreSQL also the functions that erase a person."""
    wanted = wanted_triggers(connection.vendor)
    missing = sorted(wanted - present_triggers(connection))
    if connection.vendor == "postgresql":
        names = [f"{room.rows.name}(bigint)" for room in room_erasures()]
        missing += [name for name in names if _rows("SELECT to_regprocedure(%s) IS NULL", [name]) == [(True,)]]
    for name in missing:
        yield fails("rules", f"{name} is missing or switched off: {_MIGRATE}")
    if not missing:
        yield passes("rules", f"{len(wanted)} triggers are in force")


def check_sequences() -> Iterator[Line]:
    """On PostgreSQL every numbered column has its sequence, and none would hand out a number that is taken."""
    if connection.vendor != "postgresql":
        yield left_out("sequences", "SQLite takes the next number from the rows")
        return
    found = _rows(_SEQUENCES)
    wrong = [*_without_sequence({(table, column) for _, table, column in found}), *_behind(found)]
    yield from (fails("sequences", text) for text in wrong)
    if not wrong:
        yield passes("sequences", f"{len(found)} are past the highest number of their tables")


def _without_sequence(found: set[tuple[str, str]]) -> Iterator[str]:
    for model in apps.get_models(include_auto_created=True):
        key, table = model._meta.pk, model._meta.db_table
        if isinstance(key, AutoField) and (table, key.column) not in found:
            yield f"{table}.{key.column} has none: restore again, with every error of it looked at"


def _behind(found: list[tuple[Any, ...]]) -> Iterator[str]:
    quote = connection.ops.quote_name
    for sequence, table, column in found:
        if table in _NUMBERED_BY_HAND:
            continue
        query = (  # names of the catalogue, quoted
            f"SELECT CASE WHEN s.is_called THEN s.last_value + 1 ELSE s.last_value END, "  # noqa: S608
            f"(SELECT max({quote(column)}) FROM {quote(table)}) FROM {quote(sequence)} s"
        )
        ((following, highest),) = _rows(query)
        if highest is not None and following <= highest:
            repair = f"SELECT setval('{sequence}', {highest})"
            yield f"{sequence} goes on with {following}, and {table} has {highest}: run `{repair};`"


def _rows(statement: str, parameters: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [tuple(row) for row in cursor.fetchall()]
