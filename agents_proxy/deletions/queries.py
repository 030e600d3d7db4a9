"""What can be seen of who got something of a person, always starting from the person or their consent."""

from typing import Any

from django.db.models import Max, QuerySet

from accounts.models import Erasure, User
from agents_proxy.deletions.messages import receipt
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.receivers import address_of, contact_of, described
from agents_proxy.errors import UnknownConsent
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import DeletionStatus
from common.clock import rfc3339
from common.identifiers import is_identifier


def own_consent(person: User, consent_id: str) -> ProcessingConsent:
    """Raises `UnknownConsent`, also for somebody else's."""
    own = ProcessingConsent.objects.filter(user=person, consent_id=consent_id).select_related("app")
    found = own.first() if is_identifier(consent_id) else None
    if found is None:
        raise UnknownConsent()
    return found


def deletions_under(consent: ProcessingConsent) -> QuerySet[Deletion]:
    """Everybody who got something under this consent, without what they were told."""
    return _shown(Deletion.objects.filter(consent=consent)).order_by("pk")


def deletions_after(erasure: Erasure) -> QuerySet[Deletion]:
    """Everybody who was asked when somebody was erased."""
    return _shown(Deletion.objects.filter(erasure=erasure)).order_by("pk")


def deletions_of_person(person: User) -> QuerySet[Deletion]:
    """Everybody who got something of them, the latest first, those that they withdrew from, too."""
    return _shown(Deletion.objects.filter(consent__user=person)).select_related("consent").order_by("-pk")


def receivers_of(person: User) -> tuple[list[str], list[str]]:
    """Those that would be asked to delete what they got of somebody, and those that can only be asked by hand."""
    left = Deletion.objects.filter(consent__user=person).exclude(status=DeletionStatus.CONFIRMED).order_by()
    newest = left.values("agent", "origin", "destination").annotate(newest=Max("pk")).values("newest")
    by_request: dict[str, None] = {}
    by_hand: dict[str, None] = {}
    for row in _shown(Deletion.objects.filter(pk__in=newest)).order_by("pk"):
        if address_of(row):
            by_request[described(row)] = None
        else:
            contact = contact_of(row)
            by_hand[f"{described(row)}, {contact}" if contact else described(row)] = None
    return list(by_request), list(by_hand)


def body(row: Deletion) -> dict[str, Any]:
    """One row as its person is given it, with all that is held about them."""
    return {
        "deletion_id": row.deletion_id,
        "consent_id": row.consent.consent_id if row.consent else None,
        "receiver": described(row),
        "status": row.status,
        "first_sent_at": rfc3339(row.first_at),
        "last_sent_at": rfc3339(row.last_at),
        "requested_at": rfc3339(row.requested_at),
        "finished_at": rfc3339(row.finished_at),
        "answer": row.confirmation,
        "receipt": receipt(row),
    }


def _shown(rows: QuerySet[Deletion]) -> QuerySet[Deletion]:
    return rows.select_related("destination__app__application").defer("subject", "destination__secret")
