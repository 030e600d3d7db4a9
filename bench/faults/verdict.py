"""What must be true when the dust has settled. Every function yields what is not."""

import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from bench.faults.deciders import Ledger, Outcome
from bench.faults.listeners import Follower, Receiver
from bench.staging import StagedApp
from deploy.local.place import PYTHON, ROOT

DECISIONS = ("approved", "denied", "cancelled", "expired")
_SETTLES_WITHIN = 400  # seconds: a killed worker's leases run out after one minute, failed webhooks wait for five


def settle(followers: list[Follower]) -> Iterator[str]:
    """Wait until nothing is on its way any more."""
    from consent.exports.models import Read
    from consent.grants.models import Grant
    from consent.notices.models import Notice, WebhookDelivery
    from consent.requests.models import ConsentRequest

    deadline = time.monotonic() + _SETTLES_WITHIN
    while True:
        waiting = WebhookDelivery.objects.filter(status="waiting").count() + Read.objects.filter(batch="").count()
        waiting += sum(model.objects.filter(record_waits=True).count() for model in (ConsentRequest, Grant))
        behind = Notice.objects.count() - sum(len(follower.events) for follower in followers)
        if not waiting and behind <= 0:
            break
        if time.monotonic() > deadline:
            yield f"{waiting} webhooks, reads or marks still wait, {behind} events were not told"
            stuck = WebhookDelivery.objects.filter(status="waiting").order_by("pk")[:3]
            yield from (
                f"{row.pk}: attempt {row.attempt}, next {row.next_at}, {row.failure or 'no answer'}" for row in stuck
            )
            break
        time.sleep(0.5)
    for follower in followers:
        follower.over.set()


def everything_wrong(ledger: Ledger, apps: list[StagedApp], receiver: Receiver, followers: list[Follower]) -> list[str]:
    """Once all is settled."""
    return [
        *ledger.defects, *lost(ledger.outcomes), *doubled(), *gaps(apps), *undelivered(receiver),
        *unfollowed(followers), *verify_audit(),
    ]  # fmt: skip


def verify_audit() -> Iterator[str]:
    done = subprocess.run(
        [PYTHON, "manage.py", "verify_audit"], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    print(done.stdout.strip(), flush=True)
    if done.returncode:
        yield f"verify_audit: {done.stderr}"


def lost(outcomes: list[Outcome]) -> Iterator[str]:
    """Everything that was acknowledged is as it was acknowledged."""
    for outcome, grant in _decided(outcomes):
        if isinstance(grant, str):
            yield grant
        elif outcome.decision == "approved":
            yield from _grant_wrong(outcome, grant)


def missing(outcomes: list[Outcome]) -> Iterator[str]:
    """All that was acknowledged is there; more may have happened since."""
    from consent.exports.models import Read

    for outcome, grant in _decided(outcomes):
        if isinstance(grant, str):
            yield grant
            continue
        if outcome.end_acknowledged and (grant is None or grant.status != outcome.end):
            yield f"{outcome.request_id}: its grant was to be {outcome.end}, found {grant and grant.status}"
        if outcome.reads > Read.objects.filter(grant=grant).count():
            yield f"{outcome.request_id}: {outcome.reads} reads were answered, and fewer are written down"


def _decided(outcomes: list[Outcome]) -> Iterator[tuple[Outcome, Any]]:
    """Each with its grant, or with what is wrong with its request."""
    from consent.requests.models import ConsentRequest

    requests = {r.request_id: r for r in ConsentRequest.objects.select_related("grant")}
    for outcome in outcomes:
        request = requests.get(outcome.request_id)
        if request is None or request.status != outcome.decision:
            found = request and request.status
            yield outcome, f"{outcome.request_id}: {outcome.decision} was acknowledged, found {found}"
        else:
            yield outcome, getattr(request, "grant", None)


def _grant_wrong(outcome: Outcome, grant: Any) -> Iterator[str]:
    from consent.exports.models import Read

    if grant is None:
        yield f"{outcome.request_id}: approved without a grant"
        return
    wanted = {outcome.end} if outcome.end else {"active", "superseded"}
    if grant.status not in wanted:
        yield f"{outcome.request_id}: its grant is {grant.status}, not {' or '.join(wanted)}"
    kept = grant.exports.exclude(ciphertext=None).count()
    if kept != (grant.status == "active"):
        yield f"{outcome.request_id}: {kept} ciphertexts of a grant that is {grant.status}"
    read = Read.objects.filter(grant=grant).count()
    if not outcome.reads <= grant.reads == read:
        yield f"{outcome.request_id}: {outcome.reads} reads were answered, {grant.reads} counted, {read} written down"


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
        if "request_id" in entry.facts  # of events of a request: a key that was registered has none
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


def gaps(apps: list[StagedApp]) -> Iterator[str]:
    """Each app's sequence runs from one to its counter; a restore lets it go on at the first number of an epoch."""
    from consent.notices.models import Notice, NoticeCounter
    from consent.notices.outbox import EPOCH, is_first

    for app in apps:
        found = list(Notice.objects.filter(app_id=app.pk).order_by("sequence").values_list("sequence", flat=True))
        newest = NoticeCounter.objects.filter(app_id=app.pk).values_list("sequence", flat=True).first() or 0
        follows = all(after == before + 1 or is_first(after) for before, after in pairwise([0, *found]))
        last = found[-1] if found else 0
        if not follows or (newest != last and newest % EPOCH):
            yield f"{app.app_id}: {len(found)} notices up to {newest}"


def undelivered(receiver: Receiver) -> Iterator[str]:
    """Every notice reached the receiver, signed, under its sequence, as things stood then."""
    from consent.notices.models import Notice

    written = 0
    for app_id, sequence, kind, facts in Notice.objects.values_list("app__app_id", "sequence", "kind", "facts"):
        written += 1
        message = receiver.arrived.get(f"msg_{app_id}_{sequence}")
        if message is None:
            yield f"the webhook {sequence} of {app_id} never arrived"
        elif (message["type"], message["data"], message["data"]["sequence"]) != (kind, facts, sequence):
            yield f"the webhook {sequence} of {app_id} says something else"
    if len(receiver.arrived) != written or receiver.forged or receiver.differing:
        yield f"{len(receiver.arrived)} messages of {written}; {receiver.forged} forged, {receiver.differing} changed"


def unfollowed(followers: list[Follower]) -> Iterator[str]:
    """The streams told every notice once and in order, across all breaks."""
    from consent.notices.models import Notice

    for follower in followers:
        found = Notice.objects.filter(app_id=follower.app.pk).order_by("sequence").values_list("sequence", "facts")
        if list(found) != follower.events:
            yield f"{follower.app.app_id}: its stream told {len(follower.events)} of {len(found)} notices, or others"
