"""How passwords are kept, and how many are hashed at once.

The cost is what OWASP's Password Storage Cheat Sheet asks of Argon2id: 19 MiB, two passes, one lane. A process hashes
as many as it has processors, a few more wait for their turn, and whoever comes then is told to try again in a moment:
so neither memory nor processors run out, and what others do goes on.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import Argon2PasswordHasher

from common.problems import TemporarilyUnavailable


class Turns:
    """So many at once, and so many that wait; raises `TemporarilyUnavailable` for more."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._turn = threading.Semaphore(at_once)
        self._admitted = threading.Semaphore(at_once + waiting)

    @contextmanager
    def take(self) -> Iterator[None]:
        if not self._admitted.acquire(blocking=False):
            raise TemporarilyUnavailable(headers={"Retry-After": "5"})
        try:
            with self._turn:
                yield
        finally:
            self._admitted.release()


_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
turns = Turns(_PROCESSORS, waiting=8 * _PROCESSORS)  # each takes some hundredths of a second


class CappedArgon2(Argon2PasswordHasher):
    """A password that was hashed at another cost is hashed anew when its person signs in next."""

    time_cost = 2
    memory_cost = 19_456  # KiB
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with turns.take():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with turns.take():
            return super().verify(password, encoded)
