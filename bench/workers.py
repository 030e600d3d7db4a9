"""Two server processes of one: requests per second, where each process has the same share of a processor.

    ./run bench workers [--rounds 5] [--seconds 3] [--clients 16] [--share 0.3]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it. Each
server process is stopped and let go on every few milliseconds, so that it runs for no more than its share: client,
database and two whole processes would not fit on two processors, and what one worker leaves unused would count for
two. What is seen is whether anything else holds two workers back: a lock, a connection, the database.
"""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

from bench import processor
from bench.trip import SERVERS, Figures, granian, measure, own_database, prepare

WANTED = 1.8
ADDRESSES = ("status", "discovery", "bare")
_TURN = 0.02  # seconds in which each process has its share once


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench workers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--share", type=float, default=0.3, help="of a processor, for each server process")
    options = parser.parse_args()
    with own_database() as url, ExitStack() as running:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="bench.settings", LOG_LEVEL="INFO")
        sent = prepare()
        sent["bare"] = sent["reference"]
        jobs, ports = {}, {}
        for workers in (1, 2):
            for application, names in (("config.wsgi", ADDRESSES[:2]), ("bench.bare", ADDRESSES[2:])):
                port = running.enter_context(granian(f"{application}:application", workers=workers))
                running.enter_context(held_to(options.share, processor.children(SERVERS[port])))
                jobs |= {f"{name}, {workers}": sent[name] for name in names}
                ports |= {f"{name}, {workers}": port for name in names}
        return report(measure(jobs, ports, options), options)


@contextmanager
def held_to(share: float, pids: list[int]) -> Iterator[None]:
    """Within it each of these processes runs for this share of the time, one after the other; then they are killed.

    One that was stopped so often waits for good where it is told to end in order.
    """
    done = threading.Event()

    def take_turns() -> None:
        while not done.is_set():
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
                done.wait(_TURN * share)
                os.kill(pid, signal.SIGSTOP)
            done.wait(_TURN * max(0.0, 1 - share * len(pids)))

    thread = threading.Thread(target=take_turns, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def report(figures: Figures, options: Any) -> int:
    """Print the table; 1 where two make less than they should."""

    def middle(name: str, what: str) -> float:
        return median(figure[what] for figure in figures[name])

    def ratio(name: str) -> float:
        pairs = zip(figures[f"{name}, 2"], figures[f"{name}, 1"], strict=True)
        return median(two["rate"] / one["rate"] for two, one in pairs)

    print(
        f"\n{options.clients} clients, PostgreSQL, {os.cpu_count()} processors, each server process held to "
        f"{options.share:g} of one; medians of {options.rounds} interleaved rounds of {options.seconds:g} s.\n"
    )
    print(f"{'':12}{'one, requests/s':>17}{'two, requests/s':>17}{'two of one':>12}{'wanted':>8}{'server µs':>17}")
    for name in ADDRESSES:
        took = " and ".join(f"{middle(f'{name}, {workers}', 'server_us'):.0f}" for workers in (1, 2))
        rates = "".join(f"{middle(f'{name}, {workers}', 'rate'):17.0f}" for workers in (1, 2))
        print(f"{name:12}{rates}{ratio(name):12.2f}{WANTED:8}{took:>17}")
    return 1 if any(ratio(name) < WANTED for name in ADDRESSES[:2]) else 0


if __name__ == "__main__":
    sys.exit(main())
