"""Decisions. One wins: approve, deny, cancel and expire race for one compare-and-set."""

from datetime import datetime

from django.db import transaction

from accounts.models import User
from common.clock import database_now
from consent.connections.actions import await_completion
from consent.decisions import policies as decision_policies
from consent.decisions import withdrawals
from consent.errors import AlreadyDecided, RequestExpired, UnknownRequest
from consent.event_types import EventType
from consent.exports.actions import keep_export
from consent.grants.actions import end_grant, facts_of, lock_live_grants, make_grant, supersede
from consent.grants.models import Grant
from consent.requests.actions import RELATED, close_request
from consent.requests.models import ConsentRequest
from consent.requests.record import Change, record
from consent.schemas import ApproveBody
from consent.states import Actor, GrantStatus, RequestStatus


@transaction.atomic
def end_consent(*, app_pk: int, request_id: str) -> None:
    """The app lets go: a pending request is cancelled, a live grant released; repeated, nothing happens."""
    request = ConsentRequest.objects.filter(app_id=app_pk, request_id=request_id, withheld=False).first()
    if request is None:
        raise UnknownRequest
    now = database_now()
    if close_request(request_pk=request.pk, to=RequestStatus.CANCELLED, actor=Actor.APP, at=now):
        return
    grant = Grant.objects.live(now).filter(request=request).first()
    if grant is not None:
        end_grant(grant_pk=grant.pk, to=GrantStatus.RELEASED, actor=Actor.APP, at=now)


def _claim(*, request_id: str, by: User, to: RequestStatus, at: datetime, note: str = "") -> ConsentRequest:
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


class _SharedMeanwhile(Exception):
    """The request is withheld from the app, which knows of an approval that this one would replace."""


def approve(*, request_id: str, by: User, body: ApproveBody) -> None:
    """Share the slice that the person's browser sealed, for as long as they chose.

    A refusal leaves the request waiting. Only where staff withdrew the scope is it cancelled here and now, as the task
    that cancels what waits on the scope would have done a little later; and where it is withheld from the app, which
    meanwhile got another approval: replacing that would tell who connected.
    """
    try:
        _approve(request_id=request_id, by=by, body=body)
    except _SharedMeanwhile:
        with transaction.atomic():
            request_pk = ConsentRequest.objects.values_list("pk", flat=True).get(request_id=request_id)
            close_request(request_pk=request_pk, to=RequestStatus.CANCELLED, actor=Actor.APP, at=database_now())
        detail = "It was cancelled: you share this with the app already."
        raise AlreadyDecided(detail, request_status=RequestStatus.CANCELLED) from None
    except decision_policies.ScopeWithdrawn:
        withdrawals.cancel_one(request_id=request_id)
        detail = "It was cancelled: nobody can ask for this any more."
        raise AlreadyDecided(detail, request_status=RequestStatus.CANCELLED) from None


def _approve(*, request_id: str, by: User, body: ApproveBody) -> None:
    """Claim, check, grant, export, audit, receipt and notice in one transaction."""
    with transaction.atomic():
        decision_policies.lock_scope_and_person(request_id, by)
        now = database_now()
        request = _claim(request_id=request_id, by=by, to=RequestStatus.APPROVED, at=now)
        if not request.user.is_active:  # closed since their session was looked at; what lived has ended already
            raise UnknownRequest
        older = lock_live_grants(request)
        if request.withheld and Grant.objects.live(now).known().filter(pk__in=older).exists():
            raise _SharedMeanwhile
        approval = decision_policies.may_be_approved(request=request, body=body, by=by, at=now)
        facts = {
            "approved_attributes": body.approved_attributes,
            "access_duration": body.access_duration,
            "superseded": supersede(older, at=now),
        }
        grant = make_grant(request=request, body=body, claims=approval.claims)
        keep_export(grant=grant, revision=1, body=body, approval=approval, by=by, at=now)
        if request.withheld:
            await_completion(request, at=now)
        record(
            Change(
                request,
                EventType.APPROVED,
                Actor.PERSON,
                now,
                grant=facts_of(grant),
                facts=facts,
                approval_sha256=approval.sha256,
            )
        )


def deny(*, request_id: str, by: User, reason: str = "") -> None:
    """Share nothing. The reason is the person's own note and reaches nobody else."""
    with transaction.atomic():
        now = database_now()
        request = _claim(request_id=request_id, by=by, to=RequestStatus.DENIED, at=now, note=reason)
        record(Change(request, EventType.DENIED, Actor.PERSON, now))
