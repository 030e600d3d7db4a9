"""Waiting for what happens elsewhere, with one bound that only what hangs meets."""

import time
from collections.abc import Callable

MOST_SECONDS = 60.0


def not_over_midnight(seconds: float = 30.0) -> None:
    """Where UTC's day ends within so many seconds, wait for the next: what follows happens on one day."""
    left = 86400 - time.time() % 86400
    if left < seconds:
        time.sleep(left)


def eventually(condition: Callable[[], object], what: str) -> None:
    """Wait until `condition` is true; `what` is awaited, in the words of the failure."""
    deadline = time.monotonic() + MOST_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {MOST_SECONDS:.0f} seconds")
        time.sleep(0.01)
