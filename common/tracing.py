"""The identifier of what is being done: of the request that a process answers, or that gave a worker its task.

It is the `X-Request-Id` of the answer, goes along to workers, agents and webhooks, and stands in every log line.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

HEADER = "X-Request-Id"
ROUTE = "consent.route"  # in a request's META once it is answered: method, route and status
# a developer token has that form too, and an identifier is kept and passed on: one that looks like it is not taken
_WELL_FORMED = re.compile(r"(?!cr_[a-z]{2,12}_)[A-Za-z0-9._-]{8,64}\Z")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The identifier of what this thread is doing, or an empty text outside of any request and task."""
    return _current.get()


def accepted(given: str) -> str:
    """`given` where it is well formed, else a new identifier."""
    return given if _WELL_FORMED.match(given) else uuid4().hex


@contextmanager
def following(identifier: str) -> Iterator[None]:
    """What is done while this lasts belongs to `identifier`."""
    token = _current.set(identifier)
    try:
        yield
    finally:
        _current.reset(token)
