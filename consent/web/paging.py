"""Where a page of a list goes on: after the row with this time and key, newest first.

So a page takes as long however far back it lies, and each row is shown once, whatever is added meanwhile.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LATEST = 253_370_764_799_999_999  # microseconds: the end of the year 9998, which any zone and a day more leave a date
LARGEST = 2**63 - 1  # that a database takes
TIME_AND_KEY = (_LATEST, LARGEST)

Place = tuple[int, ...]  # (microseconds, key)


def place_of(at: datetime, pk: int) -> Place:
    return microseconds(at), pk


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def moment(place: Place) -> datetime:
    return _EPOCH + place[0] * _MICROSECOND


def written(place: Place) -> str:
    return "-".join(map(str, place))


def read(text: str, most: Place = TIME_AND_KEY) -> Place | None:
    """What `written` made of so many numbers, each so large at most; None where it is nothing of that kind."""
    if not re.fullmatch(r"[0-9]{1,19}(-[0-9]{1,19})*", text, re.ASCII):
        return None
    place = tuple(map(int, text.split("-")))
    fits = len(place) == len(most) and all(number <= largest for number, largest in zip(place, most, strict=True))
    return place if fits and place[0] else None  # nothing began before the first day, the first row or 1970


def older(rows: QuerySet[Any], column: str, after: Place | None) -> QuerySet[Any]:
    """The rows that follow; an index over the column serves them. All rows where `after` is None."""
    if after is None:
        return rows
    at = moment(after)
    return rows.filter(**{f"{column}__lte": at}).exclude(**{column: at, "pk__gte": after[1]})


def pages(last: Place | None, *, is_newest: bool, **kept: str) -> dict[str, str]:
    """Relative addresses of the newest page and of the one after `last`; empty where one is already or none follows.

    `kept` are the members of the query that both keep, where they are not empty.
    """
    query = {name: value for name, value in kept.items() if value}
    newest, older = urlencode(query), urlencode({**query, "older": written(last)}) if last else ""
    return {"newest_url": "" if is_newest else f"?{newest}", "older_url": f"?{older}" if last else ""}
