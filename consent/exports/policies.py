"""May this slice be sealed and stored: every question that raises its refusal."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Sum

import pkm.scopes
import pkm.sealed
from accounts.models import User
from consent.approvals.policies import Approval, check_approval, check_subset
from consent.errors import ExportMismatch
from consent.exports.models import Export
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest, RefreshPolicy
from consent.schemas import ExportBody, Source
from pkm.errors import QuotaExceeded, StaleRevision
from pkm.segments import queries as segment_queries

StoredAttributes = dict[tuple[str, str], set[str]]


def check_refresh(*, grant: Grant, body: ExportBody, by: User, at: datetime) -> tuple[Approval, list[str]]:
    """Refuse a newer revision where none was agreed to, or one that is not the next, or that the vault did not sign.

    Returns what was signed, and the attributes that it approves: all of the grant's or some of them.
    """
    request = grant.request
    if request.refresh_policy != RefreshPolicy.CONTINUOUS:
        raise ExportMismatch("This approval is a snapshot; it has no newer revisions.", member="revision")
    newest = grant.exports.order_by("-revision").values_list("revision", flat=True)[0]
    if body.revision != newest + 1:
        raise StaleRevision(f"The next revision is {newest + 1}.", current_revision=newest)
    stored = lock_and_read_sources(by)
    check_header(request=request, revision=body.revision, jwe=body.jwe)
    terms = {
        "revision": body.revision,
        "access_duration": int((grant.expires_at - grant.starts_at).total_seconds()),
        "ends_at": int(grant.expires_at.timestamp()),
    }
    approval = check_approval(request=request, by=by, body=body, terms=terms, jwe=body.jwe, at=at)
    approved = check_subset(approval.claims, grant.approved_attributes)
    check_sources(request.source_attributes(approved), body.sources, stored, by)
    check_room(by=by, request=request, jwe=body.jwe)
    return approval, approved


def check_room(*, by: User, request: ConsentRequest, jwe: str) -> None:
    """Refuse an export that does not fit beside the others; those that this one takes the place of do not count.

    An export is as large as the caller says: nobody here can open it. The caller holds the person's index row.
    """
    most = settings.COPIES_BYTES_PER_PERSON
    if not most:
        return
    live = Export.objects.filter(grant__user=by, ciphertext__isnull=False)
    others = live.exclude(grant__app_id=request.app_id, grant__scope=request.scope)
    used = others.aggregate(used=Sum("size_bytes", default=0))["used"]
    if used + len(jwe) > most:
        raise QuotaExceeded(
            "The copies that apps may read take all the room there is for them. Stop sharing what you no longer need, "
            "then try again. Nothing was shared.",
            used_bytes=used,
            quota_bytes=most,
        )


def lock_and_read_sources(user: User) -> StoredAttributes:
    """What the person keeps, with their writes held back until the transaction ends."""
    segment_queries.current_revisions(user, (), lock=True)
    return segment_queries.stored_attributes(user)


def segments_with(paths: Iterable[str], stored: StoredAttributes) -> set[tuple[str, str]]:
    """The segments that hold at least one of these attributes."""
    split = [parts for parts in map(pkm.scopes.split_path, paths) if parts is not None]
    return {(domain, segment) for domain, segment, name in split if name in stored.get((domain, segment), set())}


def check_sources(approved: Sequence[str], sources: Sequence[Source], stored: StoredAttributes, by: User) -> None:
    """Sources are exactly the segments that hold an approved attribute, each at its newest revision."""
    named = {(source.domain, source.segment_id): source.content_revision for source in sources}
    current = segment_queries.current_revisions(by, segments_with(approved, stored))
    if len(named) != len(sources) or named != current:
        stale = [
            f"{domain}.{segment}"
            for domain, segment in named
            if named[domain, segment] != current.get((domain, segment))
        ]
        raise StaleRevision("These segments are not what was shown: " + (", ".join(stale) or "one is missing") + ".")


def check_header(*, request: ConsentRequest, revision: int, jwe: str) -> None:
    """The export's protected header names this request, its recipient and its key."""
    expected = {
        "kid": request.connector_key_id,
        "iss": settings.ISSUER,
        "sub": request.pairwise_id,
        "aud": request.app.app_id,
        "request_id": request.request_id,
        "scope": request.scope,
        "revision": revision,
        "request_digest": request.request_digest,
    }
    try:
        header = pkm.sealed.read_header(jwe)
        pkm.sealed.check_export_header(header, expected, curve=request.connector_public_key["crv"])
    except pkm.sealed.InvalidHeader as unfit:
        raise ExportMismatch(unfit.reason, member=unfit.member) from None
