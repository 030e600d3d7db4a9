"""The roles of deploy/postgresql/roles.sql on the test database, for as long as a test needs them."""

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

ROLES = Path(__file__).parents[1] / "deploy" / "postgresql" / "roles.sql"


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
