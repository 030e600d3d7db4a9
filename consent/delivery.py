"""Sending one webhook: signed as Standard Webhooks say, to a public address, without following anything.

Where it goes is checked before anything is sent (common/outbound.py). Nothing of the answer but its status is read, and
however slowly that drips, after ANSWER_SECONDS the connection is cut. Without an answer the outcome is the same
whatever the reason was: an app chooses the address, and a reason would tell it which ports are open where.
"""

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
import requests
from django.conf import settings
from standardwebhooks.webhooks import Webhook
from urllib3.exceptions import HTTPError

from accounts.database import rfc3339
from common import addresses, outbound, tracing
from common.shutdown import shutdown

CONNECT_SECONDS, ANSWER_SECONDS = 5, 15
UNREACHABLE = "it cannot be reached"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt: the status of the answer, or why there was none."""

    status_code: int | None
    failure: str = ""

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def gone(self) -> bool:
        """The receiver says that this address will never take webhooks again."""
        return self.status_code == 410


def send(
    *, url: str, secret: str, message_id: str, kind: str, at: datetime, data: dict[str, Any], trace_id: str = ""
) -> Outcome:
    """One attempt to deliver one notice. Never raises: whatever goes wrong is the outcome.

    `trace_id` names what caused it; without one, the delivery names itself.
    """
    body = orjson.dumps({"type": kind, "timestamp": rfc3339(at), "data": data})
    now = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Consent-Runtime-Webhooks",
        tracing.HEADER: trace_id or message_id,
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(message_id, now, body.decode()),
    }
    with _cut_off_after(ANSWER_SECONDS):
        try:
            with (
                outbound.session(_Plain, _Tls) as session,
                session.post(
                    url,
                    data=body,
                    headers=headers,
                    timeout=(CONNECT_SECONDS, ANSWER_SECONDS),
                    allow_redirects=False,
                    stream=True,
                ) as answer,
            ):
                return Outcome(answer.status_code, _said(answer.status_code))
        except (requests.RequestException, HTTPError, OSError, UnicodeError, ValueError) as error:
            # for the operator alone, and without what the error says: that may hold the address
            _log.info("webhook %s cannot be delivered: %s", message_id, type(error).__name__)
            return Outcome(None, UNREACHABLE)


class _Line:
    """The connection of one attempt, held by a second descriptor: TLS takes the first one over."""

    def __init__(self) -> None:
        self.twin: socket.socket | None = None

    def cut(self) -> None:
        if self.twin is not None:
            with suppress(OSError):
                self.twin.shutdown(socket.SHUT_RDWR)


_line: ContextVar[_Line] = ContextVar("line")


@contextmanager
def _cut_off_after(seconds: float) -> Iterator[None]:
    line = _Line()
    token, timer = _line.set(line), threading.Timer(seconds, line.cut)
    timer.start()
    try:
        with shutdown.cutting(line.cut):
            yield
    finally:
        timer.cancel()
        timer.join()  # it may be cutting just now
        _line.reset(token)
        if line.twin is not None:
            line.twin.close()


def _said(status_code: int) -> str:
    if 300 <= status_code < 400:
        return "it redirects, which is not followed"
    return "" if 200 <= status_code < 300 else f"it answered {status_code}"


def _may_reach(address: str) -> bool:
    return settings.WEBHOOK_INTERNAL_ADDRESSES or addresses.is_public(address)


class _Plain(outbound.ToPublic):
    """A connection that can be cut from another thread."""

    @staticmethod
    def may_reach(address: str) -> bool:
        return _may_reach(address)

    def _new_conn(self) -> socket.socket:
        return _held(super()._new_conn())


class _Tls(outbound.ToPublicTls):
    @staticmethod
    def may_reach(address: str) -> bool:
        return _may_reach(address)

    def _new_conn(self) -> socket.socket:
        return _held(super()._new_conn())


def _held(sock: socket.socket) -> socket.socket:
    _line.get().twin = sock.dup()
    return sock
