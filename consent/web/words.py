"""Durations and events in words."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
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


@dataclass(frozen=True)
class Told:
    """How one kind of event is told. `group` is what the filter calls it; `%(app)s` stands for the app's name."""

    group: str
    icon: str
    tone: str
    sentence: str | Promise


EVENTS: dict[str, Told] = {
    "approved": Told("decisions", "check", "good", _("You approved %(scope)s for %(app)s")),
    "denied": Told("decisions", "x", "", _("You denied %(scope)s to %(app)s")),
    "cancelled": Told("decisions", "minus", "", _("%(app)s's request for %(scope)s was cancelled")),
    "expired": Told("decisions", "clock", "", _("%(app)s's request for %(scope)s expired without a decision")),
    "grant_expired": Told("ends", "clock", "", _("Sharing %(scope)s with %(app)s ran out")),
    "revoked": Told("ends", "stop", "", _("You stopped sharing %(scope)s with %(app)s")),
    "released": Told("ends", "minus", "", _("%(app)s gave back %(scope)s")),
    "terminated": Told("ends", "shield", "warn", _("Our staff ended sharing %(scope)s with %(app)s")),
    "exhausted": Told("ends", "check", "", _("%(app)s used all agreed reads of %(scope)s")),
    "superseded": Told("ends", "refresh", "", _("A newer approval replaced %(scope)s for %(app)s")),
    "paused": Told("decisions", "pause", "warn", _("You paused sharing %(scope)s with %(app)s")),
    "resumed": Told("decisions", "play", "good", _("You resumed sharing %(scope)s with %(app)s")),
    "export_updated": Told("decisions", "refresh", "", _("You renewed what %(app)s can read of %(scope)s")),
    "kept_current": Told("decisions", "refresh", "good", _("You let %(app)s have newer values of %(scope)s")),
    "left_as_is": Told("decisions", "minus", "", _("You keep newer values of %(scope)s from %(app)s")),
    "app_blocked": Told("decisions", "x-circle", "warn", _("You blocked %(app)s")),
    "app_unblocked": Told("decisions", "check", "", _("You let %(app)s ask again")),
    "app_reported": Told("decisions", "alert", "warn", _("You reported %(app)s to our staff")),
    "staff_viewed": Told("reads", "shield", "warn", _("A member of our staff looked at records about you")),
    "read": Told("reads", "eye", "", _("%(app)s read %(scope)s")),
    "discovered": Told("discoveries", "search", "", _("%(app)s looked at what could be asked of you")),
}
GROUPS: dict[str, str | Promise] = {
    "decisions": _("Decisions"),
    "reads": _("Reads"),
    "discoveries": _("Discoveries"),
    "ends": _("Ends"),
}
