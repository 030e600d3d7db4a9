"""May this request be approved as it stands?"""

from collections.abc import Sequence
from datetime import datetime

import pkm.scopes
import pkm.sealed
from accounts.models import User
from common.sql.statements import take_locks
from consent.approvals.policies import Approval, check_approval
from consent.decisions.sensitivity import must_be_vouched_for
from consent.errors import InvalidAttributes, InvalidDuration, KeyNotVouched, RequestChanged, RequiredAttributeMissing
from consent.exports.policies import (
    StoredAttributes,
    check_header,
    check_room,
    check_sources,
    lock_and_read_sources,
    segments_with,
)
from consent.requests.models import ConsentRequest
from consent.requests.vouching import vouching_of
from consent.schemas import ApproveBody
from developers.apps.models import AppStatus
from developers.errors import AppSuspended
from pkm.registry import copy as registry_copy

SHORTEST_ACCESS = 300  # seconds

_LOCK = """
SELECT 1 FROM pkm_scope_registry s, users u
 WHERE s.id = (SELECT scope_entry_id FROM consent_requests WHERE request_id = %(request_id)s) AND u.id = %(user_pk)s
   FOR KEY SHARE OF s FOR SHARE OF u
"""


class ScopeWithdrawn(Exception):
    """Staff withdrew the scope of the request; the task that cancels what waits has not come to it yet."""


def lock_scope_and_person(request_id: str, by: User) -> None:
    """Let staff change or withdraw the scope of this request, and the account be closed for good, only once the
    transaction is over.

    Before the request itself is locked: staff lock the entry first and what waits on it second.
    """
    take_locks(_LOCK, {"request_id": request_id, "user_pk": by.pk})


def is_requested(request: ConsentRequest, path: str, stored: StoredAttributes) -> bool:
    """Whether this attribute lies inside what was asked.

    With neither list given, everything of the scope is asked: its canonical attributes, and attributes of the
    person's own in a segment that the scope covers whole. Given lists name everything, but for the answers that the app
    accepts in place of values.
    """
    if any(path in answers for answers in (request.accepts or {}).values()):
        return True
    named = request.named_attributes
    if named is not None:
        return path in named
    if path in request.attributes:
        return True
    scope, parts = pkm.scopes.parse(request.scope), pkm.scopes.split_path(path)
    if scope is None or parts is None or not scope.takes_own_attributes or not scope.covers(path):
        return False
    domain, segment, attribute = parts
    return attribute in stored.get((domain, segment), set())


def may_be_approved(*, request: ConsentRequest, body: ApproveBody, by: User, at: datetime) -> Approval:
    """Refuse a decision that is not about this request, whose export is not what it says, or that no vault signed.

    Locks the person's index row: the sources stay as they are until the decision is committed. Raises `ScopeWithdrawn`
    where the scope cannot be asked for any more, as the registry has it now.
    """
    if request.scope not in registry_copy.entries().by_scope:
        raise ScopeWithdrawn
    if request.app.status != AppStatus.ACTIVE:
        raise AppSuspended("Staff suspended the app; nothing can be shared with it now.")
    if body.request_digest != request.request_digest:
        raise RequestChanged("Reload the request: it is not what was shown.")
    if not SHORTEST_ACCESS <= body.access_duration <= request.access_duration:
        raise InvalidDuration(f"Choose {SHORTEST_ACCESS} to {request.access_duration} seconds.")
    if must_be_vouched_for(request) and vouching_of(request).is_missing:
        raise KeyNotVouched()
    stored = lock_and_read_sources(by)
    _check_attributes(request, body.approved_attributes, stored)
    check_sources(request.source_attributes(body.approved_attributes), body.sources, stored, by)
    check_header(request=request, revision=1, jwe=body.jwe)
    terms = {
        "revision": 1,
        "access_duration": body.access_duration,
        "approved_attributes": sorted(body.approved_attributes),
    }
    approval = check_approval(request=request, by=by, body=body, terms=terms, jwe=body.jwe, at=at)
    check_room(by=by, request=request, jwe=body.jwe)
    return approval


def _check_attributes(request: ConsentRequest, approved: Sequence[str], stored: StoredAttributes) -> None:
    own = [path for path in approved if path not in request.attributes]
    passing = registry_copy.entries().answers.keys() - (request.derived or {}).keys() if own else ()
    outside = [path for path in approved if path in passing or not is_requested(request, path, stored)]
    if not approved:
        raise InvalidAttributes("Name one attribute at least.")
    if outside:
        raise InvalidAttributes(f"Not part of this request: {', '.join(outside[:5])}.")
    chosen = set(approved)
    missing = [path for path in request.required_attributes or [] if chosen.isdisjoint(request.accepted_for(path))]
    if missing:
        raise RequiredAttributeMissing(f"This request requires {', '.join(missing)}.")
    twice = [path for path in request.accepts or {} if len(chosen.intersection(request.accepted_for(path))) > 1]
    if twice:
        raise InvalidAttributes(f"Share the value or one answer in its place, not several: {', '.join(twice)}.")
    if not segments_with(request.source_attributes(approved), stored):
        raise InvalidAttributes("None of these attributes is in your data; there is nothing to share.")
