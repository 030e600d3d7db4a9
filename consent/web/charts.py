"""Numbers of days as bars that a template draws: whole numbers, which every language writes alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

HEIGHT = 100
_STEP, _WIDTH, _LEAST = 10, 8, 4  # a column, the bar in its middle, and what is left of a bar of nothing


@dataclass(frozen=True)
class Bar:
    """`x` and `y` are of its upper left corner; what is nothing is drawn as a line at the foot."""

    day: date
    value: int
    x: int
    y: int
    height: int


@dataclass(frozen=True)
class Chart:
    """Bars of equal width, the oldest first, in a box of `width` by 100."""

    bars: list[Bar]
    total: int
    width: int


def by_day(counts: Mapping[date, int], *, days: int, now: datetime) -> Chart:
    """The last `days`, today included (UTC)."""
    today = now.astimezone(UTC).date()
    each = [today - timedelta(days=before) for before in range(days - 1, -1, -1)]
    values = [counts.get(day, 0) for day in each]
    most = max(values, default=0) or 1
    bars = []
    for place, (day, value) in enumerate(zip(each, values, strict=True)):
        height = max(_LEAST, value * HEIGHT // most)
        bars.append(Bar(day, value, place * _STEP + (_STEP - _WIDTH) // 2, HEIGHT - height, height))
    return Chart(bars, sum(values), days * _STEP)
