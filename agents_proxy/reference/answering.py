"""From a JSON-RPC request to a JSON-RPC response, in whichever of the three protocols it came."""

import json
import os
import secrets
import time
from pathlib import Path
from typing import Any

import urllib3

from agents_proxy.reference.minds import MINDS

_MODEL_SECONDS = 45.0
_ROLE = (
    "You are the agent '{agent}' of a profile service. Answer with one JSON object alone and leave out what you do not "
    "know."
)
_http = urllib3.PoolManager(maxsize=50)


def answered(agent: str, request: Any, messages: Path | None) -> dict[str, Any]:
    """The response to one request; an error of ours is a JSON-RPC error, never a made-up answer."""
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
        return refused(None, -32600, "not a JSON-RPC 2.0 request")
    task = request.get("id")
    if agent not in MINDS and agent != "messaging":
        return refused(task, -32601, "no such agent")
    method, params = request.get("method"), request.get("params")
    text = _text(params)
    if method not in _SHAPES or text is None or not isinstance(params, dict):
        return refused(task, -32602, "no text to answer")
    try:
        part = {"text": _sent(text, messages)} if agent == "messaging" else _said(agent, text)
    except (OSError, ValueError, urllib3.exceptions.HTTPError):
        return refused(task, -32000, "the agent cannot answer now")
    return {"jsonrpc": "2.0", "id": task, "result": _SHAPES[method](task, params, part)}


def refused(task: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": task, "error": {"code": code, "message": message}}


def _said(agent: str, prompt: str) -> dict[str, Any]:
    """The text part of the reply. The sources are metadata of it: the text is the profile alone, as prompts want it."""
    base = os.environ.get("REFERENCE_LLM_BASE_URL", "").rstrip("/")
    if base:
        return {"text": _asked_model(base, agent, prompt)}
    said = MINDS[agent](prompt)
    part: dict[str, Any] = {"text": json.dumps(said.profile, ensure_ascii=False)}
    return {**part, "metadata": {"sources": said.sources}} if said.sources else part


def _asked_model(base: str, agent: str, prompt: str) -> str:
    """What an OpenAI-compatible model answers; raises `ValueError` where that is no answer."""
    body = {
        "model": os.environ.get("REFERENCE_LLM_MODEL") or "default",
        "messages": [{"role": "system", "content": _ROLE.format(agent=agent)}, {"role": "user", "content": prompt}],
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
        raise ValueError("no answer of a model") from None
    if response.status != 200 or not isinstance(content, str):
        raise ValueError("no answer of a model")
    return content


def _sent(text: str, messages: Path | None) -> str:
    """Keep one message as a file: nothing leaves this machine, and the answer says so."""
    message = json.loads(text)
    if not isinstance(message, dict) or not isinstance(message.get("to"), str):
        raise ValueError("not a message")
    name = f"{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(8)}"
    if messages is not None:
        path = messages / f"{name}.json"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(message, file, ensure_ascii=False, indent=1)
    return json.dumps({"message_id": name, "status": "sent", "delivered_by": "nobody: kept as a file"})


def _text(params: Any) -> str | None:
    """The text parts of a message in any of the three protocols."""
    message = params.get("message") if isinstance(params, dict) else None
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return None
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or None


def _task(task: Any, params: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "agent", "parts": [{"type": "text", **part}]}
    status = {"state": "completed", "message": message}
    return {"id": task, "sessionId": params.get("sessionId"), "status": status}


def _task_03(task: Any, params: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    context = params["message"].get("contextId")
    named = {"kind": "message", "messageId": f"{task}-reply", "contextId": context}
    message = {**named, "role": "agent", "parts": [{"kind": "text", **part}]}
    return {"kind": "task", "id": task, "contextId": context, "status": {"state": "completed", "message": message}}


def _task_10(task: Any, params: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    context = params["message"].get("contextId")
    message = {"messageId": f"{task}-reply", "contextId": context, "role": "ROLE_AGENT", "parts": [part]}
    status = {"state": "TASK_STATE_COMPLETED", "message": message}
    return {"task": {"id": task, "contextId": context, "status": status}}


_SHAPES = {"tasks/send": _task, "message/send": _task_03, "SendMessage": _task_10}
