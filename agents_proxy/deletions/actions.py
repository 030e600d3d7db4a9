"""Writing down who gets something of a person, and asking them to delete it: when a consent or an account ends.

What is asked for here is a row; `deliveries` takes it there.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from accounts.models import Erasure
from agents_proxy.agents import AGENTS, upstream_of
from agents_proxy.deletions.models import Deletion, new_deletion_id
from agents_proxy.deletions.receivers import Receiver, agent_at, longest_call, receiver_of
from agents_proxy.deletions.sealing import MOST_ACTIVATIONS, Subject, opened, sealed
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent.identifiers import Identifiers, named_by, verified_by, verified_by_others
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import DeletionStatus
from common import encryption
from common.broker import enqueue
from common.clock import database_now

KEPT = timedelta(days=30)  # for which a receiver is asked, and whom it is about is known
SEND = "agents_proxy.tasks.send_deletion"


def record_disclosure(*, consent_pk: int, to: Receiver, identifiers: Identifiers) -> bool:
    """Note, before anything is sent under a consent, who gets it and by what it names the person.

    False where the consent ended meanwhile: then nothing may be sent. Whoever withdraws it waits for this, or this
    for them, so that there is no receiver of whom the withdrawal does not know.
    """
    mine = Deletion.objects.filter(consent=consent_pk, **to.condition)
    known = mine.filter(status=DeletionStatus.DISCLOSED)
    known = known.filter(has_email=True) if identifiers.emails else known
    known = known.filter(has_number=True) if identifiers.phone_numbers else known
    if known.update(last_at=Now(), under_way=F("under_way") + 1):
        return True
    with transaction.atomic():
        consent = ProcessingConsent.objects.select_for_update().filter(pk=consent_pk, withdrawn_at=None).first()
        if consent is None:
            return False
        row = mine.select_for_update().first()  # calls that tell nothing new lock no consent
        row = row or Deletion(consent=consent, deletion_id=new_deletion_id(), first_at=database_now(), **to.columns)
        row.last_at, row.under_way = database_now(), F("under_way") + 1 if row.pk else 1
        _seal_subject(row, _subject(row).united(Subject(identifiers)) if row.pk else Subject(identifiers))
        row.save()
    return True


def record_return(*, consent_pk: int, to: Receiver) -> None:
    """Note that a call or a sending of `record_disclosure` came back, whatever came of it: it arrived, or never will.

    Of one whose process died nobody says so; then a deletion waits for as long as it could take.
    """
    mine = Deletion.objects.filter(consent=consent_pk, under_way__gt=0, **to.condition)
    mine.update(under_way=F("under_way") - 1)


@transaction.atomic
def request_under(consent_pk: int) -> None:
    """Have deleted what was sent under a consent that is being withdrawn, everywhere; again changes nothing."""
    consent = ProcessingConsent.objects.select_for_update().get(pk=consent_pk)
    if consent.withdrawn_at is not None:
        return
    now = database_now()
    _record_earlier([consent], now)
    rows = Deletion.objects.select_for_update().filter(consent=consent, status=DeletionStatus.DISCLOSED)
    for row in rows.order_by("pk"):
        if row.destination_id is not None:
            _seal_subject(row, Subject(_subject(row).identifiers, _sendings(row.destination_id, consent=consent)))
        _request(row, now)


def request_for_erasure(erasure: Erasure) -> None:
    """Have deleted, at every receiver, whatever it got of somebody who is erased, in the transaction that erases them.

    What they withdrew and nobody confirmed is part of it. By an address or a number that somebody else has verified
    meanwhile, a receiver is asked for what came under each consent alone: all that it has by it is not only theirs.
    """
    consents = list(ProcessingConsent.objects.select_for_update().filter(user=erasure.user_id).order_by("pk"))
    now = database_now()
    _record_earlier(consents, now)
    left = Deletion.objects.filter(consent__user=erasure.user_id).exclude(status=DeletionStatus.CONFIRMED)
    found: dict[Receiver, dict[Deletion, Subject]] = {}
    for row in left.select_related("consent").order_by("pk"):
        found.setdefault(Receiver(row.origin, row.agent, row.destination_id), {})[row] = _subject(row)
    united = Subject(Identifiers()).united(*(subject for rows in found.values() for subject in rows.values()))
    others = verified_by_others(united.identifiers, erasure.user_id)
    for to, rows in found.items():
        names = _sendings(to.destination_pk, consent__user=erasure.user_id)
        of_all = Subject(Identifiers(), names).united(*rows.values())
        requests = [(list(rows), replace(of_all, identifiers=of_all.identifiers.without(others)))]
        for row, subject in rows.items():
            shared = subject.identifiers.within(others)
            if shared.all and row.consent is not None:
                names = _sendings(to.destination_pk, consent=row.consent)
                requests.append(([row], Subject(shared, names, consent=row.consent.consent_id)))
        for part, (of, subject) in enumerate(requests):
            first, last = min(row.first_at for row in of), max(row.last_at for row in of)
            made = Deletion(erasure=erasure, part=part, deletion_id=new_deletion_id(), first_at=first, last_at=last)
            made.origin, made.agent, made.destination_id = to.origin, to.agent, to.destination_pk
            made.under_way = sum(row.under_way for row in of)
            _seal_subject(made, subject)
            _request(made, now)


def request_end_of_access(erasure: Erasure, *, at: Receiver, token: str) -> None:
    """Have an access ended that could not be ended at once, in the transaction that erases its person."""
    now = database_now()
    row = Deletion(erasure=erasure, deletion_id=new_deletion_id(), first_at=now, last_at=now, **at.columns)
    row.subject = sealed(Subject(Identifiers(), access=token), row.deletion_id)
    _request(row, now)


def _request(row: Deletion, now: datetime) -> None:
    """Once what is on its way has arrived, or is lost: a deletion must not overtake it."""
    row.status, row.requested_at = DeletionStatus.QUEUED, now
    row.next_attempt_at = max(now, row.last_at + longest_call(row)) if row.under_way else now
    row.save()
    if row.next_attempt_at == now:
        transaction.on_commit(partial(enqueue, SEND, row.pk))


def _seal_subject(row: Deletion, subject: Subject) -> None:
    row.has_email, row.has_number = bool(subject.identifiers.emails), bool(subject.identifiers.phone_numbers)
    row.subject = sealed(subject, row.deletion_id)


def _subject(row: Deletion) -> Subject:
    """What the receiver was told; where that is gone or cannot be opened, what the consent names of the same kinds."""
    if row.subject is not None:
        try:
            return opened(row)
        except encryption.DecryptionFailed:
            pass
    named = named_by(row.consent, verified_by(row.consent.user_id)) if row.consent else Identifiers()
    return Subject(Identifiers(named.emails if row.has_email else (), named.phone_numbers if row.has_number else ()))


def _sendings(destination_pk: int | None, **whose: Any) -> tuple[str, ...]:
    """The newest that a destination got; none of an agent."""
    if destination_pk is None:
        return ()
    got = Destination.objects.get(pk=destination_pk).activations.filter(attempts__gt=0, **whose)
    return tuple(got.order_by("-pk").values_list("activation_id", flat=True)[:MOST_ACTIVATIONS])


def _record_earlier(consents: Iterable[ProcessingConsent], now: datetime) -> None:
    """Note who got something from a release that did not note it: calls of agents and sendings say so, too."""
    by_pk = {consent.pk: consent for consent in consents}
    ours: QuerySet[ProcessingConsent] = ProcessingConsent.objects.filter(pk__in=by_pk).order_by()
    noted = Deletion.objects.filter(consent__in=by_pk)
    known = {(row.consent_id, row.agent, row.destination_id) for row in noted.defer("subject", "confirmation")}
    called = ours.filter(calls__isnull=False).values_list("pk", "calls__agent").distinct()
    sent = ours.filter(activations__attempts__gt=0).values_list("pk", "activations__destination").distinct()
    found: list[tuple[int, Receiver]] = []
    for consent_pk, agent in called:
        upstream = upstream_of(agent) if agent in AGENTS else None
        if upstream is not None and (consent_pk, agent, None) not in known:
            found.append((consent_pk, agent_at(agent, upstream)))
    missing = {(consent_pk, int(pk)) for consent_pk, pk in sent if (consent_pk, "", int(pk)) not in known}
    destinations = Destination.objects.in_bulk({pk for _, pk in missing})
    found += [(consent_pk, receiver_of(destinations[pk])) for consent_pk, pk in sorted(missing)]
    for consent_pk, to in found:
        consent = by_pk[consent_pk]
        row = Deletion(consent=consent, deletion_id=new_deletion_id(), first_at=now, last_at=now, **to.columns)
        row.under_way = 1  # as far as anybody knows
        _seal_subject(row, Subject(named_by(consent, verified_by(consent.user_id))))
        row.save()
