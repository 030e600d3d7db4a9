"""Requests per second of the addresses of a trip, as shares of a bare Django view on the same server and database.

    ./run bench trip [--rounds 5] [--seconds 2] [--clients 16]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it.
Production's limits are on, at production's numbers: as many apps ask as that takes. Nothing else runs beside it.
"""

import argparse
from contextlib import ExitStack

from bench.measuring import Figures, Target, granian, measure, options_of, setting_of
from bench.staging import own_database
from bench.targets import prepared, targets_at

WANTED = {"discovery": 0.58, "status": 0.62, "export 4 KiB": 0.5, "request": 0.27}  # of bare


def main() -> int:
    options = options_of("trip")
    with own_database() as url, ExitStack() as running:
        requests = prepared(url)
        service = running.enter_context(granian("config.wsgi:application"))
        bare = running.enter_context(granian("bench.reference:bare", factory=True))
        targets = targets_at(service, requests)
        targets["bare"] = Target(bare, requests["bare"])
        return report(measure(targets, options), options)


def report(figures: Figures, options: argparse.Namespace) -> int:
    """Print the table; 1 where an address is slower than it should be."""
    print(f"{setting_of(options)} Limits are production's.\n")
    print(f"{'':16}{'requests/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'of bare':>9}{'wanted':>8}{'server µs':>11}"
          f"{'database µs':>13}{'client':>8}")  # fmt: skip
    slow = [name for name, wanted in WANTED.items() if figures.ratio(name, "bare") < wanted]
    for name in figures:
        wanted, share = WANTED.get(name), figures.ratio(name, "bare")
        rate, p50, p99, server, database, client = (
            figures.middle(name, what) for what in ("rate", "p50_ms", "p99_ms", "server_us", "database_us", "busy")
        )
        print(f"{name:16}{rate:11.0f}{p50:8.1f}{p99:8.1f}{share:9.2f}{wanted or '':>8}{server:11.0f}{database:13.0f}"
              f"{client:8.0%}")  # fmt: skip
    print(
        "\nbare: one indexed SELECT in a plain Django view, without any of this project around it. µs: processor time"
        "\nof a call, of the server and of PostgreSQL on this machine. client: how busy the load generator was."
    )
    print(f"\nSlower than wanted: {', '.join(slow)}." if slow else "\nAll as fast as wanted.")
    return 1 if slow else 0
