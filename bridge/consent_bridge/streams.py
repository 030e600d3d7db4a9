"""Server-sent events as this service sends them, apart from any socket: bytes in, events out, and where to go on.

The format is the HTML standard's, section 9.2.6. An id that comes without data only says where the stream stands.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from consent_bridge.encoding import parse_object
from consent_bridge.errors import BadAnswer, BridgeError, Problem, Refused, Unreachable
from consent_bridge.results import ConnectionNotice, Processing, Status, build

PATH = "/consent-events"
OF_CONNECTIONS = "connection."  # how the types of what is told of connections begin
SILENCE = 45.0  # seconds; the service says something every fifteen
PATIENCE = 300.0  # seconds of waiting for the service after which a stream is given up
_RETRY = 2.0
_LONGEST_PAUSE = 30.0
_MAX_BUFFER = 1024 * 1024
_PASSING = frozenset({429, 500, 502, 503, 504})
_jitter = secrets.SystemRandom()


@dataclass(frozen=True)
class Event:
    """A notice of the app: its sequence number, and the request as it was at that moment.

    What is told of processing by agents has a `type` of its own, and `processing` in place of the request; what is told
    of a connection has `connection`. `webhook_type` says of a request which webhook tells the same; others' is `type`.
    """

    id: int
    status: Status | None
    type: str = "consent"
    processing: Processing | None = None
    connection: ConnectionNotice | None = None
    webhook_type: str = ""


class Stream:
    """Where one reader stands in its app's events, over as many connections as it takes."""

    def __init__(
        self,
        last_event_id: int | None = None,
        *,
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.last_event_id = last_event_id
        self._patience = patience
        self._clock = clock
        self._retry = _RETRY
        self._failures = 0
        self._idle_since = clock()
        self._lines = _Lines()
        self._fields: dict[str, list[str]] = {}

    def headers(self) -> dict[str, str]:
        """What a new connection is opened with; an event that came in part is left behind with the old one."""
        self._lines, self._fields = _Lines(), {}
        resume = {} if self.last_event_id is None else {"Last-Event-ID": str(self.last_event_id)}
        return {"Accept": "text/event-stream", "Accept-Encoding": "identity", "Cache-Control": "no-cache", **resume}

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that these bytes complete, each one only once."""
        self._failures = 0
        self.wait_again()
        events = [self._take(line) for line in self._lines.feed(chunk)]
        return [event for event in events if event is not None]

    def wait_again(self) -> None:
        """Count from now: the service was heard, and what a consumer then took for an event was no waiting for it."""
        self._idle_since = self._clock()

    def pause_after(self, error: BridgeError | None) -> float:
        """How long to wait before the next connection; raises `error` where another would be no use.

        None: the server ended the stream in order, as it does now and then.
        """
        if error is None:
            return self._retry * (0.5 + _jitter.random() / 2)
        passing = isinstance(error, Unreachable) or (isinstance(error, Problem) and error.status in _PASSING)
        self._failures += 1
        given = error.retry_after if isinstance(error, Problem) else None
        pause = given or min(_LONGEST_PAUSE, self._retry * 2.0 ** (self._failures - 1) * (0.5 + _jitter.random() / 2))
        if not passing or self._clock() + pause - self._idle_since > self._patience:
            raise error
        return pause

    def _take(self, line: str) -> Event | None:
        if line:
            name, _, value = line.partition(":")
            if name:
                self._fields.setdefault(name, []).append(value.removeprefix(" "))
            return None
        fields, self._fields = self._fields, {}
        return self._dispatch(fields)

    def _dispatch(self, fields: dict[str, list[str]]) -> Event | None:
        if retry := _number(fields.get("retry", [""])[-1]):
            self._retry = min(_LONGEST_PAUSE, retry / 1000)
        if "id" not in fields:
            return None
        position = _number(fields["id"][-1])
        if position is None:
            raise BadAnswer("an event's id is no number")
        if self.last_event_id is not None and position <= self.last_event_id:
            return None
        self.last_event_id = position
        if "data" not in fields:
            return None
        try:
            data = parse_object("\n".join(fields["data"]), "an event")
        except Refused as refused:
            raise BadAnswer(refused.reason) from refused
        kind = fields.get("event", ["consent"])[-1]
        if kind == "consent":
            webhook_type = fields.get("type", [""])[-1]
            return Event(position, build(Status, data, "an event"), webhook_type=webhook_type)
        if kind.startswith(OF_CONNECTIONS):
            return Event(position, None, kind, connection=build(ConnectionNotice, data, "an event"))
        return Event(position, None, kind, build(Processing, data, "an event"))


class _Lines:
    """Bytes as whole lines, whichever of CR, LF and CRLF ends them."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[str]:
        data = self._rest + chunk
        # A CR at the end may be half of a CRLF: it stays for the next bytes.
        pending = data[-1:] if data.endswith(b"\r") else b""
        *lines, rest = data[: len(data) - len(pending)].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = rest + pending
        if len(self._rest) > _MAX_BUFFER:
            raise BadAnswer(f"an event has a line of more than {_MAX_BUFFER} bytes")
        return [line.decode("utf-8", "replace") for line in lines]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
