"""Answers in the shape of JSON-RPC, and the headers that let registered pages of other sites read them."""

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from agents_proxy.callers import HEADER
from agents_proxy.errors import Refusal

_EXPOSED = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
_PREFLIGHT_SECONDS = "600"


def answer(body: bytes, *, status: int = 200) -> HttpResponse:
    return HttpResponse(body, status=status, content_type="application/json")


def refused(request: HttpRequest, refusal: Refusal, task_id: str | None) -> HttpResponse:
    """A refusal of our own: `error.data.code` names it, `trace_id` finds it in our logs."""
    data: dict[str, Any] = {"code": refusal.name, "trace_id": getattr(request, "trace_id", ""), **refusal.members}
    error = {"code": refusal.code, "message": refusal.message, "data": data}
    response = answer(orjson.dumps({"jsonrpc": "2.0", "id": task_id, "error": error}), status=refusal.status)
    for name, value in refusal.headers.items():
        response.headers[name] = value
    return response


def preflight() -> HttpResponse:
    """What a browser asks before it lets a registered page call: no credentials, no other method."""
    response = HttpResponse(status=204)
    del response.headers["Content-Type"]  # of nothing
    response.headers["Access-Control-Allow-Methods"] = "POST"
    response.headers["Access-Control-Allow-Headers"] = f"Content-Type, {HEADER}, X-Request-Id"
    response.headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
    return response


def allow(response: HttpResponse, origin: str | None) -> HttpResponse:
    """Let the page of a registered `origin` read this answer. Never with credentials."""
    response.headers["Vary"] = ", ".join(filter(None, [response.headers.get("Vary"), "Origin"]))
    if origin is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = _EXPOSED
    return response
