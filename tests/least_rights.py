"""The roles of deploy/postgresql/roles.sql on the test database, for as long as a test needs them."""

import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection

ROOT = Path(__file__).parents[1]
ROLES = ROOT / "deploy" / "postgresql" / "roles.sql"
_SERVERS = tuple(
    f"{ROOT / room}/" for room in ("accounts", "agents_proxy", "common", "consent", "developers", "pkm", "portal")
)
# what the owner of the tables runs, and the sequencer under a role of its own
_OTHERS = ("/migrations/", "/management/commands/", "consent/log/sequencing.py", "consent/log/restoring.py")
_DELETES = re.compile(r"\bDELETE FROM \"?(\w+)")
_GRANTED = frozenset(re.findall(r"\w+", ROLES.read_text().partition("GRANT DELETE ON")[2].partition("TO :")[0]))


@contextmanager
def made_roles() -> Iterator[str]:
    """The name of the server's role; that of the sequencer has `_log` behind it. PostgreSQL alone has roles."""
    role = f"consent_{secrets.token_hex(6)}"
    given = connection.settings_dict
    address = ["-h", given["HOST"], "-p", str(given["PORT"] or 5432), "-U", given["USER"] or "root"]
    made = ["psql", *address, "-d", given["NAME"], f"--set=role={role}", f"--file={ROLES}", "--quiet"]
    for _ in range(2):  # again it changes nothing
        subprocess.run(made, check=True, capture_output=True)
    try:
        yield role
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
            for each in (role, f"{role}_log"):
                cursor.execute(f"DROP OWNED BY {each}")
                cursor.execute(f"DROP ROLE {each}")


@contextmanager
def acting_as(role: str) -> Iterator[None]:
    """This connection has the rights of this role."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")


@contextmanager
def least_rights() -> Iterator[None]:
    """This connection has the rights of the server's role; on SQLite there are none to lose."""
    if connection.vendor != "postgresql":
        yield
        return
    with made_roles() as role, acting_as(role):
        yield


def refuse_unlisted_deletes(
    execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Around each statement of a test: the server deletes only from tables where its own role may (`roles.sql`)."""
    unlisted = {table for table in _DELETES.findall(sql) if table not in _GRANTED}
    if unlisted and _is_servers_own():
        raise AssertionError(f"deploy/postgresql/roles.sql lets the server delete nothing from {', '.join(unlisted)}")
    return execute(sql, parameters, many, context)


def _is_servers_own() -> bool:
    """Whether the server's code is on the stack, and not what others run."""
    frame, found = sys._getframe(), False
    while frame is not None:
        name = frame.f_code.co_filename
        if any(part in name for part in _OTHERS):
            return False
        found = found or name.startswith(_SERVERS)
        frame = frame.f_back  # type: ignore[assignment]
    return found
