"""Entries against the rows that they tell of, one at a time: what was asked, what was allowed, what was signed, what
was read."""

import time
from collections.abc import Iterator
from typing import Any

from common.clock import rfc3339
from consent.event_types import EventType
from consent.exports.forgetting import Forgotten
from consent.exports.models import Export
from consent.exports.read_batches import reads_match_chain
from consent.grants.models import Grant
from consent.ledger import audit, receipts
from consent.ledger.canonical import sha256_canonical
from consent.ledger.models import AuditChain, AuditFacts, AuditPending, Receipt
from consent.ledger.verifying import Broken, facts_of, names_of
from consent.requests import digest
from consent.requests.models import ConsentRequest
from developers.people import AppPerson
from pkm import signatures

Entry = dict[str, Any]
ATTEMPTS, PAUSE = 3, 0.02  # seconds
_PERSON = audit.person_chain("")


def verify_entries(entries: list[Entry]) -> Iterator[Broken]:
    """The first entry of each chain of these whose rows are gone or say something else."""
    with_facts = [(entry, facts) for entry in entries if (facts := facts_of(entry))]
    names = names_of({entry["chain"] for entry, _ in with_facts})
    rows = _Rows([facts for _, facts in with_facts])
    found: set[str] = set()
    for entry, facts in with_facts:
        name = names.get(str(entry["chain"]), str(entry["chain"]))
        if name not in found and _flaw(entry, facts, name, rows) and (flaw := _lasting(entry, name)):
            found.add(name)
            yield Broken(name, entry["sequence"], flaw)


def _lasting(entry: Entry, name: str) -> str | None:
    """What is wrong at every further look: a person may have been erased since the page was read."""
    flaw = None
    for _ in range(ATTEMPTS):
        time.sleep(PAUSE)
        kept = AuditFacts.objects.filter(entry__chain=entry["chain"], entry__sequence=entry["sequence"])
        facts = kept.values_list("facts", flat=True).first()
        flaw = _flaw(entry, facts, name, _Rows([facts])) if facts else None
        if flaw is None:
            return None
    return flaw


class _Rows:
    """What a page of entries tells of, found at once."""

    def __init__(self, all_facts: list[dict[str, Any]]) -> None:
        """`all_facts` are the facts of the page."""
        requests = ConsentRequest.objects.filter(request_id__in=_all(all_facts, "request_id"))
        self.requests = {row.request_id: row for row in requests.select_related("app", "user", "grant")}
        signed = Receipt.objects.filter(receipt_id__in=_all(all_facts, "receipt_id"))
        self.receipts = {row.receipt_id: row for row in signed}
        sealed = Export.objects.filter(
            grant__request__in=requests, revision__in={_revision(facts) for facts in all_facts if _is_signed(facts)}
        )
        kept = sealed.values_list("grant_id", "revision", "approval", "approved_attributes")
        self.exports = {(grant, revision): (approval, part) for grant, revision, approval, part in kept}
        people = [audit.person_chain(request.user.public_id) for request in self.requests.values()]
        met = AppPerson.objects.filter(user__in={request.user_id for request in self.requests.values()})
        self.names = {(app, user): name for app, user, name in met.values_list("app_id", "user_id", "pairwise_id")}
        self.forgotten = Forgotten.by_now()
        self.people = set(AuditChain.objects.filter(subject__in=people).values_list("subject", flat=True))

    def are_forgotten(self, entry: Entry) -> bool:
        """Whether the reads of this entry were kept long enough; that none of them is left, the sums show."""
        return self.forgotten.covers(entry["pk"], entry["at"])


def _all(all_facts: list[dict[str, Any]], member: str) -> list[str]:
    return sorted({str(facts[member]) for facts in all_facts if facts.get(member)})


def _is_signed(facts: dict[str, Any]) -> bool:
    """Whether it tells of an export that the person's vault signed; what resumed a grant is kept nowhere else."""
    return bool(facts.get("approval_sha256")) and ("revision" in facts or "access_duration" in facts)


def _revision(facts: dict[str, Any]) -> int:
    revision = facts.get("revision", 1)
    return revision if isinstance(revision, int) else 0


def _flaw(entry: Entry, facts: dict[str, Any], name: str, rows: _Rows) -> str | None:
    is_person = name.startswith(_PERSON)
    if is_person and entry["kind"] == EventType.READS and not (rows.are_forgotten(entry) or reads_match_chain(facts)):
        return "the reads that it holds are not as they were"
    if not facts.get("request_id"):
        return None
    request = rows.requests.get(str(facts["request_id"]))
    if request is None:
        return f"it tells of {facts['request_id']}, and there is no such request"
    flaw = (
        _request_flaw(facts, request, is_person=is_person)
        or _grant_flaw(entry, facts, request)
        or _approval_flaw(facts, request, rows)
    )
    if flaw is None and facts.get("user_id") and audit.person_chain(request.user.public_id) not in rows.people:
        flaw = f"it tells of {facts['user_id']}, whose own chain is gone"
    if flaw is None and rows.names.get((request.app_id, request.user_id), request.pairwise_id) != request.pairwise_id:
        flaw = f"the app calls the person of {request.request_id} something else"
    return flaw or _receipt_flaw(entry, facts, request, rows, is_person=is_person)


def _request_flaw(facts: dict[str, Any], request: ConsentRequest, *, is_person: bool) -> str | None:
    there = {
        "user_id": request.user.public_id if is_person else request.pairwise_id,
        "app_id": request.app.app_id,
        "scope": request.scope,
        "request_digest": request.request_digest,
    }
    for member, value in there.items():
        if facts.get(member, value) != value:
            return f"the request {request.request_id} says another {member}"
    if request.user.erased_at is None and request.request_digest != _digest_of(request):
        return f"what {request.request_id} asks is not what its digest was made over"
    return None


def _digest_of(request: ConsentRequest) -> str:
    return sha256_canonical(digest.members_of(request, app_id=request.app.app_id))


def _grant_flaw(entry: Entry, facts: dict[str, Any], request: ConsentRequest) -> str | None:
    if not facts.get("grant_id"):
        return None
    grant: Grant | None = getattr(request, "grant", None)
    if grant is None or grant.grant_id != facts["grant_id"]:
        return f"it tells of {facts['grant_id']}, and there is no such grant of {request.request_id}"
    if (grant.app_id, grant.user_id, grant.scope) != (request.app_id, request.user_id, request.scope):
        return f"the grant {grant.grant_id} is not of the app, person and scope that were asked"
    there = {
        "approved_attributes": grant.approved_attributes,
        "starts_at": rfc3339(grant.starts_at),
        "expires_at": rfc3339(grant.expires_at),
        "max_reads": grant.max_reads,
        "access_duration": int((grant.expires_at - grant.starts_at).total_seconds()),
    }
    stated = (
        {**facts, **(facts.get("grant") or {})} if entry["kind"] == EventType.APPROVED else facts.get("grant") or {}
    )
    for member, value in there.items():
        if stated.get(member, value) != value:
            return f"the grant {grant.grant_id} says another {member}"
    return None


def _approval_flaw(facts: dict[str, Any], request: ConsentRequest, rows: _Rows) -> str | None:
    if not _is_signed(facts) or request.user.erased_at is not None:
        return None
    grant: Grant | None = getattr(request, "grant", None)
    revision, approved = _revision(facts), facts.get("approved_attributes") or []
    approval, part = rows.exports.get((grant.pk, revision), (None, None)) if grant else (None, None)
    if grant is None or approval is None or signatures.sha256(approval) != facts["approval_sha256"]:
        return f"the approval of {request.request_id}, revision {revision}, is not what the vault signed"
    if approved and sorted(part or grant.approved_attributes) != sorted(approved):
        return f"the export of {request.request_id}, revision {revision}, says that other attributes were approved"
    return None


def _receipt_flaw(
    entry: Entry, facts: dict[str, Any], request: ConsentRequest, rows: _Rows, *, is_person: bool
) -> str | None:
    if not facts.get("receipt_id"):
        return None
    receipt = rows.receipts.get(str(facts["receipt_id"]))
    if receipt is None:
        # an app's chain may have been written before the person's, whose receipt waits with it
        is_deferred = AuditPending.objects.filter(request=request, receipt__receipt_id=facts["receipt_id"]).exists()
        return None if is_deferred else f"it tells of {facts['receipt_id']}, and there is no such receipt"
    claims = receipts.verified(receipt.jws if is_person else receipt.app_jws)
    if claims is None:
        return f"the signature of the receipt {receipt.receipt_id} does not hold"
    if (receipt.event, receipt.request_id) != (entry["kind"], request.pk):
        return f"the receipt {receipt.receipt_id} is of something else"
    if not _proves(claims, entry, facts, is_person=is_person):
        return f"the receipt {receipt.receipt_id} says something else"
    return None


def _proves(claims: dict[str, Any], entry: Entry, facts: dict[str, Any], *, is_person: bool) -> bool:
    link, named = {name: entry[name] for name in ("chain", "sequence", "entry_hash")}, claims.get("audit") or {}
    if named != link and (is_person or "chain" in named):  # an app's copy may be older than its entry, or than this
        return False
    return receipts.digest_of(claims) == facts.get("receipt_digest")
