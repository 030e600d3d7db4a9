"""`/metrics`, for Prometheus, on an address of its own that no proxy leads to: METRICS_ADDRESS, as 127.0.0.1:9464.

Of the processes that share CONSENT_VAR on a machine, one has the port and answers for all; when it ends, the next takes
it. What lies in the database is looked up while it is scraped, a queue by its index and up to `_MOST` rows.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.db import Error, connection, connections
from django.db.models import Q
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from common import metrics
from common.clock import database_now

_EVERY = 5.0  # seconds between two samples, and two tries to have the port
_MOST = 10_000  # rows that are counted of a queue
_OF_PROCESS = re.compile(r"(counter|histogram|gauge_[a-z]+)_(\d+)\.db\Z")
_folding = threading.Lock()
_log = logging.getLogger(__name__)


class Queue(NamedTuple):
    """Rows that a task works off; `since` is the column from when on a row was due, and is never in the future here."""

    model: str
    since: str
    which: Callable[[datetime], Q] = lambda _: Q()


QUEUES = {
    "webhooks": Queue(
        "consent.WebhookDelivery", "next_at",
        lambda now: Q(status="waiting", next_at__lte=now, endpoint__disabled_at=None, endpoint__app__status="active"),
    ),
    "mails": Queue("accounts.OutgoingMail", "due_at", lambda now: Q(due_at__lte=now)),
    "pushes": Queue("accounts.OutgoingPush", "due_at", lambda now: Q(due_at__lte=now)),
    "activations": Queue(
        "agents_proxy.Activation", "next_attempt_at", lambda now: Q(status="queued", next_attempt_at__lte=now)
    ),
    "deletions": Queue(
        "agents_proxy.Deletion", "next_attempt_at", lambda now: Q(status="queued", next_attempt_at__lte=now)
    ),
    "corrections": Queue("agents_proxy.Correction", "due_at", lambda now: Q(due_at__lte=now)),
    "withdrawals": Queue("consent.ScopeWithdrawal", "at", lambda _: Q(finished_at=None)),
    "reads": Queue("consent.Read", "at", lambda _: Q(batch="")),
    "audit": Queue("consent.AuditPending", "at"),
    "log": Queue("consent.LogQueue", "at"),
}  # fmt: skip


class QueueCollector:
    """Lengths and ages of the queues. One that this process's role may not read is left out."""

    def collect(self) -> Iterator[Metric]:
        length = GaugeMetricFamily("consent_queue_length", f"Rows that are due, {_MOST} at most.", labels=["queue"])
        age = GaugeMetricFamily("consent_queue_age_seconds", "Since when the oldest row is due.", labels=["queue"])
        for name, queue in QUEUES.items():
            try:
                count, seconds = _state_of(queue)
            except Error:  # of rights, or a database that is away, which /readyz tells of
                connection.close()
                continue
            length.add_metric([name], count)
            age.add_metric([name], seconds)
        yield length
        yield age
        connection.close()  # back to the pool, until the next scrape


def _state_of(queue: Queue) -> tuple[int, float]:
    now = database_now()
    due = apps.get_model(queue.model)._default_manager.filter(queue.which(now)).order_by()
    count = due.values("pk")[:_MOST].count()
    oldest = due.order_by(queue.since).values_list(queue.since, flat=True).first()
    return count, 0.0 if oldest is None else max(0.0, (now - oldest).total_seconds())


class _ProcessCollector(MultiProcessCollector):
    """What all processes counted, but never while `fold_ended` moves some of it."""

    def collect(self) -> Any:
        with _folding:
            return super().collect()  # type: ignore[no-untyped-call]  # upstream has no types


def registry() -> CollectorRegistry:
    """What a scrape answers with."""
    made = CollectorRegistry()
    _ProcessCollector(made, str(settings.METRICS_FOLDER))  # type: ignore[no-untyped-call]
    made.register(QueueCollector())
    return made


def start() -> None:
    """Count for a scrape from now on, and answer scrapes while no other process of this machine does."""
    if settings.METRICS_ADDRESS:
        threading.Thread(target=_keep_sampling, name="metrics", daemon=True).start()


def _keep_sampling() -> None:
    host, _, port = settings.METRICS_ADDRESS.rpartition(":")
    listen: Callable[[], object] | None = partial(start_http_server, int(port), host.strip("[]"), registry())
    while True:
        if listen is not None:
            try:
                listen()
            except OSError:
                pass  # another process has the port
            else:
                listen = None
        try:
            sample()
            if listen is None:
                fold_ended(settings.METRICS_FOLDER)
        except Exception:  # a sampler that ends would leave its last figures in force for ever
            _log.exception("the metrics were not sampled")
        time.sleep(_EVERY)


def sample() -> None:
    """What this process holds now."""
    from agents_proxy.proxy.calls import under_way  # has models, and config/wsgi.py imports this before they are there
    from consent.notices.long_polling import hub

    metrics.HELD.labels("answers").set(hub.count())
    metrics.HELD.labels("agents").set(under_way.count)
    pool: Any = getattr(connections["default"], "pool", None)
    if pool is not None:
        found = pool.get_stats()
        metrics.POOL.labels("size").set(found.get("pool_size", 0))
        metrics.POOL.labels("available").set(found.get("pool_available", 0))
        metrics.POOL.labels("waiting").set(found.get("requests_waiting", 0))


def fold_ended(folder: Path) -> None:
    """What processes counted that have ended goes into the files of number 0, so that no file stays of each.

    Called by the one process that has the port. What a process held when it ended is dropped.
    """
    for path in folder.glob("*.db"):
        found = _OF_PROCESS.match(path.name)
        if found is None or int(found[2]) == 0 or _is_alive(int(found[2])):
            continue
        with _folding:
            if not found[1].startswith("gauge_live"):
                _add(path, folder / f"{found[1]}_0.db", sums=found[1] != "gauge_max")
            path.unlink()


def _add(path: Path, to: Path, *, sums: bool) -> None:
    into = MmapedDict(str(to))  # type: ignore[no-untyped-call]
    for key, value, at, _ in MmapedDict.read_all_values_from_file(str(path)):  # type: ignore[no-untyped-call]
        before, _at = into.read_value(key)  # type: ignore[no-untyped-call]
        into.write_value(key, before + value if sums else max(before, value), at)  # type: ignore[no-untyped-call]
    into.close()  # type: ignore[no-untyped-call]


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
