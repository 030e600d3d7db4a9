"""How a prompt is put to an agent, and what counts as its answer (pure)."""

import secrets
from dataclasses import dataclass
from typing import Any

import orjson

from agents_proxy.agents import Protocol
from agents_proxy.errors import InvalidAgentResponse
from common.json_bodies import strict_json
from common.problems import InvalidRequest


@dataclass(frozen=True)
class Prompt:
    """What is sent: the text, and the two identifiers that only correlate and never authorise."""

    text: str
    session_id: str
    task_id: str


@dataclass(frozen=True)
class Reply:
    """What an agent answered: a result, or the code of a JSON-RPC error of its own. `body` is what a caller gets."""

    body: bytes
    result: Any
    error_code: int | None
    size: int


def new_session_id() -> str:
    """For example `session-17460215980136512273`."""
    return f"session-{secrets.randbelow(10**20):020d}"


def new_task_id() -> str:
    return f"task-{secrets.token_urlsafe(24)}"


def written(prompt: Prompt, protocol: Protocol) -> bytes:
    """The JSON-RPC request for `prompt`."""
    return orjson.dumps(
        {"jsonrpc": "2.0", "id": prompt.task_id, "method": protocol.method, "params": _params(prompt, protocol)}
    )


def _params(prompt: Prompt, protocol: Protocol) -> dict[str, Any]:
    part: dict[str, Any] = {"text": prompt.text}
    match protocol:
        case Protocol.TASKS_SEND:
            message = {"role": "user", "parts": [{"type": "text", **part}]}
            return {"sessionId": prompt.session_id, "message": message}
        case Protocol.A2A_0_3:
            named = {"kind": "message", "messageId": prompt.task_id, "contextId": prompt.session_id}
            message = {**named, "role": "user", "parts": [{"kind": "text", **part}]}
            return {"message": message, "configuration": {"blocking": True}}
        case Protocol.A2A_1_0:
            named = {"messageId": prompt.task_id, "contextId": prompt.session_id}
            return {"message": {**named, "role": "ROLE_USER", "parts": [part]}}


def read(body: bytes, task_id: str) -> Reply:
    """The reply in `body`; raises `InvalidAgentResponse` unless it is one JSON-RPC answer to this very call."""
    try:
        answer = strict_json(body)
    except InvalidRequest:
        raise InvalidAgentResponse from None
    if not (isinstance(answer, dict) and answer.get("jsonrpc") == "2.0" and answer.get("id") == task_id):
        raise InvalidAgentResponse
    if ("result" in answer) == ("error" in answer):
        raise InvalidAgentResponse
    if "error" in answer:
        return _failed(answer["error"], task_id, len(body))
    if answer.keys() != {"jsonrpc", "id", "result"}:
        answer = {"jsonrpc": "2.0", "id": task_id, "result": answer["result"]}
        return Reply(_dumped(answer), answer["result"], None, len(body))
    return Reply(body, answer["result"], None, len(body))


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
    told = {"jsonrpc": "2.0", "id": task_id, "error": {"code": code, "message": "The agent reported an error."}}
    return Reply(orjson.dumps(told), None, code, size)


def _dumped(answer: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(answer)
    except TypeError:  # a whole number beyond 64 bits, which JSON allows
        import json

        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
