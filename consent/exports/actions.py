"""Sealed revisions of an approved slice, and newer ones under a continuous grant."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction

from common.clock import database_now
from common.identifiers import new_identifier
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.exports import policies as export_policies
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.actions import RELATED
from consent.requests.record import record_export_update
from consent.schemas import ExportBody

if TYPE_CHECKING:
    from accounts.models import User


def keep_export(*, grant: Grant, revision: int, jwe: str, sources: list[dict[str, object]], at: datetime) -> Export:
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
        if not grant.is_live(now):
            raise MoveNotAllowed(grant_status=grant.standing(now))
        export_policies.may_be_refreshed(grant=grant, body=body, by=by)
        Export.objects.filter(grant=grant).update(ciphertext=None)
        keep_export(
            grant=grant,
            revision=body.revision,
            jwe=body.jwe,
            sources=export_policies.plain_sources(body.sources),
            at=now,
        )
        record_export_update(request=grant.request, grant_id=grant.grant_id, at=now, facts={"revision": body.revision})
    return grant.request.request_id
