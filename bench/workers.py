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
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.measuring import Figures, Target, children, granian, measure, options_of, setting_of
from bench.staging import own_database
from bench.targets import prepared, targets_at

WANTED = 1.8
ADDRESSES = ("status", "discovery", "bare")
_TURN = 0.02  # seconds in which each process has its share once


def main() -> int:
    share = {"type": float, "default": 0.3, "help": "of a processor, for each server process"}
    options = options_of("workers", seconds=3.0, share=share)
    with own_database() as url, ExitStack() as running:
        requests = prepared(url)
        targets: dict[str, Target] = {}
        for workers in (1, 2):
            service = running.enter_context(granian("config.wsgi:application", workers=workers))
            bare = running.enter_context(granian("bench.reference:bare", factory=True, workers=workers))
            for server in (service, bare):
                running.enter_context(limited_to(options.share, children(server.pid)))
            found = targets_at(service, requests) | {"bare": Target(bare, requests["bare"])}
            targets |= {f"{name}, {workers}": found[name] for name in ADDRESSES}
        return report(measure(targets, options), options)


@contextmanager
def limited_to(share: float, pids: list[int]) -> Iterator[None]:
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


def report(figures: Figures, options: argparse.Namespace) -> int:
    """Print the table; 1 where two make less than they should."""
    print(f"{setting_of(options)} Each server process is held to {options.share:g} of a processor.\n")
    print(f"{'':12}{'one, requests/s':>17}{'two, requests/s':>17}{'two of one':>12}{'wanted':>8}{'server µs':>17}")
    for name in ADDRESSES:
        both = [f"{name}, {workers}" for workers in (1, 2)]
        took = " and ".join(f"{figures.middle(each, 'server_us'):.0f}" for each in both)
        rates = "".join(f"{figures.middle(each, 'rate'):17.0f}" for each in both)
        print(f"{name:12}{rates}{figures.ratio(both[1], both[0]):12.2f}{WANTED:8}{took:>17}")
    return 1 if any(figures.ratio(f"{name}, 2", f"{name}, 1") < WANTED for name in ADDRESSES[:2]) else 0
