"""Sealed revisions of an approved slice, and newer ones under a continuous grant."""

from datetime import datetime

from django.db import transaction

from accounts.models import User
from common.clock import database_now
from common.identifiers import new_identifier
from consent.approvals.policies import Approval
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.exports import policies as export_policies
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.actions import RELATED
from consent.requests.record import record_export_update
from consent.schemas import ApproveBody, ExportBody
from consent.states import GrantStatus
from pkm.notes import write_notes


def keep_export(
    *,
    grant: Grant,
    revision: int,
    body: ApproveBody | ExportBody,
    approval: Approval,
    by: User,
    at: datetime,
    approved_attributes: list[str] | None = None,
) -> None:
    """Store one sealed revision with what the vault signed of it; also save the vault's notes and the approval key."""
    if body.notes is not None:
        write_notes(by=by, **body.notes.model_dump())
    approval.key.save()
    Export.objects.create(
        export_id=new_identifier("exp"),
        grant=grant,
        revision=revision,
        ciphertext=body.jwe,
        size_bytes=len(body.jwe),
        connector_key_id=grant.request.connector_key_id,
        sources=[source.model_dump() for source in body.sources],
        sealed_at=at,
        approval=approval.jws,
        owner_key=approval.key.public_key,
        owner_key_reset=approval.key.is_reset,
        approved_attributes=approved_attributes,
    )


def refresh_export(*, grant_id: str, by: User, body: ExportBody) -> str:
    """A newer revision under a continuous grant that is not paused; returns the request's id."""
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
        if (status := grant.status_at(now)) is not GrantStatus.ACTIVE:
            raise MoveNotAllowed(grant_status=status)
        approval, approved = export_policies.check_refresh(grant=grant, body=body, by=by, at=now)
        Export.objects.filter(grant=grant).update(ciphertext=None)
        keep_export(
            grant=grant,
            revision=body.revision,
            body=body,
            approval=approval,
            by=by,
            at=now,
            approved_attributes=approved if set(approved) < set(grant.approved_attributes) else None,
        )
        facts = {"revision": body.revision, "approved_attributes": approved, "approval_sha256": approval.sha256}
        Grant.objects.filter(pk=grant.pk).update(news_waits=True)
        record_export_update(request=grant.request, grant_id=grant.grant_id, at=now, facts=facts)
    return grant.request.request_id
