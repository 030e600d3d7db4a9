"""What must be true when the dust has settled. Every function yields what is not."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bench.cast import AppPart
from bench.mayhem.following import Follower
from bench.mayhem.players import Ledger, Promise
from bench.mayhem.receiver import Receiver

DECISIONS = ("approved", "denied", "cancelled", "expired")


def everything_wrong(ledger: Ledger, apps: list[AppPart], receiver: Receiver, followers: list[Follower]) -> list[str]:
    return [
        *ledger.defects,
        *lost(ledger),
        *doubled(),
        *gaps(apps),
        *undelivered(receiver),
        *unfollowed(followers),
    ]


def lost(ledger: Ledger) -> Iterator[str]:
    """Everything that was promised is as it was promised."""
    from consent.requests.models import ConsentRequest

    requests = {r.request_id: r for r in ConsentRequest.objects.select_related("grant")}
    for promise in ledger.promises:
        request = requests.get(promise.request_id)
        if request is None or request.status != promise.decision:
            yield f"{promise.request_id}: {promise.decision} was promised, found {request and request.status}"
        elif promise.decision == "approved":
            yield from _grant_wrong(promise, getattr(request, "grant", None))


def _grant_wrong(promise: Promise, grant: Any) -> Iterator[str]:
    from consent.exports.models import Read

    if grant is None:
        yield f"{promise.request_id}: approved without a grant"
        return
    wanted = {promise.end} if promise.end else {"active", "superseded"}
    if grant.status not in wanted:
        yield f"{promise.request_id}: its grant is {grant.status}, not {' or '.join(wanted)}"
    kept = grant.exports.exclude(ciphertext=None).count()
    if kept != (grant.status == "active"):
        yield f"{promise.request_id}: {kept} ciphertexts of a grant that is {grant.status}"
    read = Read.objects.filter(grant=grant).count()
    if not promise.reads <= grant.reads == read:
        yield f"{promise.request_id}: {promise.reads} reads were answered, {grant.reads} counted, {read} written down"


def missing(promises: list[Promise]) -> Iterator[str]:
    """All that was promised is there; more may have happened since."""
    from consent.exports.models import Read
    from consent.requests.models import ConsentRequest

    requests = {r.request_id: r for r in ConsentRequest.objects.select_related("grant")}
    for promise in promises:
        request = requests.get(promise.request_id)
        if request is None or request.status != promise.decision:
            yield f"{promise.request_id}: {promise.decision} was promised, found {request and request.status}"
            continue
        grant = getattr(request, "grant", None)
        if promise.end_acknowledged and (grant is None or grant.status != promise.end):
            yield f"{promise.request_id}: its grant was to be {promise.end}, found {grant and grant.status}"
        if promise.reads > Read.objects.filter(grant=grant).count():
            yield f"{promise.request_id}: {promise.reads} reads were answered, and fewer are written down"


def doubled() -> Iterator[str]:
    """Each event is once in the person's chain, once in the app's, and has one receipt and one notice."""
    from consent.ledger.models import AuditEntry, Receipt
    from consent.notices.models import Notice
    from consent.requests.models import ConsentRequest

    events = Counter(Notice.objects.values_list("request__request_id", "kind"))
    for (request_id, kind), count in events.items():
        if count != 1:
            yield f"{request_id}: {count} notices of {kind}"
    chained = Counter(
        (entry.facts["request_id"], f"consent.{entry.kind}")
        for entry in AuditEntry.objects.exclude(kind__in=("reads", "restored")).select_related("kept")
    )
    for event in events.keys() | chained.keys():
        if chained[event] != 2:
            yield f"{event[0]}: {chained[event]} audit entries of {event[1]}, not one in each of two chains"
    receipts = Counter((request, f"consent.{event}") for request, event in _pairs(Receipt))
    if receipts != events:
        yield f"receipts and notices differ: {(receipts - events) | (events - receipts)}"
    for request_id, status in ConsentRequest.objects.exclude(status="pending").values_list("request_id", "status"):
        decided = [kind for kind in DECISIONS if (request_id, f"consent.{kind}") in events]
        if decided != [status]:
            yield f"{request_id} is {status}, and its decisions are {decided}"


def _pairs(model: type) -> list[tuple[str, str]]:
    return list(model.objects.values_list("request__request_id", "event"))  # type: ignore[attr-defined]  # a model


def gaps(apps: list[AppPart]) -> Iterator[str]:
    """Each app's sequence runs from one to its counter; a restore lets it go on at the first number of an epoch."""
    from consent.notices.epochs import EPOCH, is_first
    from consent.notices.models import Notice, NoticeCounter

    for app in apps:
        found = list(Notice.objects.filter(app_id=app.pk).order_by("sequence").values_list("sequence", flat=True))
        newest = NoticeCounter.objects.filter(app_id=app.pk).values_list("sequence", flat=True).first() or 0
        follows = all(after == before + 1 or is_first(after) for before, after in pairwise([0, *found]))
        told = found[-1] if found else 0
        if not follows or (newest != told and newest % EPOCH):
            yield f"{app.app_id}: {len(found)} notices up to {newest}"


def undelivered(receiver: Receiver) -> Iterator[str]:
    """Every notice reached the receiver, signed, under its sequence, as things stood then."""
    from consent.notices.models import Notice

    told = 0
    for app_id, sequence, kind, facts in Notice.objects.values_list("app__app_id", "sequence", "kind", "facts"):
        told += 1
        message = receiver.arrived.get(f"msg_{app_id}_{sequence}")
        if message is None:
            yield f"the webhook {sequence} of {app_id} never arrived"
        elif (message["type"], message["data"], message["data"]["sequence"]) != (kind, facts, sequence):
            yield f"the webhook {sequence} of {app_id} says something else"
    if len(receiver.arrived) != told or receiver.forged or receiver.differing:
        yield f"{len(receiver.arrived)} messages of {told}; {receiver.forged} forged, {receiver.differing} changed"


def unfollowed(followers: list[Follower]) -> Iterator[str]:
    """The streams told every notice once and in order, across all breaks."""
    from consent.notices.models import Notice

    for follower in followers:
        found = Notice.objects.filter(app_id=follower.app.pk).order_by("sequence").values_list("sequence", "facts")
        if list(found) != follower.events:
            yield f"{follower.app.app_id}: its stream told {len(follower.events)} of {len(found)} notices, or others"
