"""Files that hold what people told are for their owner alone."""

import os
import sqlite3
from pathlib import Path
from typing import Any

from django.core import mail
from django.core.mail import EmailMessage
from django.db.backends.sqlite3.base import DatabaseWrapper

from config import settings as deployed
from config.private_files import keep_private


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_mails_in_files_are_the_owners_alone(settings: Any, tmp_path: Path) -> None:
    settings.EMAIL_FILE_PATH = tmp_path
    before = os.umask(0)
    try:
        with mail.get_connection(deployed.EMAIL_BACKEND) as mailbox:
            EmailMessage("Hello", "Words", to=["zoe@example.org"], connection=mailbox).send()
    finally:
        os.umask(before)

    (written,) = tmp_path.iterdir()
    assert b"Words" in written.read_bytes()
    assert mode(written) == 0o600


def test_a_database_in_a_file_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite3"
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE said (words)")
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").chmod(0o644)
        connection = DatabaseWrapper({"NAME": str(path), "OPTIONS": {}}, "elsewhere")
        keep_private(DatabaseWrapper, connection)

        assert {mode(found) for found in tmp_path.iterdir()} == {0o600}
    made.close()


def test_the_databases_of_these_tests_are() -> None:
    """The signal is connected."""
    from django.db.backends.signals import connection_created

    assert any(reference() is keep_private for _, reference, *_ in connection_created.receivers)
