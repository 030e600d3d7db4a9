"""What the rows of people and apps say, against the newest word of their chains: what stands there and was never
written down, what ended and lives again, receipts and reads that are missing or too many.

Things happen while this looks. A difference counts only if it is there at every look.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Count, Q

from common.clock import rfc3339
from consent.exports.forgetting import Forgotten
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditChain, AuditEntry, AuditHead, AuditPending, Receipt
from consent.ledger.verifying import PAGE, Broken
from consent.requests.models import ConsentRequest
from consent.states import RequestStatus
from consent.verification.summary import Summary

ATTEMPTS, PAUSE = 3, 0.02  # seconds
PERSON, APP = audit.person_chain(""), audit.app_chain("")


def verify_people(summaries: dict[str, Summary]) -> Iterator[Broken]:
    """The first difference of each person: {subject of the chain: what the whole of it tells}."""
    rows = _Rows(summaries)
    for name, own in summaries.items():
        if _first_flaw(name, own, rows) is not None and (flaw := _lasting(name)) is not None:
            yield Broken(name, *flaw)


def verify_app(name: str, summary: Summary) -> Iterator[Broken]:
    """More or fewer receipts than the app's whole chain tells of: it, or they, were cut."""
    flaw = _miscounted(name, summary.proven)
    for _ in range(ATTEMPTS):
        if flaw is None:
            return
        time.sleep(PAUSE)
        flaw = _miscounted(name, _summary_of(name).proven)
    if flaw is not None:
        yield Broken(name, 0, flaw)


def _miscounted(name: str, proven: int) -> str | None:
    app_id = name.removeprefix(APP)
    there = Receipt.objects.filter(request__app__app_id=app_id).count()
    deferred = AuditPending.objects.filter(receipt__isnull=False, request__app__app_id=app_id).count()
    late = AuditPending.objects.filter(chain=name, facts__receipt_id__isnull=False).count()
    if there + deferred == proven + late:
        return None
    return f"there are {there} receipts of this app, and its chain tells of {proven}"


def _lasting(name: str) -> tuple[int, str] | None:
    """The first difference, where it is there at every further look."""
    flaw = None
    for _ in range(ATTEMPTS):
        time.sleep(PAUSE)
        if not AuditChain.objects.filter(subject=name).exists():
            return None  # erased meanwhile
        summary = _summary_of(name)
        flaw = _first_flaw(name, summary, _Rows([name]))
        if flaw is None:
            return None
    return flaw


def _summary_of(name: str) -> Summary:
    """What this chain tells by now."""
    summary, forgotten = Summary(), Forgotten.by_now()
    entries = AuditEntry.objects.of(name).select_related("kept").order_by("sequence")
    for entry in entries.iterator(chunk_size=PAGE):
        summary.take(
            kind=entry.kind,
            facts=entry.facts,
            sequence=entry.sequence,
            is_person=name.startswith(PERSON),
            is_forgotten=forgotten.covers(entry.pk, entry.at),
        )
    return summary


class _Rows:
    """The rows of some people, each by the subject of their chain."""

    def __init__(self, names: Iterable[str]) -> None:
        """`names` are subjects of chains."""
        people = [name.removeprefix(PERSON) for name in names]
        self.requests = _by_person(ConsentRequest.objects.filter(user__public_id__in=people), "request_id", "status")
        grants = Grant.objects.filter(user__public_id__in=people)
        self.grants = _by_person(
            grants, "pk", "grant_id", "request__request_id", "status", "ended_at", "ended_by", "reads"
        )
        counted = Read.objects.filter(grant__in=grants).values("grant_id").order_by()
        self.reads = {
            row["grant_id"]: (row["all"], row["chained"])
            for row in counted.annotate(all=Count("pk"), chained=Count("pk", filter=~Q(batch="")))
        }
        self.receipts = _by_person(
            Receipt.objects.filter(request__user__public_id__in=people), "receipt_id", person="request__user__public_id"
        )
        self.pending: dict[str, list[AuditPending]] = defaultdict(list)
        for row in AuditPending.objects.filter(chain__in=list(names)).order_by("pk"):
            self.pending[row.chain].append(row)


def _by_person(rows: Any, *columns: str, person: str = "user__public_id") -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.order_by("pk").values(person, *columns):
        found[PERSON + row[person]].append(row)
    return found


def _first_flaw(name: str, summary: Summary, rows: _Rows) -> tuple[int, str] | None:
    statuses = dict(summary.requests)
    later = Summary(requests=statuses)  # what waits to be written is the newest word
    for row in rows.pending[name]:
        later.take(kind=row.kind, facts=row.facts, sequence=0, is_person=True)
    own = {grant["request__request_id"]: grant for grant in rows.grants[name]}
    for request in rows.requests[name]:
        flaw = _status_flaw(request, own.get(request["request_id"]), statuses.get(request["request_id"]))
        if flaw is not None:
            return flaw
    return _receipts_flaw(name, summary, rows) or _reads_flaw(name, summary, rows)


def _status_flaw(
    request: dict[str, Any], grant: dict[str, Any] | None, recorded: list[Any] | None
) -> tuple[int, str] | None:
    request_id, status = request["request_id"], request["status"]
    if recorded is None:
        if grant is not None:
            return 0, f"no entry tells of the grant {grant['grant_id']}"
        return None if status == RequestStatus.PENDING else (0, f"no entry tells that {request_id} is {status}")
    recorded_status, grant_id, recorded_grant, end, sequence = recorded
    if status != recorded_status:
        return sequence, f"{request_id} is {status}, and it tells that it is {recorded_status}"
    if grant is None or grant_id is None:
        return (
            None if grant_id is None and grant is None else (sequence, f"{request_id} has a grant it does not tell of")
        )
    if grant["status"] != recorded_grant:
        if grant["ended_at"] is not None:
            return 0, f"no entry tells that {request_id} is {grant['status']}"
        return sequence, f"{grant_id} is {grant['status']}, and it tells that it is {recorded_grant}"
    if end != [rfc3339(grant["ended_at"]), grant["ended_by"]]:
        return sequence, f"{grant_id} says another end"
    return None


def _receipts_flaw(name: str, summary: Summary, rows: _Rows) -> tuple[int, str] | None:
    known = set(summary.receipts)
    for row in rows.receipts[name]:
        if row["receipt_id"] not in known:
            return 0, f"no entry tells of the receipt {row['receipt_id']}"
    return None


def _reads_flaw(name: str, summary: Summary, rows: _Rows) -> tuple[int, str] | None:
    chained = gone = 0
    for grant in rows.grants[name]:
        count, in_batches = rows.reads.get(grant["pk"], (0, 0))
        chained += in_batches
        gone += grant["reads"] - count
        if grant["reads"] < count or (grant["reads"] > count and not summary.forgotten):
            return 0, f"{grant['grant_id']} was read {grant['reads']} times, and there are {count} reads of it"
    if chained != summary.reads - summary.forgotten:
        return 0, f"{chained} reads are chained, and the entries hold {summary.reads - summary.forgotten}"
    if gone != summary.forgotten:  # which grant they were of, nothing tells any more
        return 0, f"{gone} reads are gone, and the entries tell of {summary.forgotten} that were kept long enough"
    return None


def verify_chainless(requests: list[ConsentRequest]) -> Iterator[Broken]:
    """Those of these decided requests whose person has no chain at all."""
    people = {audit.person_chain(request.user.public_id): request for request in reversed(requests)}
    chains = dict(AuditChain.objects.filter(subject__in=people).values_list("chain", "subject"))
    begun = AuditHead.objects.filter(chain__in=chains, sequence__gt=0).values_list("chain", flat=True)
    deferred = AuditPending.objects.filter(chain__in=people).values_list("chain", flat=True)
    known = {chains[chain] for chain in begun} | set(deferred)
    for name, request in people.items():
        if name not in known:
            yield Broken(name, 0, f"no entry tells that {request.request_id} is {request.status}")
