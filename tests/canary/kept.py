"""Everything that the database of a test holds."""

import sqlite3
import subprocess

from django.conf import settings
from django.db import connection


def dump() -> bytes:
    """The whole database as text."""
    if connection.vendor == "sqlite":
        with sqlite3.connect(settings.DATABASES["default"]["NAME"]) as copy:
            return "\n".join(copy.iterdump()).encode()
    database = connection.settings_dict
    address = ["-h", database["HOST"], "-p", str(database["PORT"] or 5432), "-U", database["USER"] or "root"]
    return subprocess.run(["pg_dump", *address, database["NAME"]], capture_output=True, check=True).stdout
