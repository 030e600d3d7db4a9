"""One call to an upstream: what is sent to it, and how its answer is read.

Nothing is repeated, since a prompt may have taken effect. What an upstream or the network says in its failure stays
here; a caller learns which of three kinds it was.
"""

from agents_proxy.agents import Protocol, Upstream
from agents_proxy.errors import CallFailed, InvalidAgentResponse, UpstreamTimeout
from agents_proxy.proxy.assertions import HEADER, extension
from agents_proxy.proxy.envelope import Prompt, Reply, read, written
from common import addresses
from common.outbound.client import Answer, Client
from common.outbound.failures import ExchangeFailed, InvalidAnswer, TimedOut

LIMIT = 1024 * 1024  # bytes of an answer
MOST_TOLD = 4096  # bytes of an answer that nobody can read, for the operator's log
_client = Client(may_reach=addresses.is_host, keeps=True)


def call(upstream: Upstream, prompt: Prompt, assertion: str = "") -> Reply:
    """What the agent answered to `prompt`, shown this assertion of consent; raises `CallFailed` or one of its kinds.

    The specification's envelope stays as it is, so there the assertion is a header; A2A has extensions for it.
    """
    headers = {"Accept": "application/json"}
    if upstream.token:
        headers["Authorization"] = f"Bearer {upstream.token}"
    if upstream.protocol is Protocol.A2A_1_0:
        headers["A2A-Version"] = "1.0"
    shown = {extension(): assertion} if assertion else {}
    if assertion and upstream.protocol is Protocol.TASKS_SEND:
        headers[HEADER] = assertion
    elif assertion:
        headers["A2A-Extensions" if upstream.protocol is Protocol.A2A_1_0 else "X-A2A-Extensions"] = extension()
    body = written(prompt, upstream.protocol, shown)
    try:
        answer = _client.post(upstream.url, body, headers=headers, seconds=upstream.timeout, limit=LIMIT)
    except TimedOut:
        raise UpstreamTimeout from None
    except InvalidAnswer:
        raise InvalidAgentResponse from None
    except ExchangeFailed:
        raise CallFailed from None
    return _reply(answer, prompt.task_id)


def _reply(answer: Answer, task_id: str) -> Reply:
    try:
        if 300 <= answer.status < 400:
            raise InvalidAgentResponse
        return read(answer.body, task_id)
    except InvalidAgentResponse as failure:
        ours = answer.status < 400 or (answer.body.lstrip()[:1] == b"{" and b'"jsonrpc"' in answer.body)
        told = failure if ours else CallFailed()
        told.said = f"HTTP {answer.status} {answer.body[:MOST_TOLD].decode(errors='replace')}"
        raise told from None
