"""One prompt to an upstream, in the protocol that it speaks.

Nothing is repeated, since a prompt may have taken effect. What an upstream or the network says in its failure stays
here; a caller learns which kind it was.
"""

from agents_proxy.agents import Protocol, Upstream
from agents_proxy.errors import CallFailed, InvalidAgentResponse
from agents_proxy.proxy import a2a, chat
from agents_proxy.proxy.assertions import HEADER
from agents_proxy.proxy.channel import Channel, failure_of
from agents_proxy.proxy.envelope import Prompt, Reply, read, written
from agents_proxy.proxy.events import Arrived


def call(upstream: Upstream, prompt: Prompt, assertion: str = "", arrived: Arrived | None = None) -> Reply:
    """What the agent answered to `prompt`, shown this assertion of consent; raises `CallFailed` or one of its kinds.

    The specification's envelope stays as it is, so there the assertion is a header; A2A has extensions for it.
    `arrived` is told of an answer that streams, as A2A has it, how many of its events there were so far.
    """
    match upstream.protocol:
        case Protocol.TASKS_SEND:
            return _sent(Channel(upstream), prompt, {HEADER: assertion} if assertion else {})
        case Protocol.A2A:
            return a2a.call(upstream, prompt, assertion, arrived)
        case Protocol.OPENAI:
            return chat.call(upstream, prompt, assertion)


def _sent(channel: Channel, prompt: Prompt, headers: dict[str, str]) -> Reply:
    answer = channel.post(channel.upstream.url, written(prompt), headers)
    try:
        return read(answer.body, prompt.task_id)
    except InvalidAgentResponse as failure:
        ours = answer.status < 400 or (answer.body.lstrip()[:1] == b"{" and b'"jsonrpc"' in answer.body)
        raise failure_of(failure if ours else CallFailed(), answer) from None
