"""What the page "Agreements" shows: everything that a person agreed to, by what they can still do about it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator

from accounts.models import User
from agents_proxy.agents import TITLES
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent.identifiers import Identifiers, named_by, verified_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.statements import ACTIVATIONS, END_REASONS
from agents_proxy.states import UNFINISHED_ACTIVATIONS, ActivationStatus, EndReason, ProcessingStatus, Purpose, Reach
from common.clock import database_now

_AT_ONCE = 50  # on one page: of those to one analysis or sending that hold, and of those that ended
_SHOWN_SINGLY = 2  # of those to one analysis or sending; more of them are folded


@dataclass(frozen=True)
class Agreements:
    """`in_force` covers calls from now on, `single` one analysis or sending, `over` nothing more. Each row is a card.

    `page_obj` pages what ended and what is single; all that lasts is on its first page.
    """

    in_force: list[dict[str, Any]]
    single: list[dict[str, Any]]
    over: list[dict[str, Any]]
    over_count: int
    page_obj: Page[ProcessingConsent]

    @property
    def folds_single(self) -> bool:
        return len(self.single) > _SHOWN_SINGLY

    @property
    def unfolds_over(self) -> bool:
        """Where somebody turned the page, or where there is nothing else to look at."""
        return self.page_obj.number > 1 or not (self.in_force or self.single)


def agreements_of(person: User, page: str | None) -> Agreements:
    """`page` is what the address says of the page, as `Agreements` has it."""
    now = database_now()
    own = (
        ProcessingConsent.objects.filter(user=person)
        .select_related("app")
        .prefetch_related("analysis_runs", "activations__destination__app", "deletions")
    )
    ended = Paginator(own.ended(now), _AT_ONCE)
    single = Paginator(own.live(now).filter(reach=Reach.RUN), _AT_ONCE)
    page_obj = max(ended, single, key=lambda one: one.num_pages).get_page(page)
    lasting = list(own.lasting(now)) if page_obj.number == 1 else []
    over_here = _on(ended, page_obj.number)
    listed = [*lasting, *_on(single, page_obj.number), *over_here]
    named = {name for consent in listed for name in consent.destinations}
    receivers = {one.destination_id: one for one in _receivers(named)}
    verified = verified_by(person.pk)
    rows = [_row(consent, now, receivers, verified) for consent in listed]
    over = [row for row in rows if row["over"]]
    holding = [row for row in rows if not row["over"]]
    return Agreements(
        in_force=[row for row in holding if row["consent"].reach != Reach.RUN],
        single=[row for row in holding if row["consent"].reach == Reach.RUN],
        over=over,
        over_count=ended.count + len(over) - len(over_here),
        page_obj=page_obj,
    )


def _on(pages: "Paginator[ProcessingConsent]", number: int) -> list[ProcessingConsent]:
    return list(pages.page(number)) if number <= pages.num_pages else []


def _receivers(names: set[str]) -> list[Destination]:
    found = Destination.objects.filter(destination_id__in=names).select_related("app").defer("secret")
    return list(found) if names else []


def titles_of(consent: ProcessingConsent) -> list[str]:
    return [str(TITLES[Purpose(purpose)]) for purpose in consent.purposes]


def _row(
    consent: ProcessingConsent, now: datetime, receivers: dict[str, Destination], verified: Identifiers
) -> dict[str, Any]:
    runs = list(consent.analysis_runs.all())
    sendings = list(consent.activations.all())
    # one to a sending covers nothing more, and is mostly done by the time that anybody reads this
    sends = consent.reach == Reach.RUN and Purpose.ACTIVATION in consent.purposes
    done = sends and all(sending.status not in UNFINISHED_ACTIVATIONS for sending in sendings)
    status = consent.status_at(now)
    return {
        "consent": consent,
        "titles": titles_of(consent),
        "status": status,
        # an address is shown when it is gone, too; of a number that is gone nothing is kept
        "named": [*filter(None, [consent.email]), *named_by(consent, verified).phone_numbers],
        "ended_because": END_REASONS[EndReason(consent.end_reason)] if consent.end_reason else "",
        "run": runs[0] if runs else None,
        "sends": sends,
        "done": done,
        "over": done or status != ProcessingStatus.LIVE,
        "receivers": [receivers[name].described for name in consent.destinations if name in receivers],
        "receivers_count": len(consent.deletions.all()),
        "sendings": [(sending, ACTIVATIONS[ActivationStatus(sending.status)]) for sending in sendings],
    }
