"""A2A, revisions 0.3 and 1.0, over JSON-RPC: the agent's card, the prompt, and the task until it settles.

What its caller gets has the shape of the specification's 2.3, whatever the revision: `id`, `sessionId`, `status` and
`artifacts`, with parts `{"type": "text", "text"}` and `{"type": "data", "data"}`. Nothing else goes on.
"""

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from agents_proxy.agents import Upstream
from agents_proxy.errors import CallFailed, InvalidAgentResponse, UpstreamTimeout
from agents_proxy.proxy import envelope
from agents_proxy.proxy.assertions import extension
from agents_proxy.proxy.channel import Channel, failure_of
from agents_proxy.proxy.events import Arrived, Events
from agents_proxy.signing import origin_of
from common.json_bodies import strict_json
from common.outbound.client import Answer
from common.problems import InvalidRequest

WELL_KNOWN = "/.well-known/agent-card.json"
CARD_SECONDS = 300  # that a card is not read again
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between two looks at a task
_OLD, _NEW = "0.3", "1.0"
METHODS = {
    _OLD: {"send": "message/send", "stream": "message/stream", "get": "tasks/get", "cancel": "tasks/cancel"},
    _NEW: {"send": "SendMessage", "stream": "SendStreamingMessage", "get": "GetTask", "cancel": "CancelTask"},
}
# what a result holds, by the one member of 1.0 or the `kind` of 0.3
_KINDS = {"statusUpdate": "status-update", "artifactUpdate": "artifact-update", "task": "task", "message": "message"}


@dataclass(frozen=True)
class Card:
    """Where and how an agent takes prompts, of its agent card."""

    url: str
    revision: str
    streams: bool
    tenant: str = ""


_cards: dict[str, tuple[float, Card]] = {}  # of this process, by the configured address


def call(upstream: Upstream, prompt: envelope.Prompt, assertion: str, arrived: Arrived | None = None) -> envelope.Reply:
    """What the agent answered in the end; raises `CallFailed` or one of its kinds.

    A task that is under way is looked at until it settles, and called off where that takes too long. `arrived` is told
    of a stream how many of its events there were so far.
    """
    # some of the time is kept for calling a task off
    task, channel = _Task(), Channel(upstream, upstream.timeout - _reserve(upstream.timeout))
    conversing = _Call(channel, card_of(channel), prompt, assertion, arrived)
    try:
        refused = conversing.put(task)
        while refused is None and task.state in envelope.STATES_UNDER_WAY:
            refused = conversing.look_at(task)
    except UpstreamTimeout:
        conversing.call_off(task)
        raise
    return refused or task.reply(prompt, conversing.size)


def card_of(channel: Channel) -> Card:
    """The agent's card, read again after `CARD_SECONDS`; raises `CallFailed` or one of its kinds."""
    configured = channel.upstream.url
    found = _cards.get(configured)
    if found is None or found[0] <= time.monotonic():
        found = _cards[configured] = (time.monotonic() + CARD_SECONDS, read_card(channel))
    return found[1]


def read_card(channel: Channel) -> Card:
    """The card as the agent has it now."""
    configured = channel.upstream.url
    answer = channel.get(configured if configured.endswith(".json") else configured.rstrip("/") + WELL_KNOWN)
    if answer.status != 200:
        raise _unusable(f"no agent card: HTTP {answer.status}")
    try:
        card = strict_json(envelope.as_json(answer.body))
    except (InvalidRequest, InvalidAgentResponse):
        raise _unusable("the agent card is not JSON") from None
    chosen = _interface(card) if isinstance(card, dict) else None
    if chosen is None:
        raise _unusable("the agent card names no address for JSON-RPC in A2A 0.3 or 1.0")
    if not _is_on(chosen.url, origin_of(configured)):  # whose credentials and whose consents these are
        raise _unusable("the agent card names an address on another origin than the one that is configured")
    return chosen


def _is_on(url: str, origin: str) -> bool:
    """Whether `url` leads to `origin`, whoever reads it: `http://a\\@b` leads to a for some, and to b for others."""
    try:
        is_same = origin_of(url) == origin
    except ValueError:
        return False
    return is_same and url.isprintable() and not set(urlsplit(url).netloc) & set("@\\ ")


def _unusable(why: str) -> InvalidAgentResponse:
    """There is no card that this service can go by."""
    failure = InvalidAgentResponse()
    failure.upstream_text = why
    return failure


def _interface(card: dict[str, Any]) -> Card | None:
    """The newest revision that the agent speaks over JSON-RPC."""
    capabilities = card.get("capabilities")
    streams = isinstance(capabilities, dict) and capabilities.get("streaming") is True
    offered = [one for one in _list(card.get("supportedInterfaces")) if one.get("protocolBinding") == "JSONRPC"]
    for revision in (_NEW, _OLD):
        for one in offered:
            if isinstance(one.get("url"), str) and str(one.get("protocolVersion")).startswith(revision):
                return Card(one["url"], revision, streams, str(one.get("tenant") or ""))
    main = {"url": card.get("url"), "transport": card.get("preferredTransport", "JSONRPC")}
    for one in (main, *_list(card.get("additionalInterfaces"))):
        if isinstance(one.get("url"), str) and one.get("transport") == "JSONRPC":
            return Card(one["url"], _OLD, streams)
    return None


def version_header(card: Card) -> dict[str, str]:
    """What every request of this revision has."""
    return {"A2A-Version": _NEW} if card.revision == _NEW else {}


class _Call:
    """The requests of one prompt; `size` counts the bytes of their answers."""

    def __init__(
        self, channel: Channel, card: Card, prompt: envelope.Prompt, assertion: str, arrived: Arrived | None
    ) -> None:
        self._channel, self._card, self._prompt, self._assertion = channel, card, prompt, assertion
        self._arrived = arrived
        self._pause = _FIRST_PAUSE
        self.size = 0

    def put(self, task: "_Task") -> envelope.Reply | None:
        """Put the prompt, once; an error of the agent's own is its reply."""
        if not self._card.streams:
            return self._taken(task, self._posted("send", self._params()))
        events = Events(lambda data: self._take_event(task, data), self._arrived)
        try:
            answer = self._posted("stream", self._params(), events)
        except (UpstreamTimeout, InvalidAgentResponse):
            raise
        except CallFailed:
            if not task.id:  # of one that has begun the rest is to be had
                raise
            return None
        events.end()
        if not events.count:  # an agent may answer as if there was nothing to stream
            return self._taken(task, answer)
        return events.refused

    def look_at(self, task: "_Task") -> envelope.Reply | None:
        """Look after the task, a little later each time."""
        if not task.id:
            raise InvalidAgentResponse
        self._channel.pause(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return self._taken(task, self._posted("get", {"id": task.id, "historyLength": 0}))

    def call_off(self, task: "_Task") -> None:
        """Let the agent stop; whatever comes of it, nobody waits any more."""
        if task.id and task.state in envelope.STATES_UNDER_WAY:
            with suppress(CallFailed):
                self._channel = Channel(self._channel.upstream, seconds=_reserve(self._channel.upstream.timeout))
                self._posted("cancel", {"id": task.id})

    def _posted(self, act: str, params: dict[str, Any], events: Events | None = None) -> Answer:
        headers = version_header(self._card)
        if events is not None:
            headers["Accept"] = "text/event-stream, application/json"
        if "message" in params and self._assertion:
            headers["A2A-Extensions" if self._card.revision == _NEW else "X-A2A-Extensions"] = extension()
        if self._card.tenant:
            params = {"tenant": self._card.tenant, **params}
        method = METHODS[self._card.revision][act]
        body = orjson.dumps({"jsonrpc": "2.0", "id": self._prompt.task_id, "method": method, "params": params})
        answer = self._channel.post(self._card.url, body, headers, until=events.feed if events else None)
        self.size += len(answer.body)
        return answer

    def _params(self) -> dict[str, Any]:
        """The message; the answer need not wait for the task's end, so that there is a name to call it off by."""
        part: dict[str, Any] = {"text": self._prompt.text}
        message: dict[str, Any] = {**_named(self._prompt)}
        if self._assertion:
            message |= {"extensions": [extension()], "metadata": {extension(): self._assertion}}
        if self._card.revision == _NEW:
            message |= {"role": "ROLE_USER", "parts": [part]}
            return {"message": message, "configuration": {"returnImmediately": True}}
        message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", **part}]}
        return {"message": message, "configuration": {"blocking": False}}

    def _taken(self, task: "_Task", answer: Answer) -> envelope.Reply | None:
        try:
            return self._take(task, answer.body)
        except InvalidAgentResponse as failure:
            ours = answer.status < 400 or b'"jsonrpc"' in answer.body
            raise failure_of(failure if ours else CallFailed(), answer) from None

    def _take(self, task: "_Task", body: bytes) -> envelope.Reply | None:
        """Note what the agent says of the task; its reply where it is an error."""
        answer = envelope.answer_of(body, self._prompt.task_id)
        if isinstance(answer, envelope.Reply):
            return answer
        task.take(answer["result"])
        return None

    def _take_event(self, task: "_Task", data: bytes) -> tuple[bool, envelope.Reply | None]:
        refused = self._take(task, data)
        return refused is not None or task.state not in envelope.STATES_UNDER_WAY, refused


@dataclass
class _Task:
    """A task, or the message in its place, as it becomes known."""

    id: str = ""
    context_id: str = ""
    state: str = "unknown"
    message: dict[str, Any] | None = None  # of its status
    artifacts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, result: Any) -> None:
        """Take one result over: a task, a message, or what changed; raises `InvalidAgentResponse`."""
        kind, value = _kind_of(result)
        if kind == "message":
            self.state, self.message = "completed", value
            return
        self.id = _text(value.get("taskId") or value.get("id")) or self.id
        self.context_id = _text(value.get("contextId")) or self.context_id
        if kind == "artifact-update":
            self._take_artifact(value.get("artifact"), appended=value.get("append") is True)
            return
        status = value.get("status")
        if not isinstance(status, dict):
            raise InvalidAgentResponse
        self.state, self.message = envelope.spelled(status.get("state")), status.get("message")
        if kind == "task" and "artifacts" in value:
            self.artifacts = {}
            for artifact in _list(value["artifacts"]):
                self._take_artifact(artifact, appended=False)

    def _take_artifact(self, artifact: Any, *, appended: bool) -> None:
        if not isinstance(artifact, dict):
            raise InvalidAgentResponse
        named = _text(artifact.get("artifactId")) or str(len(self.artifacts))
        kept = self.artifacts.get(named)
        if appended and kept is not None:
            kept["parts"].extend(_list(artifact.get("parts")))
        else:
            self.artifacts[named] = {**artifact, "parts": _list(artifact.get("parts"))}

    def reply(self, prompt: envelope.Prompt, size: int) -> envelope.Reply:
        """What its caller gets, now that it has settled."""
        if self.state not in ("completed", "input-required"):
            text = json.dumps({"state": self.state, "message": self.message})
            return envelope.task_failed(prompt.task_id, size, upstream_text=text, state=self.state)
        parts = _parts(self.message)
        status: dict[str, Any] = {"state": self.state}
        if self.state == "input-required":
            parts = [part for part in parts if part["type"] == "text"]
        if parts:
            status["message"] = {"role": "agent", "parts": parts}
        result: dict[str, Any] = {"id": prompt.task_id, "sessionId": prompt.session_id, "status": status}
        if self.state == "input-required":
            question = "\n\n".join(part["text"] for part in parts)
            turn = prompt.conversation.turn + 1 if prompt.conversation else 1
            named = envelope.Conversation(self.id, self.context_id, turn)
            return envelope.result_of(prompt, result, size, state=self.state, question=question, conversation=named)
        if self.artifacts:
            result["artifacts"] = [_artifact(named, one) for named, one in self.artifacts.items()]
        return envelope.result_of(prompt, result, size, state=self.state, upstream_id=self.id)


def _reserve(seconds: float) -> float:
    """Of the seconds of a call, those that are kept for calling its task off."""
    return min(1.0, seconds / 10)


def _named(prompt: envelope.Prompt) -> dict[str, str]:
    """The names of a message; an answer to a question is another message, the same with every attempt, and another
    one than the same words in answer to the question before."""
    if prompt.conversation is None:
        return {"messageId": prompt.task_id, "contextId": prompt.session_id}
    answer = hashlib.sha256(f"{prompt.conversation.turn} {prompt.text}".encode()).hexdigest()[:16]
    named = {"messageId": f"{prompt.task_id}-{answer}", "taskId": prompt.conversation.task_id}
    return {**named, "contextId": prompt.conversation.context_id} if prompt.conversation.context_id else named


def _kind_of(result: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(result, dict):
        raise InvalidAgentResponse
    for member, kind in _KINDS.items():
        inner = result.get(member)
        if isinstance(inner, dict) and "status" not in result and "parts" not in result:
            return kind, inner
    named = str(result.get("kind"))
    return named if named in _KINDS.values() else "message" if "parts" in result else "task", result


def _artifact(named: str, artifact: dict[str, Any]) -> dict[str, Any]:
    name = {"name": artifact["name"]} if isinstance(artifact.get("name"), str) else {}
    return {"artifactId": named, **name, "parts": _parts(artifact)}


def _parts(holder: Any) -> list[dict[str, Any]]:
    """Texts and data; a file is neither."""
    parts = _list(holder.get("parts")) if isinstance(holder, dict) else []
    found: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part.get("text"), str):
            found.append({"type": "text", "text": part["text"]})
        elif "data" in part:
            found.append({"type": "data", "data": part["data"]})
    return found


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
