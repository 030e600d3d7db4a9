"""Answers JSON-RPC requests in the three protocols that the proxy supports: tasks/send, A2A 0.3 and A2A 1.0."""

import json
import os
import secrets
import time
from pathlib import Path
from typing import Any

import urllib3

from examples.reference_agents.agents import AGENTS

_MODEL_SECONDS = 45.0  # for one answer of the model
_SYSTEM_PROMPT = (
    "You are the agent '{agent}' of a profile service. Answer with one JSON object alone and leave out what you do not "
    "know."
)
_http = urllib3.PoolManager(maxsize=50)


def answer_request(agent: str, request: Any, messages: Path | None) -> dict[str, Any]:
    """The response to one request; a failure is a JSON-RPC error, never an invented answer."""
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        return error_response(None, -32600, "not a JSON-RPC 2.0 request")
    task = request.get("id")
    if agent not in AGENTS and agent != "messaging":
        return error_response(task, -32601, "no such agent")
    method, params = request.get("method"), request.get("params")
    text = _text_of(params)
    if method not in _RESULT_SHAPES or text is None or not isinstance(params, dict):
        return error_response(task, -32602, "no text to answer")
    try:
        part = {"text": _store_message(text, messages)} if agent == "messaging" else _profile_part(agent, text)
    except (OSError, ValueError, urllib3.exceptions.HTTPError):
        return error_response(task, -32000, "the agent cannot answer now")
    return {"jsonrpc": "2.0", "id": task, "result": _RESULT_SHAPES[method](task, params, part)}


def error_response(task: Any, code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error; `task` is the ID of the request, None where it could not be read."""
    return {"jsonrpc": "2.0", "id": task, "error": {"code": code, "message": message}}


def _profile_part(agent: str, prompt: str) -> dict[str, Any]:
    """The text part of the reply: the profile as JSON, with the sources of its fields as metadata of the part."""
    base = os.environ.get("REFERENCE_LLM_BASE_URL", "").rstrip("/")
    if base:
        return {"text": _ask_model(base, agent, prompt)}
    answer = AGENTS[agent](prompt)
    part: dict[str, Any] = {"text": json.dumps(answer.profile, ensure_ascii=False)}
    return {**part, "metadata": {"sources": answer.sources}} if answer.sources else part


def _ask_model(base: str, agent: str, prompt: str) -> str:
    """The answer of an OpenAI-compatible model; raises `ValueError` where the response contains none."""
    body = {
        "model": os.environ.get("REFERENCE_LLM_MODEL") or "default",
        "messages": [
            {"role": "system", "content": _SYSTEM_PROMPT.format(agent=agent)},
            {"role": "user", "content": prompt},
        ],
        "temperature": 0,
    }
    key = os.environ.get("REFERENCE_LLM_API_KEY", "")
    response = _http.request(
        "POST",
        f"{base}/chat/completions",
        json=body,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=_MODEL_SECONDS,
        retries=False,
        redirect=False,
    )
    try:
        content = response.json()["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise ValueError("the model gave no answer") from None
    if response.status != 200 or not isinstance(content, str):
        raise ValueError("the model gave no answer")
    return content


def _store_message(text: str, messages: Path | None) -> str:
    """Write one message to a file; nothing is sent, and `delivered_by` in the answer says so."""
    message = json.loads(text)
    if not isinstance(message, dict) or not isinstance(message.get("to"), str):
        raise ValueError("not a message")
    name = f"{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(8)}"
    if messages is not None:
        path = messages / f"{name}.json"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(message, file, ensure_ascii=False, indent=1)
    return json.dumps({"message_id": name, "status": "sent", "delivered_by": "nobody: kept as a file"})


def _text_of(params: Any) -> str | None:
    """The text parts of a message in any of the three protocols; None where there is no text."""
    message = params.get("message") if isinstance(params, dict) else None
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return None
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


def _tasks_send_result(task: Any, params: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "agent", "parts": [{"type": "text", **part}]}
    status = {"state": "completed", "message": message}
    return {"id": task, "sessionId": params.get("sessionId"), "status": status}


def _a2a_03_result(task: Any, params: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    context = params["message"].get("contextId")
    envelope = {"kind": "message", "messageId": f"{task}-reply", "contextId": context}
    message = {**envelope, "role": "agent", "parts": [{"kind": "text", **part}]}
    return {"kind": "task", "id": task, "contextId": context, "status": {"state": "completed", "message": message}}


def _a2a_10_result(task: Any, params: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    context = params["message"].get("contextId")
    message = {"messageId": f"{task}-reply", "contextId": context, "role": "ROLE_AGENT", "parts": [part]}
    status = {"state": "TASK_STATE_COMPLETED", "message": message}
    return {"task": {"id": task, "contextId": context, "status": status}}


_RESULT_SHAPES = {"tasks/send": _tasks_send_result, "message/send": _a2a_03_result, "SendMessage": _a2a_10_result}
