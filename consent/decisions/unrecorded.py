"""Bringing into the audit what not even `audit_pending` could take when it took place."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from common.batches import each_alone
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
from consent.requests.record import record
from consent.states import ENDED_GRANTS, Actor, GrantStatus, RequestStatus

_log = logging.getLogger(__name__)
_ENDED_REQUESTS = (RequestStatus.DENIED, RequestStatus.CANCELLED, RequestStatus.EXPIRED)
_MINUTES = 24 * 60  # of a day, in each of which another part of all rows is looked through
_AT_ONCE = 20.0  # seconds for each kind of row, after which the rest is left to the next run
_ALL, _MARKED = Q(), Q(record_waits=True)


# --- What not even audit_pending could take: the rows themselves tell -------------------------------------------------
def write_down_unrecorded(at: datetime | None = None) -> int:
    """Write the entry, receipt and notice of every end and pause that is marked as having none; returns how many.

    Marked or not, a part of all requests and grants is compared with the receipts as well, another in each minute of
    the day: the mark comes from the code that could not write (decision 0052). `at` stands for the clock in tests.
    """
    at = at or database_now()
    marked = ConsentRequest.objects.filter(_MARKED), Grant.objects.filter(_MARKED)
    part = _part(ConsentRequest, at), _part(Grant, at)
    written = _each(marked[0], _record_request) + _each(marked[1], _record_grant)
    written += _each(_unrecorded_requests(part[0]), _record_request) + _each(_unrecorded_grants(part[1]), _record_grant)
    written += _each(_unrecorded_pauses(part[1]), _record_grant)
    if written:
        _log.critical("%d ends or pauses were in no audit chain and have been written down now", written)
    return written


def _part(model: type[ConsentRequest] | type[Grant], at: datetime) -> Q:
    """The rows that are this minute's."""
    keys = keys_of(model._default_manager.aggregate(newest=Max("pk"))["newest"] or 0, at)
    return Q(pk__gte=keys.start, pk__lt=keys.stop)


def keys_of(newest: int, at: datetime) -> range:
    """The keys up to the newest that are looked at in this minute of the day; each is in that of one minute."""
    minute = int(at.timestamp()) // 60 % _MINUTES
    return range(newest * minute // _MINUTES + 1, newest * (minute + 1) // _MINUTES + 1)


def _each(found: QuerySet[ConsentRequest] | QuerySet[Grant] | list[int], work: Callable[[int], int]) -> int:
    keys = found if isinstance(found, list) else list(found.order_by("pk").values_list("pk", flat=True))
    return each_alone(keys, work, what="the ends that no entry tells of", most_seconds=_AT_ONCE)


def _record_request(request_pk: int) -> int:
    """1 where something was missing and is written down or waits, else 0. The mark goes, unless that failed again."""
    with transaction.atomic():
        held = ConsentRequest.objects.select_for_update(of=("self",)).select_related(*RELATED)
        request = held.get(pk=request_pk)
        ConsentRequest.objects.filter(_MARKED, pk=request_pk).update(record_waits=False)
        if not _unrecorded_requests(Q(pk=request_pk)).exists():
            return 0
        _record(request, None, EventType(request.status), Actor(request.decided_by), request.decided_at)
        return int(not ConsentRequest.objects.filter(_MARKED, pk=request_pk).exists())


def _record_grant(grant_pk: int) -> int:
    """The same of a grant's end or pause."""
    with transaction.atomic():
        held = Grant.objects.select_for_update(of=("self",))
        grant = held.select_related(*(f"request__{name}" for name in RELATED)).get(pk=grant_pk)
        Grant.objects.filter(_MARKED, pk=grant_pk).update(record_waits=False)
        if _unrecorded_pauses(Q(pk=grant_pk)):
            _record(grant.request, grant, EventType.PAUSED, Actor.PERSON, None)
        elif _unrecorded_grants(Q(pk=grant_pk)).exists():
            _record(grant.request, grant, EventType(grant.status), Actor(grant.ended_by), grant.ended_at)
        else:
            return 0
        return int(not Grant.objects.filter(_MARKED, pk=grant_pk).exists())


def _record(
    request: ConsentRequest, grant: Grant | None, event: EventType, actor: Actor, happened: datetime | None
) -> None:
    """As it would have been written then; the notice only where the app was not told."""
    newest = Notice.objects.filter(request=request, kind__startswith="consent.").order_by("-sequence").first()
    record(
        request=request,
        grant=facts_of(grant) if grant else None,
        event=event,
        actor=actor,
        at=database_now(),
        happened=happened,
        facts={"happened_at": rfc3339(happened), "derived": True},
        notify=newest is None or newest.kind != event.webhook_type,
    )


def _unrecorded_requests(which: Q = _ALL) -> QuerySet[ConsentRequest]:
    """Ended without an approval, and neither a receipt nor a waiting entry says so."""
    ended = ConsentRequest.objects.filter(which, status__in=_ENDED_REQUESTS, user__erased_at=None)
    receipt = Receipt.objects.filter(request=OuterRef("pk"), event=OuterRef("status"))
    waits = AuditPending.objects.filter(request=OuterRef("pk"), kind=OuterRef("status"))
    return ended.exclude(Exists(receipt)).exclude(Exists(waits)).order_by("pk")


def _unrecorded_grants(which: Q = _ALL) -> QuerySet[Grant]:
    """Ended, and neither a receipt nor a waiting entry says so."""
    receipt = Receipt.objects.filter(request=OuterRef("request"), event=OuterRef("status"))
    waits = AuditPending.objects.filter(request=OuterRef("request"), kind=OuterRef("status"))
    ended = Grant.objects.filter(which, status__in=ENDED_GRANTS, user__erased_at=None)
    return ended.exclude(Exists(receipt)).exclude(Exists(waits)).order_by("pk")


def _unrecorded_pauses(which: Q) -> list[int]:
    """Paused, and the newest word in the chain and among what waits is another."""
    paused = Grant.objects.filter(which, status=GrantStatus.PAUSED)
    return [grant.pk for grant in paused.select_related("user").order_by("pk") if not _says_paused(grant)]


def _says_paused(grant: Grant) -> bool:
    if AuditPending.objects.filter(request=grant.request_id, kind=EventType.PAUSED).exists():
        return True
    chain = audit.person_chain(grant.user.public_id)
    told = AuditEntry.objects.of(chain).filter(kind__in=(EventType.PAUSED, EventType.RESUMED))
    said = told.telling(grant_id=grant.grant_id)
    return said.order_by("-sequence").values_list("kind", flat=True).first() == EventType.PAUSED


def verify_ends() -> Iterator[Broken]:
    """The people whose chain does not tell of an end that took place."""
    requests = _unrecorded_requests().values_list("user__public_id", "request_id", "status")
    grants = (
        _unrecorded_grants().annotate(asked=F("request__request_id")).values_list("user__public_id", "asked", "status")
    )
    for found in (requests, grants):
        for user_id, request_id, status in found.iterator(chunk_size=2000):
            yield Broken(audit.person_chain(user_id), 0, f"no entry tells that {request_id} is {status}")
