"""What this service counts of itself, for Prometheus. Labels name routes, agents and kinds: never a person or a value.

Where METRICS_ADDRESS is set, the processes of one machine that share CONSENT_VAR count in files of one folder, and one
of them answers for all (config/metrics.py); else each counts in its own memory, and nobody is told. The settings name
that folder, so they have to be read before this is imported.
"""

import logging
import os
import sys
from errno import EDQUOT, ENOSPC
from io import FileIO

from prometheus_client import Counter, Gauge, Histogram, mmap_dict


class _Room(FileIO):
    """A file that grows only where the disk has room for it; without, it goes on in memory, where no scrape finds it.

    What is mapped and has no room would end the process at the first write (SIGBUS).
    """

    def truncate(self, size: int | None = None) -> int:
        try:
            os.posix_fallocate(self.fileno(), 0, size or 0)
        except OSError as error:
            if error.errno not in (ENOSPC, EDQUOT):
                return super().truncate(size)  # a file system on which no room can be reserved
            logging.getLogger(__name__).error("%s is counted in memory alone: %s", self.name, error.strerror)
            memory = os.memfd_create("metrics")
            os.write(memory, os.pread(self.fileno(), size or 0, 0))
            os.ftruncate(memory, size or 0)
            os.dup2(memory, self.fileno(), inheritable=False)
            os.close(memory)
        return size or 0


if sys.platform == "linux":
    mmap_dict.open = _Room  # type: ignore[attr-defined]
REQUESTS = Histogram(
    "consent_request_duration_seconds", "Time until an answer began.", ["method", "route", "kind", "status"],
    buckets=(0.01, 0.05, 0.1, 0.25, 1, 5, 30),
)  # fmt: skip
REFUSALS = Counter("consent_refusals_total", "Calls answered with a problem, by its code.", ["code"])
EVENTS = Counter(
    "consent_events_total", "What became of requests and approvals, by the event of the history.", ["event"]
)
READS = Counter("consent_reads_total", "Reads of approved slices that were counted.")
AGENT_CALLS = Counter("consent_agent_calls_total", "Calls to agents, by what became of them.", ["agent", "outcome"])
WEBHOOKS = Counter("consent_webhook_attempts_total", "Attempts to deliver a webhook.", ["outcome"])
MAILS = Counter("consent_mails_total", "Mails that went out, or were not taken.", ["outcome"])
TASKS = Histogram(
    "consent_task_duration_seconds", "Tasks of the worker.", ["task", "state"], buckets=(0.1, 1, 10, 60)
)  # fmt: skip
OPEN_CALLS = Gauge(
    "consent_held_calls", "Answers and streams held, and calls to agents under way.", ["kind"],
    multiprocess_mode="livesum",
)  # fmt: skip
FULLEST = Gauge(
    "consent_held_share", "How much of what it may hold the fullest process holds, 1 at most.", ["kind"],
    multiprocess_mode="livemax",
)  # fmt: skip
POOL = Gauge(
    "consent_database_pool", "Connections of the pools: size, available; requests that wait for one.", ["state"],
    multiprocess_mode="livesum",
)  # fmt: skip
HEARTBEATS = Gauge(
    "consent_heartbeat_timestamp_seconds", "When a part last did a turn, as a Unix time.", ["part"],
    multiprocess_mode="max",
)  # fmt: skip

# a first failure is an increase only of a figure that was told before
for _outcome in ("sent", "failed", "away"):
    MAILS.labels(_outcome)
for _outcome in ("delivered", "failed"):
    WEBHOOKS.labels(_outcome)
