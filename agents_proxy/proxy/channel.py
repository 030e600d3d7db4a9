"""Requests to one upstream, within one deadline: what comes in the way of an answer is one of our own failures.

What an upstream or the network says of its failure stays here, for the operator's log.
"""

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime

from agents_proxy.agents import Upstream
from agents_proxy.errors import AgentBusy, AgentRefusedUs, CallFailed, InvalidAgentResponse, UpstreamTimeout
from agents_proxy.proxy import credentials
from common import addresses
from common.outbound.client import Answer, Client
from common.outbound.failures import ExchangeFailed, InvalidAnswer, TimedOut

LIMIT = 1024 * 1024  # bytes of an answer
LOGGED_BYTES = 4096  # bytes of an answer that nobody can read, for the operator's log
_LONGEST_PAUSE = 86_400  # seconds that a caller is told to wait at most
_client = Client(may_reach=addresses.is_host, keeps=True)


class Channel:
    """What one call sends to `upstream`: all of it together within `seconds`."""

    def __init__(self, upstream: Upstream, seconds: float | None = None) -> None:
        self.upstream = upstream
        self._ends_at = time.monotonic() + (upstream.timeout if seconds is None else seconds)

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, until: Callable[[bytes], bool] | None = None
    ) -> Answer:
        """The answer to one POST. Raises `CallFailed` or one of its kinds, for 401, 403, 429 and redirects, too."""

        def send() -> Answer:
            written = {**self._headers(), **headers}
            return _client.post(url, body, headers=written, seconds=self.left(), limit=LIMIT, until=until)

        return self._answered(send)

    def get(self, url: str) -> Answer:
        """The same for one GET."""
        return self._answered(lambda: _client.get(url, headers=self._headers(), seconds=self.left(), limit=LIMIT))

    def pause(self, seconds: float) -> None:
        """Wait; raises `UpstreamTimeout` at once where nothing could be asked any more afterwards."""
        if seconds >= self.left():
            raise UpstreamTimeout
        time.sleep(seconds)

    def left(self) -> float:
        """Seconds; raises `UpstreamTimeout` where there are none."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise UpstreamTimeout
        return left

    def _headers(self) -> dict[str, str]:
        return {"Accept": "application/json", **credentials.headers_for(self.upstream, _client, self.left())}

    def _answered(self, send: Callable[[], Answer]) -> Answer:
        try:
            answer = send()
        except TimedOut:
            raise UpstreamTimeout from None
        except InvalidAnswer:
            raise InvalidAgentResponse from None
        except ExchangeFailed:
            raise CallFailed from None
        if answer.status in (401, 403):
            credentials.forget(self.upstream)
            raise failure_of(AgentRefusedUs(), answer)
        if answer.status == 429:
            raise failure_of(AgentBusy(headers=_retry_after(answer)), answer)
        if 300 <= answer.status < 400:
            raise failure_of(InvalidAgentResponse(), answer)
        return answer


def failure_of(failure: CallFailed, answer: Answer) -> CallFailed:
    """`failure`, with what the upstream answered."""
    failure.upstream_text = f"HTTP {answer.status} {answer.body[:LOGGED_BYTES].decode(errors='replace')}"
    return failure


def _retry_after(answer: Answer) -> dict[str, str]:
    """The upstream's `Retry-After`, in seconds whichever of its two forms it has; without one, a few seconds."""
    retry_after = answer.headers.get("retry-after", "").strip()
    seconds = 5
    if re.fullmatch(r"[0-9]{1,9}", retry_after):
        seconds = int(retry_after)
    elif retry_after:
        with suppress(ValueError):  # neither form
            seconds = max(0, round(parsedate_to_datetime(retry_after).timestamp() - time.time()))
    return {"Retry-After": str(min(seconds, _LONGEST_PAUSE))}
