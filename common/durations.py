"""Durations in words."""

from collections.abc import Callable

from django.utils.translation import ngettext

_DAY = 86400
_UNITS: tuple[tuple[int, Callable[[int], str]], ...] = (
    (31536000, lambda n: ngettext("%(n)d year", "%(n)d years", n)),
    (2592000, lambda n: ngettext("%(n)d month", "%(n)d months", n)),
    (604800, lambda n: ngettext("%(n)d week", "%(n)d weeks", n)),
    (86400, lambda n: ngettext("%(n)d day", "%(n)d days", n)),
    (3600, lambda n: ngettext("%(n)d hour", "%(n)d hours", n)),
    (60, lambda n: ngettext("%(n)d minute", "%(n)d minutes", n)),
    (1, lambda n: ngettext("%(n)d second", "%(n)d seconds", n)),
)


def duration(seconds: int) -> str:
    """Exactly this long: "1 day", "1 hour 30 minutes", and "34 days", as it was asked for, where no unit fits whole.

    A month is 30 days, a year 365.
    """
    parts: list[str] = []
    rest = seconds
    for size, words in _UNITS:
        if size > _DAY and rest // _DAY * _DAY % size:
            continue
        count, rest = divmod(rest, size)
        if count:
            parts.append(words(count) % {"n": count})
    return " ".join(parts)
