"""Rules that live in the database as triggers, for SQLite and PostgreSQL alike."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

_REFUSE_FUNCTION = """
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END $$
"""


# Whether this statement is of a function of erasing.py: such a function alone runs as the owner and with this setting.
# Anybody can make the setting, and only the owner is the owner.
IS_ERASING_FUNCTION = """
CREATE OR REPLACE FUNCTION is_erasing() RETURNS boolean LANGUAGE sql STABLE AS $$
SELECT coalesce(current_setting('consent.erasing', true), '') = 'on' AND current_user = (
    SELECT pg_get_userbyid(relowner) FROM pg_catalog.pg_class WHERE oid = to_regclass('public.erasures')) $$
"""


# `{days_ago|365}` in a condition is the moment so many days ago, by the database's clock
_DAYS_AGO = re.compile(r"\{days_ago\|(\d+)\}")
_MOMENTS = {
    "postgresql": r"(clock_timestamp() - interval '\1 days')",
    "sqlite": r"strftime('%Y-%m-%d %H:%M:%f', 'now', '-\1 days')",  # times are kept as such texts
}


PRESENT = {  # triggers that are in force
    "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
}


@dataclass(frozen=True)
class Rule:
    """Refuse `event` (INSERT, UPDATE, DELETE or TRUNCATE) on `table` where `condition` over OLD and NEW holds."""

    table: str
    name: str
    event: str
    message: str
    condition: str = ""
    erasable: bool = False  # stands aside while a person's rows are erased (erasing.py)
    columns: tuple[str, ...] = ()  # that `condition` compares, of a rule of `frozen`

    @property
    def trigger(self) -> str:
        return f"{self.table}_{self.name}"

    def statements(self, vendor: str) -> list[str]:
        """The statements that (re)install this rule; none where the database has no such event."""
        condition = _DAYS_AGO.sub(_MOMENTS[vendor], self.condition)
        if vendor == "postgresql":
            level = "STATEMENT" if self.event == "TRUNCATE" else "ROW"
            terms = [f"({condition})"] if condition else []
            terms += ["NOT is_erasing()"] if self.erasable else []
            when = f"WHEN ({' AND '.join(terms)})" if terms else ""
            return [
                f'DROP TRIGGER IF EXISTS "{self.trigger}" ON "{self.table}"',
                f'CREATE TRIGGER "{self.trigger}" BEFORE {self.event} ON "{self.table}" '
                f"FOR EACH {level} {when} EXECUTE FUNCTION refuse_change('{self.message}')",
            ]
        if self.event == "TRUNCATE":
            return []
        # SQLite spells the null-safe comparison IS NOT; IS DISTINCT FROM came only with 3.39.
        when = f"WHEN {condition.replace('IS DISTINCT FROM', 'IS NOT')}" if condition else ""
        return [
            f'DROP TRIGGER IF EXISTS "{self.trigger}"',
            f'CREATE TRIGGER "{self.trigger}" BEFORE {self.event} ON "{self.table}" {when} '
            f"BEGIN SELECT RAISE(ABORT, '{self.message}'); END",
        ]


def closed(table: str) -> list[Rule]:
    """Rows are neither added nor changed; they can only leave."""
    return [Rule(table, f"no_{event.lower()}", event, f"{table} is closed") for event in ("INSERT", "UPDATE")]


def append_only(table: str, *, erasable: Iterable[str] = (), kept: str = "") -> list[Rule]:
    """Rows are added and never changed or removed; erasing a person may do what `erasable` names of UPDATE, DELETE.

    With `kept`, a condition over OLD, only rows of which it holds are kept from being removed.
    """
    return [
        Rule(
            table,
            f"no_{event.lower()}",
            event,
            f"{table} is append-only",
            condition=kept if event == "DELETE" else "",
            erasable=event in erasable,
        )
        for event in ("UPDATE", "DELETE", "TRUNCATE")
    ]


def younger_than(days: int) -> str:
    """The condition that a row's `at` is not so many days ago yet."""
    return f"OLD.at > {{days_ago|{days}}}"


def frozen(table: str, columns: Iterable[str], *, erasable: bool = False) -> Rule:
    """These columns keep the value they were inserted with."""
    compared = tuple(columns)
    message = f"{table}: what was written once does not change"
    return Rule(table, "frozen", "UPDATE", message, _any_changes(compared), erasable, compared)


def _any_changes(columns: Iterable[str]) -> str:
    return " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in columns)


def transitions(table: str, allowed: Mapping[Any, Iterable[str]]) -> Rule:
    """`status` moves only as the lifecycle table `allowed` says; nothing leaves an end state."""
    moves = [f"(OLD.status = '{old}' AND NEW.status = '{new}')" for old, news in allowed.items() for new in news]
    condition = f"OLD.status <> NEW.status AND NOT ({' OR '.join(sorted(moves))})"
    return Rule(table, "lifecycle", "UPDATE", f"{table}: no such move in the lifecycle", condition)


def install_rules(database: BaseDatabaseWrapper, rules: Iterable[Rule]) -> None:
    """Install every rule whose table exists, each in a transaction: `migrate` runs beside a version that serves."""
    tables = set(database.introspection.table_names())
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            cursor.execute(_REFUSE_FUNCTION)
            cursor.execute(IS_ERASING_FUNCTION)
        for rule in rules:
            if rule.table in tables:
                with transaction.atomic(using=database.alias):
                    for statement in _as_migrated(database, cursor, rule).statements(database.vendor):
                        cursor.execute(statement)


def install_rules_of_room(sender: AppConfig, using: str, **_ignored: Any) -> None:
    """After each migration of a room, its rules: a receiver of `post_migrate`."""
    install_rules(connections[using], import_module(f"{sender.name}.rules").RULES)


def _as_migrated(database: BaseDatabaseWrapper, cursor: Any, rule: Rule) -> Rule:
    """`rule` without the columns that are not there: a database on its way back to an earlier release has fewer."""
    if not rule.columns:
        return rule
    there = {column.name for column in database.introspection.get_table_description(cursor, rule.table)}
    columns = tuple(column for column in rule.columns if column in there)
    return replace(rule, condition=_any_changes(columns) or "1 = 0", columns=columns)


def take_off(database: BaseDatabaseWrapper, rule: Rule) -> None:
    """For consent's migrations 0019 and 0024, which change rows; every `migrate` installs all rules when it is done."""
    with database.cursor() as cursor:
        cursor.execute(rule.statements(database.vendor)[0])


@contextmanager
def lifted(database: BaseDatabaseWrapper, rules: Iterable[Rule]) -> Iterator[None]:
    """Within this these rules do not hold for the transaction that it is part of, and for no other.

    Both databases change triggers as part of a transaction: nobody else ever sees one that is off, and what fails or
    is killed leaves it on. PostgreSQL wants the table's owner for it, who is not the role of the server.
    """
    rules = list(rules)
    with transaction.atomic(using=database.alias), database.cursor() as cursor:
        for rule in rules:
            cursor.execute(_switch(rule, "DISABLE", database.vendor))
        yield
        if database.vendor == "postgresql":
            # checks of foreign keys wait for the commit, and a table with waiting ones cannot be altered
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for rule in rules:
            cursor.execute(_switch(rule, "ENABLE", database.vendor))


def _switch(rule: Rule, how: str, vendor: str) -> str:
    """SQLite cannot switch a trigger off, so there it goes and is made again."""
    if vendor == "postgresql":
        return f'ALTER TABLE "{rule.table}" {how} TRIGGER "{rule.trigger}"'
    return f'DROP TRIGGER "{rule.trigger}"' if how == "DISABLE" else rule.statements(vendor)[1]


def present_triggers(database: BaseDatabaseWrapper) -> set[str]:
    """The names of the triggers that are in the database and switched on."""
    with database.cursor() as cursor:
        cursor.execute(PRESENT[database.vendor])
        return {row[0] for row in cursor.fetchall()}
