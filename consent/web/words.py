"""Durations in words."""

from collections.abc import Callable

from django.utils.translation import ngettext

_UNITS: tuple[tuple[int, Callable[[int], str]], ...] = (
    (31536000, lambda n: ngettext("%(n)d year", "%(n)d years", n)),
    (2592000, lambda n: ngettext("%(n)d month", "%(n)d months", n)),
    (604800, lambda n: ngettext("%(n)d week", "%(n)d weeks", n)),
    (86400, lambda n: ngettext("%(n)d day", "%(n)d days", n)),
    (3600, lambda n: ngettext("%(n)d hour", "%(n)d hours", n)),
    (60, lambda n: ngettext("%(n)d minute", "%(n)d minutes", n)),
    (1, lambda n: ngettext("%(n)d second", "%(n)d seconds", n)),
)
_OFFERED = (300, 3600, 86400, 604800, 2592000, 7776000, 31536000)
_SHORTER_CHOICES = 4


def duration(seconds: int) -> str:
    """Exactly this long: "1 day", "1 hour 30 minutes". A month is 30 days, a year 365."""
    parts: list[str] = []
    rest = seconds
    for size, words in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(words(count) % {"n": count})
    return " ".join(parts)


def duration_choices(asked: int) -> list[tuple[int, str]]:
    """Shorter choices, shortest first, and last what was asked for."""
    shorter = [seconds for seconds in _OFFERED if seconds < asked][-_SHORTER_CHOICES:]
    return [(seconds, duration(seconds)) for seconds in [*shorter, asked]]
