"""Intents drawn as time, budget and confidence: coordinates for an SVG, made on the server (pure).

Time runs to the right in three columns, the amount upwards on a logarithmic scale, and the surer an agent, the larger
the circle. Amounts of one currency share the scale; what has none, or another, stands on a line of its own below it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents_proxy.analyses.merging import score

MOST_DRAWN = 6  # of one window; the list below the chart has them all
_LEFT, _COLUMN, _TOP, _BOTTOM, _BELOW = 48, 96, 20, 138, 164
_SMALLEST, _LARGEST, _UNKNOWN = 8.0, 16.0, 10.0  # radius at no confidence, at a whole one, and where none was given
_AMOUNT = re.compile(r"([0-9][0-9.,\u00a0\u202f' ]*)(k\b)?", re.IGNORECASE)
_CURRENCY = re.compile(r"[€$£¥₹]|\b[A-Z]{3}\b")


@dataclass(frozen=True)
class Dot:
    number: int
    x: float
    y: float
    radius: float
    unsure: bool  # no confidence was given


def amount(budget: Any) -> tuple[float, str] | None:
    """The largest amount that a budget names and its currency, "" where it names none; None without an amount."""
    if isinstance(budget, Mapping):
        budget = " ".join(str(part) for part in budget.values() if isinstance(part, str | int | float))
    if isinstance(budget, bool) or not isinstance(budget, str | int | float):
        return None
    text = str(budget)[:200]
    found = [_number(digits) * (1000 if thousand else 1) for digits, thousand in _AMOUNT.findall(text)]
    positive = [number for number in found if 0 < number < 1e12]
    currency = _CURRENCY.search(text)
    return (max(positive), currency[0] if currency else "") if positive else None


def _number(digits: str) -> float:
    """`1,200`, `1.200`, `1 200` and `1200.00` are all 1200."""
    plain = re.sub(r"[\s']", "", digits).rstrip(".,")
    whole, _, cents = plain.replace(",", ".").rpartition(".")
    if whole and len(cents) != 3:
        return float(f"{whole.replace('.', '')}.{cents or 0}")
    return float(re.sub(r"[.,]", "", plain))


def share(confidence: Any) -> float | None:
    """0.7 and 70 are both 0.7; None where it is neither."""
    number = score(confidence)
    if number is None or not 0 <= number <= 100:
        return None
    return number if number <= 1 else number / 100


def chart(windows: Iterable[list[dict[str, Any]]]) -> dict[str, Any] | None:
    """Dots, ticks and columns; `windows` are three lists of entries, numbered through in their order."""
    columns = [entries[:MOST_DRAWN] for entries in windows]
    amounts = [found for entries in columns for entry in entries if (found := amount(entry.get("budget")))]
    if not any(columns):
        return None
    currency = Counter(unit for _, unit in amounts).most_common(1)[0][0] if amounts else ""
    scale = _Scale([number for number, unit in amounts if unit == currency])
    dots = list(_dots(columns, scale, currency))
    return {
        "dots": dots,
        "ticks": [{"y": scale.height(number), "label": f"{number:,.0f} {currency}".strip()} for number in scale.ends],
        "below": _BELOW if any(dot.y == _BELOW for dot in dots) else None,
        "columns": [{"middle": _LEFT + _COLUMN * at + _COLUMN / 2, "end": _LEFT + _COLUMN * at} for at in range(3)],
    }


def _dots(columns: list[list[dict[str, Any]]], scale: "_Scale", currency: str) -> Iterable[Dot]:
    number = 0
    for at, entries in enumerate(columns):
        step = _COLUMN / (len(entries) + 1)
        for place, entry in enumerate(entries, 1):
            number += 1
            sure, found = share(entry.get("confidence")), amount(entry.get("budget"))
            y = scale.height(found[0]) if found and found[1] == currency else _BELOW
            radius = _UNKNOWN if sure is None else round(_SMALLEST + (_LARGEST - _SMALLEST) * sure, 1)
            yield Dot(number, round(_LEFT + _COLUMN * at + step * place, 1), y, radius, sure is None)


class _Scale:
    """Amounts to heights; the smallest at the bottom, the largest at the top, a single one in the middle."""

    def __init__(self, amounts: list[float]) -> None:
        self.ends = sorted({min(amounts), max(amounts)}) if amounts else []

    def height(self, number: float) -> float:
        if len(self.ends) < 2:
            return (_TOP + _BOTTOM) / 2
        low, high = (math.log(end) for end in self.ends)
        return round(_BOTTOM - (_BOTTOM - _TOP) * (math.log(number) - low) / (high - low), 1)
