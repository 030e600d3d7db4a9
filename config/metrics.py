"""`/metrics`, for Prometheus, on an address of its own that no proxy leads to: METRICS_ADDRESS, as 127.0.0.1:9464.

Of the processes that share CONSENT_VAR on a machine, one has the port and answers for all; when it ends, the next takes
it: whose turn it is, a lock on a file says. What lies in the database is looked up while it is scraped, a queue by its
index and up to `_MOST` rows.
"""

import fcntl
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, NamedTuple
from wsgiref.simple_server import WSGIServer

from django.apps import apps
from django.conf import settings
from django.db import OperationalError, ProgrammingError, connection, connections
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
    "expiry": Queue(
        "consent.ConsentRequest", "expires_at", lambda now: Q(status="pending", expires_at__lte=now)
    ),
    "audit": Queue("consent.AuditPending", "at"),
    "log": Queue("consent.LogQueue", "at"),
}  # fmt: skip


class QueueCollector:
    """Lengths and ages of the queues, and the log's lag. What this process's role may not read is left out."""

    def collect(self) -> Iterator[Metric]:
        length = GaugeMetricFamily("consent_queue_length", f"Rows that are due, {_MOST} at most.", labels=["queue"])
        age = GaugeMetricFamily("consent_queue_age_seconds", "Since when the oldest row is due.", labels=["queue"])
        lag = GaugeMetricFamily("consent_log_unsigned_entries", "Entries in the log that no checkpoint covers yet.")
        try:
            for name, queue in QUEUES.items():
                if (found := _allowed(partial(_state_of, queue))) is not None:
                    length.add_metric([name], found[0])
                    age.add_metric([name], found[1])
            if (unsigned := _allowed(_unsigned)) is not None:
                lag.add_metric([], unsigned)
        except OperationalError:  # the database is away, which /readyz tells of: each further one would wait, too
            pass
        yield from (length, age, lag)
        connection.close()  # back to the pool, until the next scrape


def _allowed(look: Callable[[], Any]) -> Any:
    """What `look` finds; None where this process's role has no right to it."""
    try:
        return look()
    except ProgrammingError:
        connection.close()
        return None


def _state_of(queue: Queue) -> tuple[int, float]:
    now = database_now()
    due = apps.get_model(queue.model)._default_manager.filter(queue.which(now)).order_by()
    count = due.values("pk")[:_MOST].count()
    oldest = due.order_by(queue.since).values_list(queue.since, flat=True).first()
    return count, 0.0 if oldest is None else max(0.0, (now - oldest).total_seconds())


def _unsigned() -> int:
    from consent.log.models import AuditCheckpoint, LogState  # models, as in `sample`

    state = LogState.objects.only("epoch", "size").get(pk=1)
    signed = AuditCheckpoint.objects.filter(epoch=state.epoch).order_by("-size").values_list("size", flat=True).first()
    return max(0, state.size - (signed or 0))


class _ProcessCollector(MultiProcessCollector):
    """What all processes counted, but never while `fold_ended` moves some of it."""

    def collect(self) -> Any:
        with _folding:
            # the library makes a file first and gives it a size then: a process that begins has counted nothing in it
            files = [str(path) for path in settings.METRICS_FOLDER.glob("*.db") if path.stat().st_size]
            return self.merge(files)  # type: ignore[no-untyped-call]  # upstream has no types


def registry() -> CollectorRegistry:
    """What a scrape answers with."""
    made = CollectorRegistry()
    _ProcessCollector(made, str(settings.METRICS_FOLDER))  # type: ignore[no-untyped-call]
    made.register(QueueCollector())
    return made


@cache  # the timer of a worker is in its process, and both ask for it
def start() -> None:
    """Count for a scrape from now on, and answer scrapes while no other process of this machine does."""
    if settings.METRICS_ADDRESS:
        for agent in settings.AGENTS:
            metrics.AGENT_CALLS.labels(agent, "answered")
        threading.Thread(target=_keep_sampling, name="metrics", daemon=True).start()


def _keep_sampling() -> None:
    server = _Server(settings.METRICS_ADDRESS, settings.METRICS_FOLDER)
    while True:
        try:
            sample()
            server.take_turn()
        except Exception:  # a sampler that ends would leave its last figures in force for ever
            _log.exception("the metrics were not sampled")
        time.sleep(_EVERY)


class _Server:
    """Answers scrapes once it is this process's turn, and until the process ends."""

    def __init__(self, address: str, folder: Path) -> None:
        host, _, port = address.rpartition(":")
        self._listen = partial(start_http_server, int(port), host.strip("[]"))
        self._address, self._file = address, folder / "answers.lock"
        self._lock: IO[bytes] | None = None
        self._http: WSGIServer | None = None
        self._complained = False

    def take_turn(self) -> bool:
        """Answer scrapes from now on, unless another process of this service does; whether this one does."""
        if not self._has_turn():
            return False
        fold_ended(self._file.parent)  # before the first answer, too: the process before may have been killed within it
        if self._http is not None:
            return True
        try:
            self._http, _ = self._listen(registry())
        except OSError as error:  # another program's port, or no address of this machine
            if not self._complained:
                _log.error("nobody can be told metrics at %s: %s", self._address, error.strerror)
            self._complained = True
        return self._http is not None

    def close(self) -> None:
        """Leave it to the next process, for tests; else the end of the process does."""
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
        if self._lock is not None:
            self._lock.close()
        self._http = self._lock = None

    def _has_turn(self) -> bool:
        if self._lock is not None:
            return True
        file = self._file.open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        self._lock = file  # held as long as the process lives
        return True


def sample() -> None:
    """What this process holds now."""
    from agents_proxy.proxy.calls import under_way  # has models, and config/wsgi.py imports this before they are there
    from consent.notices.long_polling import hub

    open_calls = {
        "answers": (hub.count(), settings.STATUS_WAITERS),
        "agents": (under_way.count, settings.A2A_CALLS_IN_FLIGHT),
    }
    for kind, (count, most) in open_calls.items():
        metrics.OPEN_CALLS.labels(kind).set(count)
        metrics.FULLEST.labels(kind).set(count / most)
    pool: Any = getattr(connections["default"], "pool", None)
    if pool is not None:
        found = pool.get_stats()
        metrics.POOL.labels("size").set(found.get("pool_size", 0))
        metrics.POOL.labels("available").set(found.get("pool_available", 0))
        metrics.POOL.labels("waiting").set(found.get("requests_waiting", 0))


def fold_ended(folder: Path) -> None:
    """What processes counted that have ended goes into the files of number 0, so that no file stays of each.

    Called by the one process that has the port. What a process held when it ended is dropped. Killed at any moment, the
    next call ends what this one began: nothing is counted twice.
    """
    for whole in folder.glob("*.whole"):
        _put(whole)
    for path in folder.glob("*.db"):
        found = _OF_PROCESS.match(path.name)
        if found is None or int(found[2]) == 0 or _is_alive(int(found[2])):
            continue
        if found[1].startswith("gauge_live") or not path.stat().st_size:
            with _folding:
                path.unlink()
        else:
            _put(_together(path, folder / _total(path), sums=found[1] != "gauge_max"))


def _total(path: Path) -> str:
    return f"{path.name.rpartition('_')[0]}_0.db"


def _together(path: Path, total: Path, *, sums: bool) -> Path:
    """What `path` and the total count, in a file of its name and `.whole`, which is never there in part."""
    made = path.with_suffix(".half")
    made.write_bytes(total.read_bytes() if total.exists() else b"")
    into = MmapedDict(str(made))  # type: ignore[no-untyped-call]
    for key, value, at, _ in MmapedDict.read_all_values_from_file(str(path)):  # type: ignore[no-untyped-call]
        before, _at = into.read_value(key)  # type: ignore[no-untyped-call]
        into.write_value(key, before + value if sums else max(before, value), at)  # type: ignore[no-untyped-call]
    into.close()  # type: ignore[no-untyped-call]
    return made.rename(path.with_suffix(".whole"))


def _put(whole: Path) -> None:
    """Replace the total and the added file by the `whole` of both, in an order that may be begun again."""
    with _folding:
        whole.with_suffix(".db").unlink(missing_ok=True)
        whole.rename(whole.with_name(_total(whole)))


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
