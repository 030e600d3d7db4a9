"""Sending one webhook: signed as Standard Webhooks say, to a public address, without following anything.

Nothing of the answer but its status is read, within ANSWER_SECONDS. Without an answer the outcome is the same whatever
the reason was: an app chooses the address, and a reason would tell it which ports are open where.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from common import request_ids
from common.clock import rfc3339
from common.outbound.client import Client, chosen_by_app
from common.outbound.failures import ExchangeFailed
from common.outbound.signing import signed_headers

CONNECT_SECONDS, ANSWER_SECONDS = 5, 15
UNREACHABLE = "it cannot be reached"
_log = logging.getLogger(__name__)


_client = Client(may_reach=chosen_by_app, connect_seconds=CONNECT_SECONDS)


@dataclass(frozen=True)
class Outcome:
    """What became of one attempt: the status of the answer, or why there was none, and after how many milliseconds."""

    status_code: int | None
    failure: str = ""
    ms: int = field(default=0, compare=False)

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def gone(self) -> bool:
        """The receiver says that this address will never take webhooks again."""
        return self.status_code == 410


def send(
    *,
    url: str,
    secrets: Sequence[str],
    message_id: str,
    kind: str,
    at: datetime,
    data: Mapping[str, Any],
    now: datetime,
    trace_id: str = "",
    seconds: float | None = None,
) -> Outcome:
    """One attempt to deliver one notice. Never raises: whatever goes wrong is the outcome.

    Each of the `secrets` signs, `now` by the database's clock: two while one takes the other's place. `trace_id` names
    what caused it; without one, the delivery names itself. ANSWER_SECONDS, unless `seconds` says otherwise.
    """
    body = orjson.dumps({"type": kind, "timestamp": rfc3339(at), "data": data})
    headers = {
        "User-Agent": "Consent-Runtime-Webhooks",
        request_ids.HEADER: trace_id or message_id,
        **signed_headers(message_id, body, secrets, now),
    }
    began = time.monotonic()
    try:
        status = _client.post(url, body, headers=headers, seconds=seconds or ANSWER_SECONDS, limit=0).status
    except ExchangeFailed as failure:
        # for the operator alone, and without what the other side or the network said: that may hold the address
        _log.info("webhook %s cannot be delivered: %s", message_id, type(failure).__name__)
        return Outcome(None, UNREACHABLE)
    return Outcome(status, _failure_text(status), ms=int((time.monotonic() - began) * 1000))


def _failure_text(status_code: int) -> str:
    if 300 <= status_code < 400:
        return "it redirects, which is not followed"
    return "" if 200 <= status_code < 300 else f"it answered {status_code}"
