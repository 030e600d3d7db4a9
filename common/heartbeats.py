"""Whether worker and timer are alive, as every process can see: each renews an entry of the cache's table.

The database's clock says when an entry is over, since those of two machines may differ.
"""

import logging
import threading
import time

from django.db import Error, connection

from common.clock import database_now
from common.metrics import HEARTBEATS
from common.models import CacheEntry
from common.shutdown import shutdown

EVERY = 5.0  # seconds
DEAD_AFTER = 20.0  # seconds
PREFIX = "heartbeat:"
_log = logging.getLogger(__name__)


def beat(part: str) -> None:
    """`part`, `worker` or `timer`, is alive now. A database that is away is left to the next time."""
    HEARTBEATS.labels(part).set(time.time())
    try:
        until = int((database_now().timestamp() + DEAD_AFTER) * 1000)
        row = {"value": "true", "expires_at": until}
        if not CacheEntry.objects.filter(key=key(part)).update(**row):
            CacheEntry.objects.get_or_create(key=key(part), defaults=row)
    except Error as error:
        connection.close()  # a broken one is not used again
        _log.warning("the heartbeat of the %s is not written: %s", part, type(error).__name__)


def key(part: str) -> str:
    """The key of its row in `cache_entries`, whose `expires_at` is in milliseconds."""
    return PREFIX + part


def start(part: str) -> None:
    """Beat from a thread of this process's own until the process ends."""
    ending = threading.Event()
    shutdown.when_it_begins(ending.set)

    def keep_beating() -> None:
        beat(part)
        while not ending.wait(EVERY):
            beat(part)

    threading.Thread(target=keep_beating, name=f"heartbeat-{part}", daemon=True).start()
