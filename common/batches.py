"""Long work of a task, a bounded batch at a time."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from django.db import InterfaceError, connection, transaction
from django.db.models import QuerySet

from common.shutdown import shutdown
from common.sql.statements import lock_for_transaction

_DELETED_AT_ONCE = 5000  # rows, so that no lock and no transaction lasts

Row = TypeVar("Row")
_log = logging.getLogger(__name__)
_PAUSE = 0.005  # seconds between two batches, in which others get SQLite's one lock and this process's threads go on


def until_done(work: Callable[[], int | None], *, most_seconds: float | None = None) -> int:
    """Call `work`, a batch each time, until it answers None; returns the sum of its answers.

    Between two batches it stops where the process is about to end or `most_seconds` are over: the next run goes on.
    """
    ends_at = None if most_seconds is None else time.monotonic() + most_seconds
    done = 0
    while (batch := work()) is not None:
        done += batch
        if shutdown.has_begun() or (ends_at is not None and time.monotonic() > ends_at):
            break
        time.sleep(_PAUSE)
    return done


def one_by_one(
    rows: Iterable[Row], work: Callable[[Row], int], *, what: str, most_seconds: float, most_failures: int | None = None
) -> int:
    """Call `work` with each row, so that one which cannot be done keeps no other back; returns the sum of its answers.

    For the rows of a batch that failed as a whole. A row that fails is logged as one of `what`, and left to the next
    run. Raises where the database is gone, and where the first `most_failures` all failed: then it is not the rows.
    """
    ends_at = time.monotonic() + most_seconds
    done = succeeded = failed = 0
    for row in rows:
        if shutdown.has_begun() or time.monotonic() > ends_at:
            break
        try:
            done += work(row)
            succeeded += 1
        except Exception as error:
            if is_database_away(error):
                raise
            failed += 1
            if succeeded == 0 and failed == most_failures:
                raise
            _log.exception("one of %s could not be done and is left for the next run", what)
    return done


def is_database_away(error: Exception) -> bool:
    """Whether it is the database that went away, and not one statement that failed."""
    return isinstance(error, InterfaceError) or not connection.is_usable()


def delete_all(rows: QuerySet[Any], *, most_seconds: float) -> int:
    """Delete these rows, the first of them in their order first, some thousand in a transaction; returns how many went.

    What is left after `most_seconds` stays for the next run. Rows of one table are deleted by one worker at a time.
    """

    def batch() -> int | None:
        with transaction.atomic():
            lock_for_transaction(f"delete:{rows.model._meta.db_table}")
            pks = list(rows.values_list("pk", flat=True)[:_DELETED_AT_ONCE])
            went, _ = rows.model._default_manager.filter(pk__in=pks).delete()
        return went or None

    return until_done(batch, most_seconds=most_seconds)


def in_pages(rows: QuerySet[Any, Any], key: str, *, size: int) -> Iterator[list[Any]]:
    """The rows in the order of `key`, which is unique, so many at once; of tuples it is the first member.

    Each page is a query of its own: a cursor on the server would belong to a session (decision 0004), and without one
    `iterator()` has all rows in memory at once.
    """
    page = list(rows.order_by(key)[:size])
    while page:
        yield page
        last = page[-1]
        after = last[0] if isinstance(last, tuple) else getattr(last, key)
        page = list(rows.filter(**{f"{key}__gt": after}).order_by(key)[:size]) if len(page) == size else []
