"""The page of one agreement's receivers: who got something under it, who confirmed that it is deleted, who did not."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.hooks import Answered
from accounts.models import Erasure
from agents_proxy.agents import TITLES
from agents_proxy.deletions import queries as deletion_queries
from agents_proxy.deletions.actions import KEPT
from agents_proxy.deletions.messages import receipt
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.receivers import address_of, contact_of, described
from agents_proxy.states import DeletionStatus, ProcessingStatus, Purpose
from common.clock import database_now

# what pages say of one receiver, and in which tone
STATES: dict[DeletionStatus, tuple[Promise, str]] = {
    DeletionStatus.DISCLOSED: (_("Received something"), "n"),
    DeletionStatus.QUEUED: (_("Not confirmed yet"), "warn"),
    DeletionStatus.SENDING: (_("Being asked"), "warn"),
    DeletionStatus.CONFIRMED: (_("Confirmed that it deleted it"), "ok"),
    DeletionStatus.UNCONFIRMED: (_("Never confirmed"), "bad"),
}
# why nothing is confirmed yet, by the error of the last attempt
REASONS: dict[str, Promise] = {
    "refused": _("It did not confirm."),
    "unsaid": _("It took the request, and did not say that it deleted anything."),
    "unreachable": _("It could not be reached."),
    "accepted": _("It says that it will do so later."),
    "no_address": _("It takes no such requests: ask whoever runs it."),
    "unreadable": _("This service cannot read any more whom to name to it."),
}


@signed_in_page
def receivers(request: HttpRequest, consent_id: str) -> HttpResponse:
    """Whom the person may still have it deleted at, or what became of that."""
    consent = deletion_queries.own_consent(person_of(request), consent_id)
    rows = [_row(row) for row in deletion_queries.deletions_under(consent)]
    shown = {
        "consent": consent,
        "titles": [TITLES[Purpose(purpose)] for purpose in consent.purposes],
        "is_live": consent.status_at(database_now()) is ProcessingStatus.LIVE,
        "rows": rows,
        "confirmed": sum(row["row"].status == DeletionStatus.CONFIRMED for row in rows),
        "moving": any(row["row"].next_attempt_at or row["row"].lease_until for row in rows),
        "days": KEPT.days,
    }
    return render(request, "agents/receivers.html", shown)


def _row(row: Deletion) -> dict[str, Any]:
    label, tone = STATES[DeletionStatus(row.status)]
    open_to_requests = bool(address_of(row))
    by_hand = row.status == DeletionStatus.UNCONFIRMED or (
        row.status in (DeletionStatus.DISCLOSED, DeletionStatus.QUEUED) and not open_to_requests
    )
    reason = row.error_code if row.status != DeletionStatus.DISCLOSED or open_to_requests else "no_address"
    return {
        "row": row,
        "name": described(row),
        "label": label,
        "tone": tone,
        "reason": REASONS.get("no_address" if by_hand and not open_to_requests else reason, ""),
        "contact": contact_of(row) if by_hand else "",
        "receipt": receipt(row),
    }


def answers_after(erasure: Erasure) -> list[Answered]:
    """What whoever was erased is shown of those that were asked, without an account."""
    return [
        Answered(described(row), *STATES[DeletionStatus(row.status)], row.finished_at, row.confirmation, receipt(row))
        for row in deletion_queries.deletions_after(erasure)
    ]
