"""The person's decision. One wins: approve, deny, cancel and expire race for one compare-and-set."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from accounts.database import database_now
from accounts.identifiers import new_identifier
from consent import policies
from consent.actions.ending import RELATED, end_grant
from consent.actions.recording import record, record_export_update
from consent.errors import AlreadyDecided, MoveNotAllowed, RequestExpired, UnknownGrant, UnknownRequest
from consent.models import ConsentRequest, Export, Grant
from consent.schemas import ApproveBody, ExportBody
from consent.states import LIVE_GRANTS, Actor, GrantStatus, RequestStatus

if TYPE_CHECKING:
    from accounts.models import User


def _claim(*, request_id: str, by: "User", to: RequestStatus, at: datetime, note: str = "") -> ConsentRequest:
    """Win the decision, or say who did. The row stays locked until the transaction ends."""
    own = ConsentRequest.objects.filter(request_id=request_id, user=by)
    won = own.filter(status=RequestStatus.PENDING, expires_at__gt=at).update(
        status=to, decided_at=at, decided_by=Actor.PERSON, decision_note=note
    )
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

    Claim, check, grant, export, audit, receipt and notice are one transaction: a refusal leaves the request waiting.
    """
    with transaction.atomic():
        now = database_now()
        request = _claim(request_id=request_id, by=by, to=RequestStatus.APPROVED, at=now)
        older = _older_grants(request)
        policies.may_be_approved(request=request, body=body, by=by)
        start = now.replace(microsecond=0)
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
            starts_at=start,
            expires_at=start + timedelta(seconds=body.access_duration),
            max_reads=request.max_reads,
        )
        _keep_export(grant=grant, revision=1, jwe=body.jwe, sources=policies.plain_sources(body.sources), at=now)
        record(
            request=request,
            grant=grant,
            event="approved",
            actor=Actor.PERSON,
            at=now,
            facts={
                "approved_attributes": body.approved_attributes,
                "access_duration": body.access_duration,
                "superseded": len(ended),
            },
        )


def _older_grants(request: ConsentRequest) -> list[int]:
    """Live grants of the same app, person and scope; locked, lowest first, as a renewal locks before it looks."""
    live = Grant.objects.select_for_update().filter(
        app_id=request.app_id, user_id=request.user_id, scope=request.scope, status__in=LIVE_GRANTS
    )
    return list(live.order_by("pk").values_list("pk", flat=True))


def _end_of_older(grant_pk: int, now: datetime) -> GrantStatus:
    """A grant that the clock had ended already ends as expired, not as superseded."""
    over = Grant.objects.filter(pk=grant_pk, expires_at__lte=now).exists()
    return GrantStatus.EXPIRED if over else GrantStatus.SUPERSEDED


def _keep_export(*, grant: Grant, revision: int, jwe: str, sources: list[dict[str, object]], at: datetime) -> Export:
    return Export.objects.create(
        export_id=new_identifier("exp"),
        grant=grant,
        revision=revision,
        ciphertext=jwe,
        size_bytes=len(jwe),
        connector_key_id=grant.request.connector_key_id,
        sources=sources,
        sealed_at=at,
    )


def deny(*, request_id: str, by: "User", reason: str = "") -> None:
    """Share nothing. The reason is the person's own note and reaches nobody else."""
    with transaction.atomic():
        now = database_now()
        request = _claim(request_id=request_id, by=by, to=RequestStatus.DENIED, at=now, note=reason)
        record(request=request, grant=None, event="denied", actor=Actor.PERSON, at=now, facts={})


def refresh_export(*, grant_id: str, by: "User", body: ExportBody) -> str:
    """A newer revision under a continuous grant; returns the request's id."""
    with transaction.atomic():
        now = database_now()
        grant = (
            Grant.objects.select_for_update(of=("self",))
            .select_related(*(f"request__{name}" for name in RELATED))
            .filter(grant_id=grant_id, user=by)
            .first()
        )
        if grant is None:
            raise UnknownGrant
        expired = grant.status in LIVE_GRANTS and grant.expires_at <= now
        if expired or grant.status not in LIVE_GRANTS:
            raise MoveNotAllowed(grant_status=GrantStatus.EXPIRED if expired else grant.status)
        policies.may_be_refreshed(grant=grant, body=body, by=by)
        Export.objects.filter(grant=grant).update(ciphertext=None)
        _keep_export(
            grant=grant, revision=body.revision, jwe=body.jwe, sources=policies.plain_sources(body.sources), at=now
        )
        record_export_update(request=grant.request, grant=grant, at=now, facts={"revision": body.revision})
    return grant.request.request_id
