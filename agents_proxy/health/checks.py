"""Whether an agent can be asked as it is configured, found out by something harmless: nobody's data goes anywhere."""

import json
from dataclasses import dataclass

import orjson

from agents_proxy.agents import AGENTS, Protocol, Upstream, upstream_of
from agents_proxy.errors import AgentBusy, AgentRefusedUs, CallFailed, InvalidAgentResponse, UpstreamTimeout
from agents_proxy.proxy import a2a
from agents_proxy.proxy.calls import without_secrets
from agents_proxy.proxy.channel import Channel, failure_of
from agents_proxy.proxy.chat import endpoint_of
from agents_proxy.proxy.credentials import NONE_CAME, secrets_of
from agents_proxy.proxy.envelope import answer_of, new_task_id
from common.outbound.client import Answer

SECONDS = 10.0


@dataclass(frozen=True)
class Finding:
    """What an operator reads of one agent, in English."""

    is_wrong: bool
    words: str


def check(agent: str) -> Finding:
    """Ask `agent` for its card and for a task that is none, or for its models."""
    upstream, prefix = upstream_of(agent), AGENTS[agent].variable_prefix
    if upstream is None:
        return Finding(False, f"not configured; {prefix}_URL is empty.")
    try:
        channel = Channel(upstream, min(SECONDS, upstream.timeout))
        words = _CHECKS[upstream.protocol](channel)
    except CallFailed as failure:
        detail = without_secrets(failure.upstream_text, secrets_of(upstream))
        return Finding(True, _what_is_wrong(failure, upstream, prefix) + (f" It says: {detail}" if detail else ""))
    return Finding(words is None, words or f"it does not have the model: look at {prefix}_MODEL.")


def _what_is_wrong(failure: CallFailed, upstream: Upstream, prefix: str) -> str:
    of_token = f"{prefix}_TOKEN_URL, _CLIENT_ID, _CLIENT_SECRET and _SCOPE"
    match failure:
        case CallFailed() if failure.upstream_text.startswith(NONE_CAME):
            return f"there is no token for it: look at {of_token}."
        case AgentRefusedUs() if upstream.credentials:
            return f"it refuses this service: look at {of_token}."
        case AgentRefusedUs():
            return f"it refuses this service: look at {prefix}_TOKEN and {prefix}_TOKEN_HEADER."
        case AgentBusy():
            return f"it takes no more calls for now; it says to wait {failure.headers['Retry-After']} s."
        case UpstreamTimeout():
            return "it did not answer in time: look at its address, and at what lies between."
        case InvalidAgentResponse():
            return f"what it answers is not {upstream.protocol.value}: look at {prefix}_URL and {prefix}_PROTOCOL."
    return f"it cannot be reached, or fails: look at {prefix}_URL."


def _envelope(channel: Channel) -> str:
    _request_unknown_task(channel, channel.upstream.url, "tasks/get", {})
    return "answers JSON-RPC."


def _a2a(channel: Channel) -> str:
    card = a2a.read_card(channel)
    _request_unknown_task(channel, card.url, a2a.METHODS[card.revision]["get"], a2a.version_header(card))
    return f"answers A2A {card.revision}, {'with' if card.streams else 'without'} streaming."


def _request_unknown_task(channel: Channel, url: str, method: str, headers: dict[str, str]) -> None:
    """An agent that speaks JSON-RPC has an error, or a result, for a task that there never was."""
    task_id = new_task_id()
    body = orjson.dumps({"jsonrpc": "2.0", "id": task_id, "method": method, "params": {"id": task_id}})
    answer = channel.post(url, body, headers)
    try:
        answer_of(answer.body, task_id)
    except InvalidAgentResponse:
        raise failure_of(InvalidAgentResponse() if answer.status < 500 else CallFailed(), answer) from None


def _chat(channel: Channel) -> str | None:
    """None where the endpoint does not have the model."""
    answer = channel.get(endpoint_of(channel.upstream.url, "/models"))
    if answer.status == 404:
        return "answers, and lists no models: whether it has this one is not known."
    if answer.status != 200:
        raise failure_of(CallFailed(), answer)
    model = channel.upstream.model
    return f"has the model {model}." if model in _models(answer) else None


def _models(answer: Answer) -> list[str]:
    try:
        return [model["id"] for model in json.loads(answer.body)["data"]]
    except (ValueError, KeyError, TypeError):
        raise failure_of(InvalidAgentResponse(), answer) from None


_CHECKS = {Protocol.TASKS_SEND: _envelope, Protocol.A2A: _a2a, Protocol.OPENAI: _chat}
