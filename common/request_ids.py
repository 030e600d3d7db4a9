"""The identifier of what is being done: of the request that a process answers, or that gave a worker its task.

It is the `X-Request-Id` of the answer, goes along to workers, agents and webhooks, and stands in every log line: there,
in bodies and in the database it is called `trace_id`. The traces of OpenTelemetry are config/telemetry.py.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import uuid4

HEADER = "X-Request-Id"
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
def following(request_id: str) -> Iterator[None]:
    """What is done while this lasts belongs to the request or task `request_id`."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)
