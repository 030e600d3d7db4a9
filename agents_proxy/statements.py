"""The wording that a person agrees to. A change needs a new version; what was shown is kept as it was."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents_proxy.agents import TITLES, Receiver, receivers_for
from agents_proxy.states import ActivationStatus, Duration, EndReason, Purpose

VERSION = "2026-11-5"
SENTENCES: dict[Purpose, Promise] = {
    Purpose.PROFILE: _("Profile agents may create, update and look up a profile from what you enter or have entered."),
    Purpose.ENRICHMENT: _("Agents may search public sources for what belongs to the details you give them."),
    Purpose.BRAND_AFFINITY: _("An agent may work out what you like, dislike and buy from the details you give it."),
    Purpose.MESSAGING: _(
        "Messages may be sent to a phone number that you verified, in approved wording or in the sender's own words."
    ),
    Purpose.FINANCIAL: _("Merchants and categories of your transactions may be read to work out what you buy."),
    Purpose.IDENTITY: _("Name, address and contact details that your bank holds may be read."),
    Purpose.ACTIVATION: _(
        "Your name, e-mail, phone, likes, dislikes, brand affinities, shopping preferences and how sure the agents are "
        "of them may be sent to %(destinations)s. What was sent cannot be recalled from there."
    ),
}

# added where somebody has values of their own data used in an analysis
OWN_VALUES_USED = _(
    "What you tick of your own data stands in this analysis as your own word. No agent is told of it or asked for it."
)

# what pages say of a sending, and in which tone
ACTIVATIONS: dict[ActivationStatus, tuple[Promise, str]] = {
    ActivationStatus.QUEUED: (_("Waits to be sent"), "warn"),
    ActivationStatus.SENDING: (_("Being sent"), "warn"),
    ActivationStatus.DELIVERED: (_("Arrived"), "ok"),
    ActivationStatus.FAILED: (_("Not sent"), "bad"),
}

# what pages say of a consent that ended without being withdrawn
END_REASONS: dict[EndReason, Promise] = {
    EndReason.NUMBER_VERIFIED_BY_ANOTHER: _("Ended: somebody else verified the number"),
    EndReason.NUMBER_REMOVED: _("Ended: you removed the number"),
    EndReason.EMAIL_REMOVED: _("Ended: the address was removed"),
}

DURATIONS: dict[Duration, Promise] = {
    Duration.DAY: _("a day"),
    Duration.MONTH: _("a month"),
    Duration.YEAR: _("a year"),
}


@dataclass(frozen=True)
class Point:
    """What one purpose allows, and who receives something for it."""

    purpose: Purpose
    title: str
    words: str
    receivers: list[Receiver]

    def __str__(self) -> str:
        received = (gettext("Received by %(receiver)s") % {"receiver": receiver} for receiver in self.receivers)
        return " ".join([f"- {self.title}: {self.words}", *(f"{words}." for words in received)])


@dataclass(frozen=True)
class Statement:
    """The wording in its parts, as a page lays them out; `str()` is the same words as they are kept."""

    opening: str
    points: list[Point]
    closing: list[str]

    def __str__(self) -> str:
        return "\n".join([self.opening, *map(str, self.points), *self.closing])


def statement(
    purposes: Sequence[Purpose],
    *,
    requester: str,
    lasts: timedelta | None,
    one_analysis: bool = False,
    destinations: Sequence[str] = (),
) -> Statement:
    """The wording for these purposes, in the active language; `requester` is who will call the agents.

    `destinations` is what the purpose `activation` covers, each with its name, host and app. `lasts` is None where the
    person has yet to choose.
    """
    opening = gettext("%(asks)s may have the following done with your personal details:") % {"asks": requester}
    named = {"destinations": "; ".join(destinations)}
    points = [
        Point(purpose, str(TITLES[purpose]), str(SENTENCES[purpose]) % named, receivers_for(purpose))
        for purpose in purposes
    ]
    closing = [
        gettext("The agents may be services of other companies; they receive the details that are sent to them."),
        _duration_sentence(lasts, one_analysis),
    ]
    return Statement(opening, points, closing)


def _duration_sentence(lasts: timedelta | None, one_analysis: bool) -> str:
    if lasts is None:
        return gettext(
            "This holds for as long as you choose. You can withdraw it at any time, with effect from then on."
        )
    sentence = (
        gettext("This holds for this one analysis, %(duration)s at most. You can withdraw it at any time, with effect "
                "from then on.")
        if one_analysis
        else gettext("This holds for %(duration)s. You can withdraw it at any time, with effect from then on.")
    )  # fmt: skip
    return sentence % {"duration": _duration(lasts)}


def _duration(lasts: timedelta) -> str:
    hours = max(1, round(lasts / timedelta(hours=1)))
    if hours < 48:
        return ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}
    days = round(hours / 24)
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
