"""The app's notices as a stream, in their one sequence, without a gap (contract 1.6)."""

import random
import time
from collections.abc import Iterator
from typing import Any

import orjson
from django.db import connection

from common.sql.statements import rows
from consent.event_types import OF_CONNECTIONS
from consent.notices.long_polling import hub
from consent.notices.models import Notice
from developers.app_events import ProcessingEvent
from developers.authentication import AppContext, is_token_valid

KEEP_ALIVE = 15.0  # seconds between comments
LONGEST = 3600.0  # seconds after which a stream ends and its reader comes back with Last-Event-ID
COME_BACK = (500, 3000)  # milliseconds after which a reader returns whose stream a shutdown ended
_PAGE = 200
# which have names of their own in a stream
_OWN_NAMES = frozenset([*(event.value for event in ProcessingEvent), *(each.type for each in OF_CONNECTIONS)])
_AFTER = (
    "SELECT sequence, kind, facts FROM consent_notices WHERE app_id = %s AND sequence > %s ORDER BY sequence LIMIT %s"
)


def newest_sequence(app_pk: int) -> int:
    """Where a stream begins that names no event: after everything that was."""
    return int(rows("SELECT coalesce(max(sequence), 0) AS s FROM consent_notices WHERE app_id = %s", [app_pk])[0]["s"])


def knows(app_pk: int, sequence: int) -> bool:
    """Whether the app has an event of this number; after a restore it may have been told of one that is lost."""
    return Notice.objects.filter(app_id=app_pk, sequence=sequence).exists()


def stream(*, app: AppContext, after: int) -> Iterator[bytes]:
    """Server-sent events after this sequence, as they come; a comment where none came for fifteen seconds.

    The token is looked at again before every page and comment, so nothing is told after it ended. Its end wakes the
    stream: on PostgreSQL in every process, on SQLite in the one where it took place.
    No database connection is held while nothing happens. Where the process is about to end, the last thing that is
    said is when to come back: not all at the same moment, since the streams of a process end together.
    """
    ends_at, app_pk = time.monotonic() + LONGEST, app.app_pk
    yield b"id: %d\nretry: 2000\n\n" % after  # so that a reader who saw nothing yet can resume without a gap too
    with hub.subscribed_to(f"app:{app_pk}", app_pk=app_pk, is_live=app.is_live) as happened:
        while time.monotonic() < ends_at:
            happened.clear()  # before anything is looked at: what happens from here on wakes the wait below
            if not is_token_valid(app.token_pk):
                break
            if hub.has_ended():
                yield b": this process ends, come back\nretry: %d\n\n" % random.randint(*COME_BACK)  # noqa: S311
                break
            page = rows(_AFTER, [app_pk, after, _PAGE])
            for row in page:
                after = row["sequence"]
                yield _event(row)
            if len(page) == _PAGE:
                continue
            connection.close()
            if not happened.wait(KEEP_ALIVE):
                yield b": still here\n\n"
    connection.close()


def _event(row: dict[str, Any]) -> bytes:
    facts = row["facts"]
    data = facts.encode() if isinstance(facts, str) else orjson.dumps(facts)
    kind = row["kind"].encode()
    # a field that the standard has readers pass over: what happened, where the status alone does not tell
    name = kind if row["kind"] in _OWN_NAMES else b"consent\ntype: " + kind
    return b"event: %b\nid: %d\ndata: %b\n\n" % (name, row["sequence"], data)
