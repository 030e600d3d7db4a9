"""Answers JSON-RPC requests in the three protocols that the proxy supports: tasks/send, A2A 0.3 and A2A 1.0."""

import secrets
import sqlite3
import threading
from typing import Any, NamedTuple

import urllib3

from examples.reference_agents.agents import AGENTS, part_of, question_of
from examples.reference_agents.consent import Asked, Consent, NotAgreed
from examples.reference_agents.store import given_under, kept

_MOST_OPEN = 1000  # questions; the oldest is forgotten


class _Question(NamedTuple):
    """What a task waits for: the field, by whose `sub`, and the hash of the prompt that it began with."""

    field: str
    person: str
    prompt: int


_open: dict[tuple[str, Any], _Question] = {}  # (agent, task) → its question
_opening = threading.Lock()


def answer_request(
    agent: str, request: Any, version: str, *, consent: Consent | None = None, shown: str = ""
) -> dict[str, Any]:
    """The response to one request; a failure is a JSON-RPC error, never an invented answer.

    `version` is the header `A2A-Version`, empty where there is none, which means 0.3. With `consent` it asks whether
    the person agreed; `shown` is the header that says so, which A2A has in the message instead.
    """
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        return error_response(None, -32600, "not a JSON-RPC 2.0 request")
    task, method = request.get("id"), request["method"]
    params: Any = request.get("params")
    if agent not in AGENTS or method not in _METHODS:
        return error_response(task, -32601, "no such agent or method")
    expected, result_shape = _METHODS[method]
    if expected and (version or "0.3").partition(".")[0] != expected:
        return error_response(task, -32009, "not a version of A2A that has this method")
    parts = _parts_of(params)
    if not parts:
        return error_response(task, -32602, "no message with parts")
    text = _text_of(parts)
    if not text:
        return error_response(task, -32005, "no text to answer")
    try:
        asked = Asked(text)
        if consent is not None:
            asked = consent.asked_of(agent, task, text, shown or _beside(params, consent.extension))
        with given_under(asked.consent, asked.at, asked.person):
            ids = _ids_of(method, task, params)
            state, part = _next_of(agent, ids["id"], text, asked)
    except NotAgreed as reason:
        return error_response(task, -32010, str(reason))
    except (OSError, ValueError, sqlite3.Error, urllib3.exceptions.HTTPError):
        return error_response(task, -32000, "the agent cannot answer now")
    return {"jsonrpc": "2.0", "id": task, "result": result_shape(ids, state, part)}


def answer_deletion(request: str, consent: Consent | None) -> tuple[int, dict[str, Any]]:
    """What is answered to a request to delete: the status, and how many fields of the person went."""
    if consent is None:
        return 403, {"error": "without an issuer nobody can be told from somebody else"}
    try:
        claims = consent.deletion(request)
        subject = {"email": claims["subject"]["emails"], "phone": claims["subject"]["phone_numbers"]}
        went = kept().forget_given(
            subject, consent=claims.get("consent_id"), before=claims["before"], person=claims["sub"]
        )
    except NotAgreed as reason:
        return 401, {"error": str(reason)}
    except (OSError, ValueError, sqlite3.Error, urllib3.exceptions.HTTPError):
        return 503, {"error": "nothing can be deleted now"}
    return 200, {"jti": claims["jti"], "deleted": went}


def error_response(task: Any, code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error; `task` is the ID of the request, None where it could not be read."""
    return {"jsonrpc": "2.0", "id": task, "error": {"code": code, "message": message}}


def _next_of(agent: str, task: Any, text: str, asked: Asked) -> tuple[str, dict[str, Any]]:
    """The state that a task of the agent gets, and its text: an answer, or a question that the next text answers.

    The same text once more is a call repeated, and no answer.
    """
    waiting = _open.get((agent, task)) if isinstance(task, str) else None
    if waiting is not None and waiting.person == asked.person and waiting.prompt != hash(text):
        return "completed", part_of(agent, asked.text, {waiting.field: text})
    name, question = question_of(agent, asked.text)
    if not name or not isinstance(task, str):
        return "completed", part_of(agent, asked.text)
    with _opening:
        while len(_open) >= _MOST_OPEN:
            del _open[next(iter(_open))]
        _open[agent, task] = _Question(name, asked.person, hash(text))
    return "input-required", {"text": question}


def _parts_of(params: Any) -> list[Any]:
    """The parts of the message, which all three protocols have in the same place; empty where there is none."""
    message = params.get("message") if isinstance(params, dict) else None
    parts = message.get("parts") if isinstance(message, dict) else None
    return parts if isinstance(parts, list) else []


def _beside(params: Any, extension: str) -> Any:
    """What the message has in its metadata for this extension."""
    metadata = params["message"].get("metadata")
    return metadata.get(extension) if isinstance(metadata, dict) else None


def _text_of(parts: list[Any]) -> str:
    """The text parts of a message, each on lines of its own."""
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _ids_of(method: str, task: Any, params: dict[str, Any]) -> dict[str, Any]:
    """A2A leaves the ID of a new task to the agent, and that of a context where the caller names none."""
    if method == "tasks/send":
        return {"id": task, "contextId": params.get("sessionId")}
    given = (params["message"].get(name) for name in ("taskId", "contextId"))
    mine, context = (one if isinstance(one, str) and one else secrets.token_hex(16) for one in given)
    return {"id": mine, "contextId": context}


def _tasks_send_result(ids: dict[str, Any], state: str, part: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "agent", "parts": [{"type": "text", **part}]}
    status = {"state": state, "message": message}
    return {"id": ids["id"], "sessionId": ids["contextId"], "status": status}


def _a2a_03_result(ids: dict[str, Any], state: str, part: dict[str, Any]) -> dict[str, Any]:
    envelope = {"kind": "message", "messageId": secrets.token_hex(16), "taskId": ids["id"]}
    message = {**envelope, "contextId": ids["contextId"], "role": "agent", "parts": [{"kind": "text", **part}]}
    return {"kind": "task", **ids, "status": {"state": state, "message": message}}


def _a2a_10_result(ids: dict[str, Any], state: str, part: dict[str, Any]) -> dict[str, Any]:
    envelope = {"messageId": secrets.token_hex(16), "taskId": ids["id"], "contextId": ids["contextId"]}
    message = {**envelope, "role": "ROLE_AGENT", "parts": [part]}
    status = {"state": f"TASK_STATE_{state.upper().replace('-', '_')}", "message": message}
    return {"task": {**ids, "status": status}}


# the method, with the major version of A2A that has it
_METHODS = {
    "tasks/send": ("", _tasks_send_result),
    "message/send": ("0", _a2a_03_result),
    "SendMessage": ("1", _a2a_10_result),
}
