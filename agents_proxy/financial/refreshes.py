"""Refreshes: what changed at an institution, page by page, taken in as a whole or not at all.

The rows are the queue, as for analyses: a run is claimed with a lease, `attempt` is the fence, and a worker that died
leaves a lease that runs out. The cursor moves only together with everything that came before it, so that a refresh
that broke off, or whose pages changed meanwhile, starts again where it began.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, Max, OuterRef, Q

from agents_proxy.financial import client, errors
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.financial.shapes import Accounts
from agents_proxy.financial.transactions import Ledger, applied, trimmed
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import History, ItemStatus, Purpose, RefreshStatus
from common.broker import enqueue
from common.clock import database_now

LEASE = timedelta(seconds=90)  # more than one call with all its repetitions may take
MAX_ATTEMPTS = 5
MAX_RESTARTS = 4  # when transactions change while they are read, from one cursor
PAGES = 100
EVERY = timedelta(hours=24)
# where the aggregator has not fetched everything yet: it also tells by itself, which may be lost
STILL_COMING = {History.NOT_READY: timedelta(minutes=1), History.INITIAL: timedelta(minutes=10)}
RETRY_PAUSES = (0.2, 1.0)  # seconds before a read is repeated; reading twice harms nothing
REFRESH_ITEM = "agents_proxy.tasks.refresh_item"
UNFINISHED = (RefreshStatus.QUEUED, RefreshStatus.RUNNING)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Claimed:
    """A run that this worker, and no other, may record the end of."""

    run_pk: int
    attempt: int
    item_pk: int
    cursor: str
    ledger: Ledger = field(repr=False)
    token: str = field(repr=False)


@dataclass
class Progress:
    """What a refresh has read so far."""

    ledger: Ledger = field(repr=False)
    cursor: str
    history: History | None = None  # None: as before
    pages: int = 0
    added: int = 0
    modified: int = 0
    removed: int = 0

    @property
    def counts(self) -> dict[str, int]:
        return {"pages": self.pages, "added": self.added, "modified": self.modified, "removed": self.removed}


class LeaseLost(Exception):
    """The lease is another worker's now, or the run has ended."""


def start_refresh(item: Item) -> RefreshRun:
    """The unfinished refresh of this item, made where there is none; a worker is told once this is committed."""
    try:
        with transaction.atomic():
            run = RefreshRun.objects.create(item=item)
    except IntegrityError:  # one at a time
        return RefreshRun.objects.filter(item=item, status__in=UNFINISHED).latest("pk")
    transaction.on_commit(lambda: enqueue(REFRESH_ITEM, run.pk))
    return run


def run_refresh(run_pk: int) -> None:
    """Read everything that changed, and record it; does nothing where another worker is at it."""
    claimed = _claim(run_pk)
    if claimed is None:
        return
    try:
        accounts_page = _with_retries(
            lambda: client.accounts(claimed.token)
        )  # under the lease that was claimed just now
        progress = _read(claimed)
    except LeaseLost:
        return
    except errors.AggregatorProblem as problem:
        _record_failure(claimed, problem)
        return
    _record(claimed, accounts_page, progress)


def _claim(run_pk: int) -> Claimed | None:
    with transaction.atomic():
        found = RefreshRun.objects.select_for_update(of=("self",)).select_related("item__user")
        run = found.filter(pk=run_pk, status__in=UNFINISHED).first()
        now = database_now()
        if run is None or (run.lease_until is not None and run.lease_until > now):
            return None
        refused = "worker_lost" if run.attempt >= MAX_ATTEMPTS else _refusal_code(run.item)
        if refused:
            _end(run, now, error_code=refused)
            return None
        run.status, run.attempt = RefreshStatus.RUNNING, run.attempt + 1
        run.lease_until, run.started_at = now + LEASE, run.started_at or now
        run.save()
        item = run.item
        ledger = linked_items.content_of(item).ledger if item.cursor else {}  # else everything comes once more
        return Claimed(run.pk, run.attempt, item.pk, item.cursor, ledger, linked_items.access_token(item))


def _refusal_code(item: Item) -> str:
    """Why nothing of this item may be read or kept any more; "" where it may."""
    if item.status == ItemStatus.REMOVED:
        return "item_removed"
    return "" if consents.own(item.user, Purpose.FINANCIAL) else "consent_withdrawn"


def _read(claimed: Claimed) -> Progress:
    """Everything from the kept cursor on; where that holds no longer, everything there is, in place of what was kept.

    A cursor that the aggregator has lost is refused, or answered for ever with a change between two pages.
    """
    for _ in range(MAX_RESTARTS):
        try:
            return _pages(claimed)
        except errors.ChangedMeanwhile:
            continue
        except errors.AggregatorRefused:
            if not claimed.cursor:
                raise
            break
    if not claimed.cursor:
        raise errors.ChangedMeanwhile
    return _read(replace(claimed, cursor="", ledger={}))


def _pages(claimed: Claimed) -> Progress:
    progress = Progress(claimed.ledger, claimed.cursor)
    while progress.pages < PAGES:
        _keep_lease(claimed)  # before each read: with its repetitions it may take most of a lease
        page = _with_retries(lambda: client.transactions_page(claimed.token, progress.cursor))
        if page.has_more and page.next_cursor in ("", progress.cursor):
            raise errors.AggregatorRefused  # it would go round for ever
        progress.ledger = applied(progress.ledger, [page])
        progress.cursor, progress.history = page.next_cursor, page.history
        progress.pages += 1
        progress.added += len(page.added)
        progress.modified += len(page.modified)
        progress.removed += len(page.removed)
        if not page.has_more:
            return progress
    raise errors.AggregatorRefused


def _with_retries(read: Callable[[], _Answer]) -> _Answer:
    """One read, repeated where the aggregator was away for a moment. Holds no database connection meanwhile."""
    for pause in (*RETRY_PAUSES, None):
        if not connection.in_atomic_block:
            connection.close()
        try:
            return read()
        except errors.AggregatorProblem as problem:
            if pause is None or type(problem) not in (
                errors.AggregatorProblem,
                errors.AggregatorTimeout,
                errors.AggregatorBusy,
            ):
                raise
            time.sleep(pause)
    raise errors.AggregatorProblem


def _keep_lease(claimed: Claimed) -> None:
    mine = RefreshRun.objects.filter(pk=claimed.run_pk, attempt=claimed.attempt, status=RefreshStatus.RUNNING)
    if not mine.update(lease_until=database_now() + LEASE):
        raise LeaseLost


def _record(claimed: Claimed, accounts_page: Accounts, progress: Progress) -> None:
    with transaction.atomic():
        run = _claimed_run(claimed)
        if run is None:
            return
        items = Item.objects.select_for_update(of=("self",)).select_related("user")
        now, item = database_now(), items.get(pk=claimed.item_pk)
        refused = _refusal_code(item)
        if refused:
            _end(run, now, error_code=refused)
            return
        accounts = [
            account.model_dump(include={"name", "mask", "type", "subtype"}) for account in accounts_page.accounts
        ]
        item.signals = linked_items.ItemContent(trimmed(progress.ledger, now.date()), accounts).sealed()
        item.cursor, item.status = progress.cursor, ItemStatus.ACTIVE
        fetched_before = History.INITIAL if item.history == History.NOT_READY else item.history
        item.history = progress.history or fetched_before
        item.institution = (accounts_page.item.institution_name or accounts_page.item.institution_id or "")[:160]
        item.save()
        # an empty cursor is how the aggregator says that it has fetched nothing yet
        _end(run, now, error_code="" if progress.cursor else errors.NotReady.code, **progress.counts)


def _record_failure(claimed: Claimed, problem: errors.AggregatorProblem) -> None:
    with transaction.atomic():
        run = _claimed_run(claimed)
        if run is None:
            return
        _end(run, database_now(), error_code=problem.code)
        linked_items.note_problem(claimed.item_pk, type(problem))


def _claimed_run(claimed: Claimed) -> RefreshRun | None:
    found = RefreshRun.objects.select_for_update()
    return found.filter(pk=claimed.run_pk, attempt=claimed.attempt, status=RefreshStatus.RUNNING).first()


def _end(run: RefreshRun, now: datetime, *, error_code: str, **counts: Any) -> None:
    run.status = RefreshStatus.FAILED if error_code else RefreshStatus.COMPLETED
    run.error_code, run.lease_until = error_code, None
    run.started_at, run.finished_at = run.started_at or now, now
    for name, count in counts.items():
        setattr(run, name, count)
    run.save()


def abandoned_runs(*, limit: int = 50) -> list[int]:
    """Runs that no worker holds: the worker died, or none was told."""
    now = database_now()
    lost = Q(status=RefreshStatus.RUNNING, lease_until__lte=now)
    not_handed_over = Q(status=RefreshStatus.QUEUED, created_at__lt=now - timedelta(seconds=5))
    return list(RefreshRun.objects.filter(lost | not_handed_over).order_by("pk").values_list("pk", flat=True)[:limit])


def due_items(*, limit: int = 50) -> list[Item]:
    """Items whose last refresh was a day ago or before the aggregator said that there is more, or that had not
    everything to give yet a moment ago."""
    now = database_now()
    busy = RefreshRun.objects.filter(item=OuterRef("pk"), status__in=UNFINISHED)
    items = Item.objects.filter(status=ItemStatus.ACTIVE).annotate(
        begun=Max("refresh_runs__started_at"), last=Max("refresh_runs__finished_at")
    )
    due = Q(last__lt=now - EVERY) | Q(changed_at__gte=F("begun"))
    for history, pause in STILL_COMING.items():
        due |= Q(history=history, created_at__gt=now - EVERY, last__lt=now - pause)
    return list(items.filter(~Exists(busy)).filter(due).order_by("pk")[:limit])
