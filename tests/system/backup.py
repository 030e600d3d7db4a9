"""A backup of the database under test as an operator makes one, and its restore while the service runs on."""

import sqlite3
import subprocess
from pathlib import Path

from django.db import connection


class Backup:
    """Taken when it is made. On SQLite the file is copied, on PostgreSQL it is a dump."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "backup"
        if connection.vendor == "sqlite":
            _copy(str(connection.settings_dict["NAME"]), str(self._path))
        else:
            _run("pg_dump", "-Fc", "-f", str(self._path), *_server())

    def restore(self) -> None:
        """In the place of what is there now."""
        connection.close()
        if connection.vendor == "sqlite":
            _copy(str(self._path), str(connection.settings_dict["NAME"]))
        else:
            _run("pg_restore", "--clean", "--if-exists", "--single-transaction", *_server(), str(self._path))


def _copy(source: str, target: str) -> None:
    with sqlite3.connect(source, uri=source.startswith("file:")) as one:
        with sqlite3.connect(target, uri=target.startswith("file:"), timeout=30) as other:
            one.backup(other)
        other.close()
    one.close()


def _server() -> list[str]:
    given = connection.settings_dict
    where = ["-h", given["HOST"] or "localhost", "-p", str(given["PORT"] or 5432), "-U", given["USER"] or "root"]
    return [*where, "-d", str(given["NAME"])]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=120)
