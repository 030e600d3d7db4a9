"""Reading long tables of the log in flat memory."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet


def in_pages(rows: QuerySet[Any, Any], key: str, *, size: int) -> Iterator[list[Any]]:
    """The rows in the order of `key`, which is unique, so many at once; of tuples it is the first member.

    Each page is a query of its own: a cursor on the server would belong to a session (decision 0027), and without one
    `iterator()` has all rows in memory at once.
    """
    page = list(rows.order_by(key)[:size])
    while page:
        yield page
        last = page[-1]
        after = last[0] if isinstance(last, tuple) else getattr(last, key)
        page = list(rows.filter(**{f"{key}__gt": after}).order_by(key)[:size]) if len(page) == size else []
