"""May this be asked, approved, refreshed, read: every question that raises its refusal."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Sum

import pkm.queries
import pkm.scopes
import pkm.sealed
from consent.errors import (
    ExportMismatch,
    InvalidAttributes,
    InvalidDuration,
    RequestChanged,
    RequiredAttributeMissing,
)
from consent.models import ConsentRequest, Export, Grant, RefreshPolicy
from consent.schemas import ApproveBody, ExportBody, Source
from developers.errors import AppSuspended
from developers.models import AppStatus
from pkm.errors import QuotaExceeded, StaleRevision

if TYPE_CHECKING:
    from accounts.models import User

SHORTEST_ACCESS = 300  # seconds
Held = dict[tuple[str, str], set[str]]


def is_asked(request: ConsentRequest, path: str, held: Held) -> bool:
    """Whether this attribute lies inside what was asked.

    With neither list given, everything of the scope is asked: its canonical attributes, and attributes of the
    person's own in a segment that the scope covers whole. Given lists name everything.
    """
    named = request.named_attributes
    if named is not None:
        return path in named
    if path in request.attributes:
        return True
    scope, parts = pkm.scopes.parse(request.scope), pkm.scopes.split_path(path)
    if scope is None or parts is None or not scope.takes_own_attributes or not scope.covers(path):
        return False
    domain, segment, attribute = parts
    return attribute in held.get((domain, segment), set())


def may_be_approved(*, request: ConsentRequest, body: ApproveBody, by: "User") -> None:
    """Refuse a decision that is not about this request, or whose export is not what it says.

    Locks the person's index row: the sources stay as they are until the decision is committed.
    """
    if request.app.status != AppStatus.ACTIVE:
        raise AppSuspended("Staff suspended the app; nothing can be shared with it now.")
    if body.request_digest != request.request_digest:
        raise RequestChanged("Reload the request: it is not what was shown.")
    if not SHORTEST_ACCESS <= body.access_duration <= request.access_duration:
        raise InvalidDuration(f"Choose {SHORTEST_ACCESS} to {request.access_duration} seconds.")
    held = _held_until_commit(by)
    _check_attributes(request, body.approved_attributes, held)
    _check_sources(body.approved_attributes, body.sources, held, by)
    _check_header(request=request, revision=1, jwe=body.jwe)
    _check_room(by=by, request=request, jwe=body.jwe)


def may_be_refreshed(*, grant: Grant, body: ExportBody, by: "User") -> None:
    """Refuse a newer revision where none was agreed to, or one that is not the next."""
    request = grant.request
    if request.refresh_policy != RefreshPolicy.CONTINUOUS:
        raise ExportMismatch("This approval is a snapshot; it has no newer revisions.", member="revision")
    newest = grant.exports.order_by("-revision").values_list("revision", flat=True)[0]
    if body.revision != newest + 1:
        raise StaleRevision(f"The next revision is {newest + 1}.", current_revision=newest)
    held = _held_until_commit(by)
    _check_sources(grant.approved_attributes, body.sources, held, by)
    _check_header(request=request, revision=body.revision, jwe=body.jwe)
    _check_room(by=by, request=request, jwe=body.jwe)


def _check_room(*, by: "User", request: ConsentRequest, jwe: str) -> None:
    """Refuse a copy that does not fit beside the others; those that this one takes the place of do not count.

    A copy is as large as the caller says: nobody here can open it. The caller holds the person's index row.
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


def _held_until_commit(user: "User") -> Held:
    """What the person keeps, with their writes held back until the transaction ends."""
    pkm.queries.current_revisions(user, (), lock=True)
    return pkm.queries.held_segments(user)


def _check_attributes(request: ConsentRequest, approved: Sequence[str], held: Held) -> None:
    outside = [path for path in approved if not is_asked(request, path, held)]
    if outside:
        raise InvalidAttributes(f"Not part of this request: {', '.join(outside[:5])}.")
    missing = [path for path in request.required_attributes or [] if path not in approved]
    if missing:
        raise RequiredAttributeMissing(f"This request requires {', '.join(missing)}.")
    if not holding(approved, held):
        raise InvalidAttributes("None of these attributes is in your data; there is nothing to share.")


def holding(paths: Iterable[str], held: Held) -> set[tuple[str, str]]:
    """The segments that hold at least one of these attributes."""
    split = [parts for parts in map(pkm.scopes.split_path, paths) if parts is not None]
    return {(domain, segment) for domain, segment, name in split if name in held.get((domain, segment), set())}


def _check_sources(approved: Sequence[str], sources: Sequence[Source], held: Held, by: "User") -> None:
    """Sources are exactly the segments that hold an approved attribute, each at its newest revision."""
    named = {(source.domain, source.segment_id): source.content_revision for source in sources}
    current = pkm.queries.current_revisions(by, holding(approved, held))
    if len(named) != len(sources) or named != current:
        stale = [
            f"{domain}.{segment}"
            for domain, segment in named
            if named[domain, segment] != current.get((domain, segment))
        ]
        raise StaleRevision("These segments are not what was shown: " + (", ".join(stale) or "one is missing") + ".")


def plain_sources(sources: Sequence[Source]) -> list[dict[str, Any]]:
    return [source.model_dump() for source in sources]


def _check_header(*, request: ConsentRequest, revision: int, jwe: str) -> None:
    """The export's protected header names this request, its recipient and its key: crypto.md, Export."""
    expected = {
        "kid": request.connector_key_id,
        "iss": settings.ISSUER,
        "sub": request.user.public_id,
        "aud": request.app.app_id,
        "request_id": request.request_id,
        "scope": request.scope,
        "revision": revision,
        "request_digest": request.request_digest,
    }
    try:
        header = pkm.sealed.read_header(jwe)
        pkm.sealed.check_export_header(header, expected, curve=request.connector_public_key["crv"])
    except pkm.sealed.Unfit as unfit:
        raise ExportMismatch(unfit.reason, member=unfit.member) from None
