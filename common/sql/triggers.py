"""Rules that live in the database as triggers, for SQLite and PostgreSQL alike."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

_REFUSE_FUNCTION = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$
"""


@dataclass(frozen=True)
class Rule:
    """Refuse `event` (INSERT, UPDATE, DELETE or TRUNCATE) on `table` where `condition` over OLD and NEW holds."""

    table: str
    name: str
    event: str
    message: str
    condition: str = ""

    @property
    def trigger(self) -> str:
        return f"{self.table}_{self.name}"

    def statements(self, vendor: str) -> list[str]:
        """The statements that (re)install this rule; none where the database has no such event."""
        if vendor == "postgresql":
            level = "STATEMENT" if self.event == "TRUNCATE" else "ROW"
            when = f"WHEN ({self.condition})" if self.condition else ""
            return [
                f'DROP TRIGGER IF EXISTS "{self.trigger}" ON "{self.table}"',
                f'CREATE TRIGGER "{self.trigger}" BEFORE {self.event} ON "{self.table}" '
                f"FOR EACH {level} {when} EXECUTE FUNCTION refuse_change('{self.message}')",
            ]
        if self.event == "TRUNCATE":
            return []
        # SQLite spells the null-safe comparison IS NOT; IS DISTINCT FROM came only with 3.39.
        when = f"WHEN {self.condition.replace('IS DISTINCT FROM', 'IS NOT')}" if self.condition else ""
        return [
            f'DROP TRIGGER IF EXISTS "{self.trigger}"',
            f'CREATE TRIGGER "{self.trigger}" BEFORE {self.event} ON "{self.table}" {when} '
            f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END",
        ]


def append_only(table: str) -> list[Rule]:
    """Rows are added and never changed or removed."""
    return [
        Rule(table, f"no_{event.lower()}", event, f"{table} is append-only")
        for event in ("UPDATE", "DELETE", "TRUNCATE")
    ]


def frozen(table: str, columns: Iterable[str]) -> Rule:
    """These columns keep the value they were inserted with."""
    condition = " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in columns)
    return Rule(table, "frozen", "UPDATE", f"{table}: what was written once does not change", condition)


def transitions(table: str, allowed: Mapping[Any, Iterable[str]], column: str = "status") -> Rule:
    """`column` moves only as the lifecycle table `allowed` says; nothing leaves an end state."""
    moves = [f"(OLD.{column} = '{old}' AND NEW.{column} = '{new}')" for old, news in allowed.items() for new in news]
    legal = " OR ".join(sorted(moves))
    condition = f"OLD.{column} <> NEW.{column} AND NOT ({legal})"
    return Rule(table, "lifecycle", "UPDATE", f"{table}: no such move in the lifecycle", condition)


def install_rules(database: BaseDatabaseWrapper, rules: Iterable[Rule]) -> None:
    """Install every rule whose table exists."""
    tables = set(database.introspection.table_names())
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            cursor.execute(_REFUSE_FUNCTION)
        for rule in rules:
            if rule.table in tables:
                for statement in rule.statements(database.vendor):
                    cursor.execute(statement)


def missing_rules(database: BaseDatabaseWrapper, rules: Iterable[Rule]) -> list[str]:
    """The names of the triggers that should be in the database and are not."""
    known = (
        "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        if database.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with database.cursor() as cursor:
        cursor.execute(known)
        present = {row[0] for row in cursor.fetchall()}
    return sorted(rule.trigger for rule in rules if rule.statements(database.vendor) and rule.trigger not in present)
