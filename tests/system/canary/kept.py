"""Everything that the database of a test holds."""

import sqlite3
import subprocess
from pathlib import Path

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


def octets_of(file: Path) -> bytes:
    """What a file of the database holds, read by another process.

    SQLite locks with POSIX advisory locks, and a process that closes any descriptor of a file gives up all its locks on
    it: read here, the file would be written by two at once and end up malformed (SQLite, "How To Corrupt", 2.2).
    """
    return subprocess.run(["cat", str(file)], capture_output=True, check=True).stdout
