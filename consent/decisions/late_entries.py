"""Entries of ends and pauses that not even `audit_pending` could take, and notices of them that could not be written:
derived from the rows that changed."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from common.batches import one_by_one
from common.clock import database_now, rfc3339
from consent.event_types import EventType
from consent.grants.actions import facts_of
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditPending, Receipt
from consent.ledger.verifying import Broken
from consent.notices.models import Notice
from consent.requests.actions import RELATED
from consent.requests.models import ConsentRequest
from consent.requests.record import Change, record, write_notices
from consent.states import ENDED_GRANTS, Actor, GrantStatus, RequestStatus

_log = logging.getLogger(__name__)
_ENDED_REQUESTS = (RequestStatus.DENIED, RequestStatus.CANCELLED, RequestStatus.EXPIRED)
_AT_ONCE = 20.0  # seconds for each kind of row, after which the rest is left to the next run
_MOST_PAUSES = 5000  # that one run looks at, any of them: the chain of each is read
_MARKED = Q(record_waits=True)


def write_marked() -> int:
    """Write the entry, receipt and notice of every end and pause that is marked as having none; returns how many."""
    requests, grants = ConsentRequest.objects.filter(_MARKED), Grant.objects.filter(_MARKED)
    return _log_late_entries(_each(_keys(requests), _record_request) + _each(_keys(grants), _record_grant))


def write_missing() -> int:
    """The same of all that are in no chain, marked or not: the mark comes from the code that could not write."""
    written = _each(_keys(_unrecorded_requests()), _record_request) + _each(_keys(_unrecorded_grants()), _record_grant)
    paused = _paused().order_by("?").values_list("pk", flat=True)[:_MOST_PAUSES]
    return _log_late_entries(written + _each(list(paused), _record_unrecorded_pause))


def _log_late_entries(written: int) -> int:
    if written:
        _log.critical("%d ends or pauses were in no audit chain and have been written down now", written)
    return written


def _keys(found: "QuerySet[ConsentRequest] | QuerySet[Grant]") -> list[int]:
    return list(found.order_by("pk").values_list("pk", flat=True))


def _each(keys: list[int], work: Callable[[int], int]) -> int:
    return one_by_one(keys, work, what="the ends that no entry tells of", most_seconds=_AT_ONCE)


def _record_request(request_pk: int) -> int:
    """1 where something was missing and is written down or waits, else 0. The mark goes, unless that failed again."""
    with transaction.atomic():
        locked = ConsentRequest.objects.select_for_update(of=("self",)).select_related(*RELATED)
        request = locked.get(pk=request_pk)
        ConsentRequest.objects.filter(_MARKED, pk=request_pk).update(record_waits=False)
        if not _unrecorded_requests(pk=request_pk).exists():
            _write_lacking_notice(request, request.status)
            return 0
        _record(request, None, EventType(request.status), Actor(request.decided_by), request.decided_at)
        return int(not ConsentRequest.objects.filter(_MARKED, pk=request_pk).exists())


def _record_grant(grant_pk: int) -> int:
    """The same of a grant's end or pause."""
    with transaction.atomic():
        locked = Grant.objects.select_for_update(of=("self",))
        grant = locked.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant_pk)
        Grant.objects.filter(_MARKED, pk=grant_pk).update(record_waits=False)
        if _is_unrecorded_pause(grant_pk):
            _record(grant.request, grant, EventType.PAUSED, Actor.PERSON, None)
        elif _unrecorded_grants(pk=grant_pk).exists():
            _record(grant.request, grant, EventType(grant.status), Actor(grant.ended_by), grant.ended_at)
        else:
            _write_lacking_notice(grant.request, grant.status)
            return 0
        return int(not Grant.objects.filter(_MARKED, pk=grant_pk).exists())


def _record_unrecorded_pause(grant_pk: int) -> int:
    """The same where it is missing, which is looked at without a lock first."""
    return _record_grant(grant_pk) if _is_unrecorded_pause(grant_pk) else 0


def _record(
    request: ConsentRequest, grant: Grant | None, event: EventType, actor: Actor, happened: datetime | None
) -> None:
    """As it would have been written then; the notice only where the app was not told."""
    change = Change(
        request,
        event,
        actor,
        at=database_now(),
        grant=facts_of(grant) if grant else None,
        happened=happened,
        facts={"happened_at": rfc3339(happened), "derived": True},
    )
    record(change, notify=_lacks_notice(request, event))


def _write_lacking_notice(request: ConsentRequest, status: str) -> None:
    """Write the notice alone, where an entry has an end or pause that the app has no notice of.

    What has been resumed meanwhile needs none.
    """
    if status not in (*_ENDED_REQUESTS, *ENDED_GRANTS, GrantStatus.PAUSED):
        return
    event, of_somebody = EventType(status), ConsentRequest.objects.filter(_of_somebody(), pk=request.pk)
    if of_somebody.exists() and _lacks_notice(request, event):
        write_notices([request], event, database_now())


def _lacks_notice(request: ConsentRequest, event: EventType) -> bool:
    """Whether the app's newest notice of this request is of something else."""
    newest = Notice.objects.filter(request=request, kind__startswith="consent.").order_by("-sequence").first()
    return newest is None or newest.kind != event.webhook_type


def _of_somebody() -> Q:
    """Whose account is neither erased nor about to be: nothing is written about them any more."""
    return Q(user__erased_at=None) & (Q(user__leaves_at=None) | Q(user__leaves_at__gt=database_now()))


def _unrecorded_requests(**which: int) -> QuerySet[ConsentRequest]:
    """Ended without an approval, and neither a receipt nor a waiting entry says so."""
    ended = ConsentRequest.objects.filter(**which, status__in=_ENDED_REQUESTS).filter(_of_somebody())
    receipt = Receipt.objects.filter(request=OuterRef("pk"), event=OuterRef("status"))
    deferred = AuditPending.objects.filter(request=OuterRef("pk"), kind=OuterRef("status"))
    return ended.exclude(Exists(receipt)).exclude(Exists(deferred)).order_by("pk")


def _unrecorded_grants(**which: int) -> QuerySet[Grant]:
    """Ended, and neither a receipt nor a waiting entry says so."""
    receipt = Receipt.objects.filter(request=OuterRef("request"), event=OuterRef("status"))
    deferred = AuditPending.objects.filter(request=OuterRef("request"), kind=OuterRef("status"))
    ended = Grant.objects.filter(**which, status__in=ENDED_GRANTS).filter(_of_somebody())
    return ended.exclude(Exists(receipt)).exclude(Exists(deferred)).order_by("pk")


def _paused() -> QuerySet[Grant]:
    """Paused, and no waiting entry says so."""
    deferred = AuditPending.objects.filter(request=OuterRef("request"), kind=EventType.PAUSED)
    return Grant.objects.filter(_of_somebody(), ~Exists(deferred), status=GrantStatus.PAUSED)


def _is_unrecorded_pause(grant_pk: int) -> bool:
    """Paused, and the newest word in the chain and among what waits is another."""
    grant = _paused().filter(pk=grant_pk).select_related("user").first()
    if grant is None:
        return False
    chain = audit.person_chain(grant.user.public_id)
    pauses = AuditEntry.objects.of(chain).filter(kind__in=(EventType.PAUSED, EventType.RESUMED))
    newest_first = pauses.with_facts(grant_id=grant.grant_id)
    return newest_first.order_by("-sequence").values_list("kind", flat=True).first() != EventType.PAUSED


def verify_ends() -> Iterator[Broken]:
    """The people whose chain does not tell of an end that took place."""
    requests = _unrecorded_requests().values_list("user__public_id", "request_id", "status")
    grants = (
        _unrecorded_grants()
        .annotate(of_request=F("request__request_id"))
        .values_list("user__public_id", "of_request", "status")
    )
    for found in (requests, grants):
        for user_id, request_id, status in found.iterator(chunk_size=2000):
            yield Broken(audit.person_chain(user_id), 0, f"no entry tells that {request_id} is {status}")
