"""A read step by step: look whether the grant is live, claim the read, write it down. For every read and database."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Q, Subquery

from common.clock import database_now
from common.sql.dialect import ClockTimestamp
from consent import status
from consent.approvals.models import ApprovalKey
from consent.errors import AccessDenied, AuthorizationPending, GrantEnded, GrantPaused, UnknownRequest
from consent.exports.models import Export, Read
from consent.exports.taken_reads import ReadCall, TakenRead
from consent.grants.actions import end_grant
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.requests.models import ConsentRequest
from consent.states import Actor, GrantStatus, RequestStatus
from developers.idempotency import claim_idempotency_key

_REPEAT = timedelta(minutes=10)  # how long an Idempotency-Key makes a repeated read one read
_NEWEST = Export.objects.filter(grant__request=OuterRef("pk")).order_by("-revision").values("export_id")[:1]


def find_live(call: ReadCall) -> ConsentRequest:
    """The request with its grant and `newest_export`, the name of its newest revision, or the refusal."""
    request = _find(call)
    refuse_unless_live(request, database_now())
    return request


def take_read(call: ReadCall, request: ConsentRequest) -> TakenRead:
    """The export as it is at the claim, with the count of reads; this one is written down, unless it was before."""
    taken = _take(call, request)
    if taken is None:
        # it ended between the look and the claim: say how it stands now
        now_there = find_live(call)
        raise GrantEnded(
            "The approval has ended.", request_status=now_there.status, grant_status=now_there.grant.status
        )
    return taken


def _find(call: ReadCall) -> ConsentRequest:
    found = ConsentRequest.objects.filter(request_id=call.request_id, app_id=call.app.app_pk)
    request = found.select_related("user", "grant").annotate(newest_export=Subquery(_NEWEST)).first()
    if request is None:
        raise UnknownRequest
    return request


def refuse_unless_live(request: ConsentRequest, now: datetime) -> None:
    """Raise what keeps the app from reading this, by the clock."""
    grant: Grant | None = getattr(request, "grant", None)
    request_status, grant_status = request.standing(now), grant.standing(now) if grant else None
    match request_status:
        case RequestStatus.PENDING:
            raise AuthorizationPending(headers={"Retry-After": str(status.INTERVAL)})
        case RequestStatus.DENIED:
            raise AccessDenied
        case RequestStatus.CANCELLED | RequestStatus.EXPIRED:
            raise GrantEnded(f"The request is {request_status}.", request_status=request_status)
    if grant_status is GrantStatus.PAUSED:
        raise GrantPaused
    if grant_status is not GrantStatus.ACTIVE:
        raise GrantEnded(f"The approval is {grant_status}.", request_status=request_status, grant_status=grant_status)


@transaction.atomic
def _take(call: ReadCall, request: ConsentRequest) -> TakenRead | None:
    """None where there is nothing to claim any more."""
    grant_pk = request.grant.pk
    _try_the_audit(audit.person_chain(request.user.public_id))
    claim = None
    if call.idempotency_key is not None:
        claim = claim_idempotency_key(
            app_pk=call.app.app_pk,
            operation="consent-export",
            key=call.idempotency_key,
            body={"request_id": request.request_id},
            lifetime=_REPEAT,
        )
        if claim.answer is not None:
            again = _find_again(grant_pk, claim.answer["export_id"])
            if again is not None:  # else there is a newer revision, which is another read
                return _taken(request, again)
    now = database_now()
    export = _claim(grant_pk)
    if export is None:
        return None
    _write_down(call, export)
    if claim is not None:
        claim.keep({"export_id": export.export_id})
    if export.grant.reads == export.grant.max_reads:
        end_grant(grant_pk=grant_pk, to=GrantStatus.EXHAUSTED, actor=Actor.SYSTEM, at=now)
    return _taken(request, export)


def _find_again(grant_pk: int, export_id: str) -> Export | None:
    """The same read once more: checked live like any other, counted never."""
    of_live = Export.objects.filter(grant_id=grant_pk, grant__status=GrantStatus.ACTIVE, ciphertext__isnull=False)
    return of_live.select_related("grant").filter(export_id=export_id).first()


def _claim(grant_pk: int) -> Export | None:
    """Count a read of the newest revision. The claim is the check: a grant that ended a moment ago matches no row."""
    live = Grant.objects.filter(pk=grant_pk, status=GrantStatus.ACTIVE, expires_at__gt=ClockTimestamp())
    if not live.filter(Q(max_reads__isnull=True) | Q(reads__lt=F("max_reads"))).update(reads=F("reads") + 1):
        return None
    # a renewal takes the same lock: what stands here now stays until this read is over
    there = Export.objects.filter(grant_id=grant_pk, ciphertext__isnull=False)
    return there.select_related("grant").order_by("-revision").first()


def _write_down(call: ReadCall, export: Export) -> None:
    with audit.must_be_written():
        Read.objects.create(
            grant_id=export.grant_id,
            export=export,
            token_id=call.app.token_pk,
            at=ClockTimestamp(),
            address_prefix=call.address_prefix,
        )


def _try_the_audit(chain: str) -> None:
    """Raises `AuditUnavailable` where this chain takes no entry now, and leaves none.

    Its first entry is inserted once more, which every trigger, privilege and constraint of the table gets to refuse,
    and which the entry itself then turns into nothing. The read's own entry is written later, together with others
    (read_batches.py); what cannot be written down is not handed out.
    """
    with audit.must_be_written():
        first = AuditEntry.objects.of(chain).filter(sequence=1).first()
        if first is not None:
            AuditEntry.objects.bulk_create([first], ignore_conflicts=True)
            return
        # a grant came of an approval, whose entry is in the chain: whoever took that away gets a full trial
        with transaction.atomic():
            audit.append(chain=chain, kind="trial", actor=Actor.SYSTEM.value, at=database_now(), facts={})
            transaction.set_rollback(True)


def _taken(request: ConsentRequest, export: Export) -> TakenRead:
    grant = export.grant
    known = ApprovalKey.objects.filter(user=request.user_id, app=request.app_id)
    history = known.values_list("history", flat=True).first()
    return TakenRead(
        request_id=request.request_id,
        grant_id=grant.grant_id,
        export_id=export.export_id,
        revision=export.revision,
        user_id=request.user.public_id,
        scope=request.scope,
        approved_attributes=export.approved_attributes or grant.approved_attributes,
        connector_key_id=request.connector_key_id,
        sealed_at=export.sealed_at,
        grant_expires_at=grant.expires_at,
        max_reads=grant.max_reads,
        reads=grant.reads,
        size_bytes=export.size_bytes,
        ciphertext=str(export.ciphertext),
        approval=export.approval or "",  # none is there once the person was erased, and then no grant lives
        owner_key=export.owner_key or {},
        key_history=history or [],
        owner_key_reset=export.owner_key_reset,
    )
