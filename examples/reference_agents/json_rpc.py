"""Answers JSON-RPC requests by the method `tasks/send`, and signed requests to delete."""

import sqlite3
import threading
from typing import Any

import urllib3

from examples.reference_agents.agents import AGENTS, question_of, reply
from examples.reference_agents.consent import Consent, NotAgreed
from examples.reference_agents.prompts import Call
from examples.reference_agents.store import kept

_MOST_OPEN = 1000  # questions; the oldest is forgotten
_AWAY = (OSError, ValueError, sqlite3.Error, urllib3.exceptions.HTTPError)


# (agent, task) → the field of the question that it waits for, by whose `sub`, and the prompt that it began with
_open: dict[tuple[str, str], tuple[str, str, str]] = {}
_opening = threading.Lock()


def answer_request(agent: str, request: Any, consent: Consent | None = None, assertion: str = "") -> dict[str, Any]:
    """The response to one request; a failure is a JSON-RPC error, never an invented answer.

    With `consent` the `assertion` that came with the request has to say that the person agreed.
    """
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        return error_response(None, -32600, "not a JSON-RPC 2.0 request")
    task, params = request.get("id"), request.get("params", {})
    if agent not in AGENTS or request["method"] != "tasks/send":
        return error_response(task, -32601, "no such agent or method")
    try:
        parts = params["message"]["parts"]
        text = "\n".join(part["text"] for part in parts if "text" in part)
    except (LookupError, TypeError):
        text = ""
    if not text:
        return error_response(task, -32602, "no message with a part that is text")
    try:
        call = consent.call(agent, task, text, assertion) if consent else Call(text)
        state, reply = _next_of(agent, task, text, call)
    except NotAgreed as reason:
        return error_response(task, -32010, str(reason))
    except _AWAY:
        return error_response(task, -32000, "the agent cannot answer now")
    status = {"state": state, "message": {"role": "agent", "parts": [{"type": "text", "text": reply}]}}
    result = {"id": task, "sessionId": params.get("sessionId"), "status": status}
    return {"jsonrpc": "2.0", "id": task, "result": result}


def answer_deletion(request: str, consent: Consent | None) -> tuple[int, dict[str, Any]]:
    """What is answered to a request to delete: the status, and how many fields of the person went."""
    if consent is None:
        return 403, {"error": "without an issuer nobody can be told from somebody else"}
    try:
        claims = consent.deletion(request)
        subject = {"email": claims["subject"]["emails"], "phone": claims["subject"]["phone_numbers"]}
        which = {"consent": claims.get("consent_id"), "before": claims["before"], "person": claims["sub"]}
        deleted = kept().forget(subject, **which)
    except NotAgreed as reason:
        return 401, {"error": str(reason)}
    except _AWAY:
        return 503, {"error": "nothing can be deleted now"}
    return 200, {"jti": claims["jti"], "deleted": deleted}


def error_response(task: Any, code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error; `task` is the ID of the request, None where it could not be read."""
    return {"jsonrpc": "2.0", "id": task, "error": {"code": code, "message": message}}


def _next_of(agent: str, task: Any, text: str, call: Call) -> tuple[str, str]:
    """The state that a task of the agent gets, and its text: an answer, or a question that the next text answers.

    The same text once more is a call repeated, and no answer.
    """
    field, person, prompt = _open.get((agent, str(task)), ("", "", ""))
    if field and person == call.person and prompt != text:
        return "completed", reply(agent, call, (field, text))
    name, question = question_of(agent, call.text)
    if not name:
        return "completed", reply(agent, call)
    with _opening:
        while len(_open) >= _MOST_OPEN:
            del _open[next(iter(_open))]
        _open[agent, str(task)] = (name, call.person, text)
    return "input-required", question
