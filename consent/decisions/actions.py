"""Decisions. One wins: approve, deny, cancel and expire race for one compare-and-set."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from common.clock import database_now
from common.identifiers import new_identifier
from consent.decisions import policies as decision_policies
from consent.decisions import withdrawals
from consent.errors import AlreadyDecided, RequestExpired, UnknownRequest
from consent.event_types import EventType
from consent.exports import policies as export_policies
from consent.exports.actions import keep_export
from consent.grants.actions import end_grant, facts_of
from consent.grants.models import FORGOTTEN_AFTER, Grant
from consent.requests.actions import RELATED, close_request
from consent.requests.models import ConsentRequest
from consent.requests.record import record
from consent.schemas import ApproveBody
from consent.states import LIVE_GRANTS, Actor, GrantStatus, RequestStatus
from pkm.notes.actions import write_notes

if TYPE_CHECKING:
    from accounts.models import User


@transaction.atomic
def end_consent(*, app_pk: int, request_id: str) -> None:
    """The app lets go: a pending request is cancelled, a live grant released; repeated, nothing happens."""
    request = ConsentRequest.objects.filter(app_id=app_pk, request_id=request_id).first()
    if request is None:
        raise UnknownRequest
    now = database_now()
    if close_request(request_pk=request.pk, to=RequestStatus.CANCELLED, actor=Actor.APP, at=now):
        return
    grant = Grant.objects.live(now).filter(request=request).first()
    if grant is not None:
        end_grant(grant_pk=grant.pk, to=GrantStatus.RELEASED, actor=Actor.APP, at=now)


def _claim(*, request_id: str, by: "User", to: RequestStatus, at: datetime, note: str = "") -> ConsentRequest:
    """Win the decision, or say who did. The row stays locked until the transaction ends."""
    own = ConsentRequest.objects.filter(request_id=request_id, user=by)
    won = own.pending(at).update(status=to, decided_at=at, decided_by=Actor.PERSON, decision_note=note)
    request = own.select_related(*RELATED).first()
    if request is None:
        raise UnknownRequest
    if not won and request.status in (RequestStatus.PENDING, RequestStatus.EXPIRED):
        raise RequestExpired(request_status=RequestStatus.EXPIRED)
    if not won:
        raise AlreadyDecided(f"It was {request.status}.", request_status=request.status)
    return request


def approve(*, request_id: str, by: "User", body: ApproveBody) -> None:
    """Share the slice that the person's browser sealed, for as long as they chose.

    A refusal leaves the request waiting. Only where staff withdrew the scope is it cancelled here and now, as the task
    that cancels what waits on the scope would have done a little later.
    """
    try:
        _approve(request_id=request_id, by=by, body=body)
    except decision_policies.ScopeWithdrawn:
        withdrawals.cancel_one(request_id=request_id)
        said = "It was cancelled: nobody can ask for this any more."
        raise AlreadyDecided(said, request_status=RequestStatus.CANCELLED) from None


def _approve(*, request_id: str, by: "User", body: ApproveBody) -> None:
    """Claim, check, grant, export, audit, receipt and notice in one transaction."""
    with transaction.atomic():
        decision_policies.hold_scope(request_id)
        now = database_now()
        request = _claim(request_id=request_id, by=by, to=RequestStatus.APPROVED, at=now)
        older = _older_grants(request)
        approval = decision_policies.may_be_approved(request=request, body=body, by=by, at=now)
        ended = [
            grant_pk
            for grant_pk in older
            if end_grant(grant_pk=grant_pk, to=_end_of_older(grant_pk, now), actor=Actor.SYSTEM, at=now)
        ]
        grant = Grant.objects.create(
            grant_id=new_identifier("grt"),
            request=request,
            app_id=request.app_id,
            user=by,
            scope=request.scope,
            approved_attributes=body.approved_attributes,
            starts_at=datetime.fromtimestamp(approval.claims["iat"], UTC),
            expires_at=datetime.fromtimestamp(approval.claims["ends_at"], UTC),
            max_reads=request.max_reads,
            reminder_waits=timedelta(seconds=body.access_duration) >= FORGOTTEN_AFTER,
        )
        sources = export_policies.plain_sources(body.sources)
        keep_export(grant=grant, revision=1, jwe=body.jwe, sources=sources, approval=approval, at=now)
        if body.notes is not None:
            write_notes(by=by, **body.notes.model_dump())
        record(
            request=request,
            grant=facts_of(grant),
            event=EventType.APPROVED,
            actor=Actor.PERSON,
            at=now,
            approval_sha256=approval.sha256,
            facts={
                "approved_attributes": body.approved_attributes,
                "access_duration": body.access_duration,
                "superseded": len(ended),
            },
        )


def _older_grants(request: ConsentRequest) -> list[int]:
    """Live grants of the same app, person and scope; locked, lowest first, as a refresh locks before it looks."""
    live = Grant.objects.select_for_update().filter(
        app_id=request.app_id, user_id=request.user_id, scope=request.scope, status__in=LIVE_GRANTS
    )
    return list(live.order_by("pk").values_list("pk", flat=True))


def _end_of_older(grant_pk: int, now: datetime) -> GrantStatus:
    """A grant that the clock had ended already ends as expired, not as superseded."""
    is_overdue = Grant.objects.overdue(now).filter(pk=grant_pk).exists()
    return GrantStatus.EXPIRED if is_overdue else GrantStatus.SUPERSEDED


def deny(*, request_id: str, by: "User", reason: str = "") -> None:
    """Share nothing. The reason is the person's own note and reaches nobody else."""
    with transaction.atomic():
        now = database_now()
        request = _claim(request_id=request_id, by=by, to=RequestStatus.DENIED, at=now, note=reason)
        record(request=request, grant=None, event=EventType.DENIED, actor=Actor.PERSON, at=now, facts={})
