"""Taking one person out of tables that nobody else may change.

A room lists the statements for its tables once. On PostgreSQL they are the body of a function that runs with the rights
of the tables' owner, which the server's role may call and which looks for an erasure that is due before it does
anything; so that role itself needs no right to delete. SQLite has no rights, and the statements run as they are. In
both the triggers of the `erasable` rules stand aside for as long.

In a statement `:person` is the key of the user and `:user_id` the public name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from common.sql.triggers import IS_ERASING_FUNCTION, Rule, lifted

_MACRO = re.compile(r"\{[a-z]+\|[^{}]+\}")
_DUE = """
SELECT e.user_id, u.public_id {into} FROM erasures e JOIN users u ON u.id = e.user_id
WHERE e.id = {erasure} AND e.cancelled_at IS NULL AND e.done_at IS NULL AND e.due_at <= {now}
"""
_FUNCTION = """
CREATE OR REPLACE FUNCTION {name}(erasure bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
DECLARE the_person bigint; the_user_id text;
BEGIN
{due};
IF the_person IS NULL THEN RAISE EXCEPTION 'no erasure is due' USING ERRCODE = 'insufficient_privilege'; END IF;
-- not as a SET of the function: to give one to a parameter of our own takes a superuser
PERFORM set_config('consent.erasing', 'on', true);
{body};
PERFORM set_config('consent.erasing', '', true);
END $$
"""


_SAMPLED = """
SELECT c.relkind, c.relname, a.attnum, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname || '.' || a.attname = ANY(%s)
  AND coalesce(a.attstattarget, -1) <> 0
"""


class NotDue(Exception):
    """No erasure of this key is due."""


@dataclass(frozen=True)
class PersonalRows:
    """What goes of a person out of one room's tables, in the order in which it can go."""

    name: str  # of the function on PostgreSQL
    statements: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    # {table or index: columns}: pg_statistic keeps sampled values, so personal data, after the rows are gone;
    # SET STATISTICS 0 keeps none. No query plan needs those of these columns
    unsampled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def install(self, database: BaseDatabaseWrapper) -> None:
        """(Re)make the function; the server's role is granted it by deploy/postgresql/roles.sql."""
        if database.vendor != "postgresql" or "erasures" not in database.introspection.table_names():
            return
        due = _DUE.format(into="INTO the_person, the_user_id", erasure="erasure", now="clock_timestamp()")
        body = ";\n".join(_with(each, "the_person", "the_user_id") for each in self.statements)
        with database.cursor() as cursor:
            cursor.execute(IS_ERASING_FUNCTION)
            cursor.execute(_FUNCTION.format(name=self.name, due=due, body=body))
            cursor.execute(f"REVOKE ALL ON FUNCTION {self.name}(bigint) FROM PUBLIC")
            _exempt_from_samples(cursor, self.unsampled)

    def erase(self, *, erasure_pk: int, now: Any) -> None:
        """Run the statements for the person of a due erasure; raises `NotDue`. Inside a transaction; repeated, nothing.

        `now` is the clock's time as a parameter of SQL; PostgreSQL looks at its own.
        """
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(f"SELECT {self.name}(%s)", [erasure_pk])  # our own name
                return
            cursor.execute(_DUE.format(into="", erasure="%s", now="%s"), [erasure_pk, now])
            found = cursor.fetchone()
        if found is None:
            raise NotDue
        given = {"person": found[0], "user_id": found[1]}
        with lifted(connection, self.rules), connection.cursor() as cursor:
            for each in self.statements:
                cursor.execute(_with(each.replace("%", "%%"), "%(person)s", "%(user_id)s"), given)


def _exempt_from_samples(cursor: Any, unsampled: Mapping[str, tuple[str, ...]]) -> None:
    cursor.execute(_SAMPLED, [[f"{relation}.{name}" for relation, names in unsampled.items() for name in names]])
    for kind, relation, number, name in cursor.fetchall():
        if kind == "i":  # its columns have no names that ALTER INDEX takes
            cursor.execute(f'ALTER INDEX "{relation}" ALTER COLUMN {number} SET STATISTICS 0')
        else:
            cursor.execute(f'ALTER TABLE "{relation}" ALTER COLUMN "{name}" SET STATISTICS 0')


def _with(statement: str, person: str, user_id: str) -> str:
    return _of_vendor(statement).replace(":person", person).replace(":user_id", user_id)


def _of_vendor(statement: str) -> str:
    """`{member|column|name}` is a member of JSON as text, `{has|text|part}` whether a text holds another,
    `{cleared|column|a,b}` a JSON column whose list at $.a.b is empty.
    """
    on_postgresql = connection.vendor == "postgresql"
    for each in _MACRO.findall(statement):
        kind, first, second = each[1:-1].split("|")
        spelled = {
            ("member", True): f"({first} ->> '{second}')",
            ("member", False): f"json_extract({first}, '$.{second}')",
            ("cleared", True): f"jsonb_set({first}, '{{{second}}}', '[]')",
            ("cleared", False): f"json_set({first}, '$.{second.replace(',', '.')}', json('[]'))",
            ("has", True): f"strpos(CAST({first} AS text), {second}) > 0",
            ("has", False): f"instr(CAST({first} AS text), {second}) > 0",
        }[kind, on_postgresql]
        statement = statement.replace(each, spelled)
    return statement
