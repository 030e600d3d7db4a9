"""What lies in files for want of a database server and a mail server, for whoever runs the service alone to read."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.mail.backends.filebased import EmailBackend

_BESIDE = ("", "-wal", "-shm", "-journal")


def keep_private(sender: object, connection: Any, **options: Any) -> None:
    """SQLite makes its file readable by all, and those beside it like that one."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db():
        return
    for ending in _BESIDE:
        with suppress(OSError):  # not there, or another's who let us in
            path = Path(f"{connection.settings_dict['NAME']}{ending}")
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)


class PrivateFiles(EmailBackend):
    """Django's mails in files, each made for its owner alone."""

    def open(self) -> bool:
        opened = bool(super().open())
        if opened:
            os.fchmod(self.stream.fileno(), 0o600)  # before anything is in it
        return opened
