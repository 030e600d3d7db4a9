"""Bringing into the audit what not even `audit_pending` could take when it took place."""

import logging
from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from common.clock import database_now, rfc3339
from consent.event_types import EventType
from consent.grants.actions import facts_of
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditPending, Receipt
from consent.ledger.pending import MOST_AT_ONCE
from consent.ledger.verifying import Broken
from consent.notices.models import Notice
from consent.requests.models import ConsentRequest
from consent.requests.record import record
from consent.states import ENDED_GRANTS, Actor, GrantStatus, RequestStatus

_log = logging.getLogger(__name__)
_ENDED_REQUESTS = (RequestStatus.DENIED, RequestStatus.CANCELLED, RequestStatus.EXPIRED)


# --- What not even audit_pending could take: the rows themselves tell -------------------------------------------------
def write_down_unrecorded(*, limit: int = MOST_AT_ONCE) -> int:
    """Write the entry, receipt and notice of every end and pause that has none; returns how many."""
    written = 0
    for request_pk in list(_unrecorded_requests().values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            asked = _unrecorded_requests().filter(pk=request_pk).select_for_update(of=("self",))
            for request in asked.select_related("app__application", "user", "scope_entry"):
                _record(request, None, EventType(request.status), Actor(request.decided_by), request.decided_at)
                written += 1
    for grant_pk in [*_unrecorded_grants().values_list("pk", flat=True)[:limit], *_unrecorded_pauses()]:
        with transaction.atomic():
            written += _record_grant(grant_pk)
    if written:
        _log.critical("%d ends or pauses were in no audit chain and have been written down now", written)
    return written


def _record_grant(grant_pk: int) -> int:
    related = ("request__app__application", "request__user", "request__scope_entry")
    grant = Grant.objects.select_for_update(of=("self",)).select_related(*related).get(pk=grant_pk)
    if grant.status == GrantStatus.PAUSED:
        if grant_pk not in _unrecorded_pauses(grant_pk):
            return 0
        _record(grant.request, grant, EventType.PAUSED, Actor.PERSON, None)
    elif _unrecorded_grants().filter(pk=grant_pk).exists():
        _record(grant.request, grant, EventType(grant.status), Actor(grant.ended_by), grant.ended_at)
    else:
        return 0
    return 1


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


def _unrecorded_requests() -> QuerySet[ConsentRequest]:
    """Ended without an approval, and neither a receipt nor a waiting entry says so."""
    ended = ConsentRequest.objects.filter(status__in=_ENDED_REQUESTS, user__erased_at=None)
    receipt = Receipt.objects.filter(request=OuterRef("pk"), event=OuterRef("status"))
    waits = AuditPending.objects.filter(request=OuterRef("pk"), kind=OuterRef("status"))
    return ended.exclude(Exists(receipt)).exclude(Exists(waits)).order_by("pk")


def _unrecorded_grants() -> QuerySet[Grant]:
    """Ended, and neither a receipt nor a waiting entry says so."""
    receipt = Receipt.objects.filter(request=OuterRef("request"), event=OuterRef("status"))
    waits = AuditPending.objects.filter(request=OuterRef("request"), kind=OuterRef("status"))
    ended = Grant.objects.filter(status__in=ENDED_GRANTS, user__erased_at=None)
    return ended.exclude(Exists(receipt)).exclude(Exists(waits)).order_by("pk")


def _unrecorded_pauses(grant_pk: int | None = None) -> list[int]:
    """Paused, and the newest word in the chain and among what waits is another."""
    paused = Grant.objects.filter(status=GrantStatus.PAUSED)
    paused = paused if grant_pk is None else paused.filter(pk=grant_pk)
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
