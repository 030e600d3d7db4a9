"""Celery's queue in a folder, for a service without Redis: kombu's file system transport with files that appear whole.

As it comes, that transport opens a message's file under its final name and fills it afterwards. A worker that looks in
between takes an empty message, which ends it.
"""

import os
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """Every file is written under a name that no reader looks for, and given its own in one step."""

    def _put(  # type: ignore[override]  # the stubs of the base take no options, of which kombu gives some
        self, queue: str, payload: dict[str, Any], **kwargs: Any
    ) -> None:
        """Queue a message; readers take the names in their order."""
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        _unfinished(Path(self.data_folder_out), dumps(payload)).rename(Path(self.data_folder_out) / name)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        """Note where an exchange's messages go. A file that is there is changed under a lock; the first one is made."""
        table: Path = self._exchange_file(exchange)  # type: ignore[attr-defined]  # newer than the stubs
        if not table.exists():
            empty = _unfinished(table.parent, "[]")
            try:
                os.link(empty, table)
            except FileExistsError:
                pass  # another process was faster
            finally:
                empty.unlink()
        super()._queue_bind(exchange, routing_key, pattern, queue)


class Transport(filesystem.Transport):
    Channel = Channel


def _unfinished(folder: Path, text: str) -> Path:
    """A file with this text beside the finished ones; its name ends as none of theirs does."""
    path = folder / f".{uuid.uuid4()}.part"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:  # a full disk, which what is left here would help to stay full
        path.unlink(missing_ok=True)
        raise
    return path
