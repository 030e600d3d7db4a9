"""How a prompt is put to an agent, and what counts as its answer (pure).

What an upstream says of itself (failures, progress, metadata) stays here: a caller gets answers and questions alone.
"""

import json
import re
import secrets
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from agents_proxy.errors import InvalidAgentResponse
from common.json_bodies import strict_json
from common.problems import InvalidRequest

LONGEST = 4 * 1024 * 1024  # bytes of what was compressed
_GZIP = b"\x1f\x8b"
_NO_NUMBER = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(?<![\w.])-?(?:NaN|Infinity)(?![\w.])', re.DOTALL)


def as_json(body: bytes) -> bytes:
    """`body` without compression and byte order mark, in UTF-8, with null for what is no number in JSON.

    Raises `InvalidAgentResponse` for what is cut off, does not decode, or is larger than `LONGEST`.
    """
    body = _utf8(_unpacked(body))
    if b"NaN" in body or b"Infinity" in body:
        body = _NO_NUMBER.sub(lambda found: found[0] if found[0][:1] == b'"' else b"null", body)
    return body


def _unpacked(body: bytes) -> bytes:
    """What was compressed although nobody asked for that."""
    if not body.startswith(_GZIP):
        return body
    reader = zlib.decompressobj(wbits=31)
    try:
        found = reader.decompress(body, LONGEST + 1)
    except zlib.error:
        raise InvalidAgentResponse from None
    if not reader.eof or len(found) > LONGEST:
        raise InvalidAgentResponse
    return found


def _utf8(body: bytes) -> bytes:
    is_utf16 = body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\x00" in body[:2]  # every JSON text begins in ASCII
    if not is_utf16:
        return body.removeprefix(BOM_UTF8)
    name = "utf-16" if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-16-be" if body[0] == 0 else "utf-16-le"
    try:
        return body.decode(name).encode()
    except UnicodeError:
        raise InvalidAgentResponse from None


@dataclass(frozen=True)
class Conversation:
    """A task of an upstream that waits for input, under the upstream's own names; `turn` counts its questions."""

    task_id: str
    context_id: str = ""
    turn: int = 1


@dataclass(frozen=True)
class Prompt:
    """What is sent: the text, and the two identifiers that only correlate and never authorise.

    With a `conversation` the text is the answer to a question of the agent.
    """

    text: str
    session_id: str
    task_id: str
    conversation: Conversation | None = None


AGENT_FAILED = -32056  # a task that did not end well, whatever text it carries
_ANSWERING = frozenset({"completed", "input-required", "complete", "done", "finished", "ok", "succeeded", "success"})
FAILED_STATES = frozenset({"failed", "rejected", "canceled", "cancelled", "auth-required", "error", "failure"})
STATES_UNDER_WAY = frozenset({"submitted", "working", "unknown", "unspecified"})
_ASIDES = ("metadata", "history", "extensions")  # of A2A's objects: nothing in them is the answer
_NESTED_IN = ("task", "status", "message", "response", "parts", "artifacts")  # where its other objects hang
_QUESTION = ("id", "kind", "contextId", "sessionId", "status")  # of a task that asks something back
_STATUS_MEMBERS = ("state", "message", "timestamp")  # of its status
_MESSAGE_MEMBERS = ("role", "kind", "messageId", "taskId", "contextId")  # of the question's message, beside its texts
_DEEPEST = 5  # objects in objects in which a task's state is looked for


@dataclass(frozen=True)
class Reply:
    """What an agent answered: a result, or the code of a JSON-RPC error of its own. `body` is what a caller gets.

    `upstream_text` is what the upstream said of its failure, for the operator's log alone. `state` is the task's, in
    one spelling ("" of what is no task); of `input-required` there are `question` and the `conversation` to answer in.
    `dropped` counts the values of a model that the prompt does not say. `upstream_id` is an A2A agent's name of a task.
    """

    body: bytes
    result: Any
    error_code: int | None
    size: int
    upstream_text: str = ""
    state: str = ""
    question: str = ""
    conversation: Conversation | None = None
    dropped: int = 0
    upstream_id: str = ""


def new_session_id() -> str:
    """For example `session-17460215980136512273`."""
    return f"session-{secrets.randbelow(10**20):020d}"


def new_task_id() -> str:
    return f"task-{secrets.token_urlsafe(24)}"


def written(prompt: Prompt) -> bytes:
    """The JSON-RPC request for `prompt`, as the specification has it (2.3)."""
    message = {"role": "user", "parts": [{"type": "text", "text": prompt.text}]}
    params = {"sessionId": prompt.session_id, "message": message}
    return orjson.dumps({"jsonrpc": "2.0", "id": prompt.task_id, "method": "tasks/send", "params": params})


def answer_of(body: bytes, task_id: str) -> dict[str, Any] | Reply:
    """The JSON-RPC object in `body`, which has a result, or the reply that its error comes to.

    Raises `InvalidAgentResponse` unless it is one JSON-RPC answer to this very call.
    """
    try:
        answer = strict_json(as_json(body))
    except InvalidRequest:
        raise InvalidAgentResponse from None
    if not (isinstance(answer, dict) and answer.get("jsonrpc") == "2.0" and answer.get("id") == task_id):
        raise InvalidAgentResponse
    if (answer.get("result") is None) == (answer.get("error") is None):  # some write the one that is not there as null
        raise InvalidAgentResponse
    return answer if answer.get("error") is None else _failed(answer["error"], task_id, len(body))


def result_of(prompt: Prompt, result: dict[str, Any], size: int, **more: Any) -> Reply:
    """The reply of an agent that speaks another protocol, whose answer came to this `result`."""
    return Reply(_dumped({"jsonrpc": "2.0", "id": prompt.task_id, "result": result}), result, None, size, **more)


def read(body: bytes, task_id: str) -> Reply:
    """The reply in `body`; raises `InvalidAgentResponse` unless it is one JSON-RPC answer to this very call."""
    body = as_json(body)
    answer = answer_of(body, task_id)
    if isinstance(answer, Reply):
        return answer
    state = _state(unwrapped(answer["result"]))
    known = state is None or state in _ANSWERING | STATES_UNDER_WAY
    if not known or not FAILED_STATES.isdisjoint(_states(answer["result"])):
        text = _dumped(answer["result"]).decode()
        return task_failed(task_id, len(body), upstream_text=text, state=state or "")
    result, size = _passed_on(answer["result"], state), len(body)
    if answer.keys() != {"jsonrpc", "id", "result"} or result != answer["result"]:
        body = _dumped({"jsonrpc": "2.0", "id": task_id, "result": result})
    reply = Reply(body, result, None, size, state=state or "")
    return _question_reply(reply, unwrapped(result), task_id) if state == "input-required" else reply


def _question_reply(reply: Reply, task: dict[str, Any], task_id: str) -> Reply:
    message = task["status"].get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    texts = [part.get("text") for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    names = [task.get("id"), task.get("contextId") or task.get("sessionId")]
    upstreams_task, context = (name if isinstance(name, str) else "" for name in names)
    question = "\n\n".join(text for text in texts if isinstance(text, str))
    return replace(reply, question=question, conversation=Conversation(upstreams_task or task_id, context))


def task_failed(task_id: str, size: int, *, upstream_text: str = "", state: str = "failed") -> Reply:
    """The reply to a task that failed, or was rejected, called off or never authorised: our code and sentence."""
    error = {"code": AGENT_FAILED, "message": "The agent could not do this.", "data": {"code": "agent_failed"}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": task_id, "error": error})
    return Reply(body, None, AGENT_FAILED, size, upstream_text, state)


def _state(result: Any) -> str | None:
    """The state of a task, in one spelling; None for what is no task. A2A 1.0 writes `TASK_STATE_INPUT_REQUIRED`.

    What A2A does not know as a state is none that an answer could be taken from.
    """
    status = result.get("status") if isinstance(result, dict) else None
    state = status.get("state") if isinstance(status, dict) else None
    return None if state is None else spelled(state)


def spelled(state: object) -> str:
    return re.sub("^task-state-", "", str(state).strip().lower().replace("_", "-"))


def _states(value: Any, deep: int = 0) -> Iterator[str]:
    """The states of whatever may be a task in a result: agents wrap it, list it, or write its state by itself."""
    if deep > _DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _states(part, deep + 1)
    elif isinstance(value, dict):
        yield from (spelled(value[name]) for name in ("state", "status") if isinstance(value.get(name), str))
        for name in _NESTED_IN:
            yield from _states(value.get(name), deep + 1)


def _passed_on(result: Any, state: str | None) -> Any:
    """`result` without what is said beside the answer; of a question nothing but the question."""
    inner = result["task"] if isinstance(result, dict) and result.keys() == {"task"} else result
    if state in STATES_UNDER_WAY:
        if isinstance(inner.get("status"), dict):  # its message tells of progress, which is no answer
            inner = {**inner, "status": {name: v for name, v in inner["status"].items() if name != "message"}}
    elif state == "input-required":
        inner = {name: inner[name] for name in _QUESTION if name in inner}
        inner["status"] = {
            name: _texts_of(v) if name == "message" else v
            for name, v in inner["status"].items()
            if name in _STATUS_MEMBERS
        }
    inner = _without_asides(inner)
    return {"task": inner} if isinstance(result, dict) and result.keys() == {"task"} else inner


def _texts_of(message: Any) -> Any:
    """A question as it is said: the data beside it is for programs of the upstream's own."""
    if not isinstance(message, dict):
        return message if isinstance(message, str) else None
    parts = message.get("parts")
    texts = [
        {name: part[name] for name in ("kind", "type", "text") if isinstance(part.get(name), str)}
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    return {**{name: message[name] for name in _MESSAGE_MEMBERS if name in message}, "parts": texts}


def _without_asides(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_asides(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {name: part for name, part in value.items() if name not in _ASIDES}
    return {name: _without_asides(part) if name in _NESTED_IN else part for name, part in kept.items()}


def renamed(reply: Reply, names: Mapping[str, str]) -> Reply:
    """The reply with the identifiers that its caller gave: upstream's name → the caller's."""
    if all(name == given for name, given in names.items()):
        return reply
    answer = _renamed(json.loads(reply.body), names)  # ours, and maybe deeper than the upstream's was
    return replace(reply, body=_dumped(answer), result=answer.get("result"))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case dict():
            return {name: _renamed(part, names) for name, part in value.items()}
        case list():
            return [_renamed(part, names) for part in value]
        case str():
            return names.get(value, value)
    return value


def unwrapped(result: Any) -> Any:
    """A2A 1.0 says with one more member whether a result is a task or a message; the older forms do not."""
    if isinstance(result, dict) and len(result) == 1:
        for name in ("task", "message"):
            inner = result.get(name)
            if isinstance(inner, dict):
                return inner if name == "task" else {"parts": inner.get("parts"), "message": inner}
    return result


def _failed(error: Any, task_id: str, size: int) -> Reply:
    """Of an error only the code goes on: its words and data may hold what callers must not see."""
    code = error.get("code") if isinstance(error, dict) else None
    if type(code) is not int or not -(2**53) < code < 2**53:
        raise InvalidAgentResponse
    response = {"jsonrpc": "2.0", "id": task_id, "error": {"code": code, "message": "The agent reported an error."}}
    return Reply(orjson.dumps(response), None, code, size, _dumped(error).decode())


def _dumped(answer: Any) -> bytes:
    try:
        return orjson.dumps(answer)
    except TypeError:  # a whole number beyond 64 bits, which JSON allows
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
