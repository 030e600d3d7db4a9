"""What is true of every answer, whatever was sent."""

import json
from typing import Any

from django.http import HttpResponse

from common.problems import every_problem
from tests.fuzzing.calls import Call
from tests.fuzzing.world import Fuzzed

# of an upstream that answers wrongly, late, not at all, or is not configured; and of what a person's address leads to
OF_UPSTREAMS = {
    502: {"invalid_agent_response", "upstream_unavailable"},
    503: {"agent_not_configured"},
    504: {"upstream_timeout"},
}
PROBLEM = {"type", "title", "status", "code", "detail", "trace_id"}
_JSON = ("application/json", "application/problem+json", "application/ld+json")


def faults(call: Call, answer: HttpResponse, fuzzed: Fuzzed) -> list[str]:
    """What is wrong with this answer, in words; nothing where nothing is."""
    content = b"" if answer.streaming else answer.content
    told = b"\n".join([content, *(f"{name}: {value}".encode() for name, value in answer.items())])
    found = [f"it holds the secret {secret.decode()[:6]}…" for secret in fuzzed.secrets if secret in told]
    if not answer.get("X-Request-Id"):
        found.append("it has no X-Request-Id")
    if answer.status_code >= 500 and not _is_of_upstream(call, answer):
        found.append(f"{answer.status_code}: {content[:200]!r}")
    if call.is_json and call.method != "HEAD":
        found += _shape(call, answer, content)
    return found


def _is_of_upstream(call: Call, answer: HttpResponse) -> bool:
    if not call.path.startswith("/api/a2a/"):
        return False
    return _code(_parsed(answer.content)) in OF_UPSTREAMS.get(answer.status_code, set())


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _code(body: Any) -> str:
    """Of a problem, or of a refusal in the shape of JSON-RPC."""
    if not isinstance(body, dict):
        return ""
    error = body.get("error")
    return str(error.get("data", {}).get("code", "") if isinstance(error, dict) else body.get("code", ""))


def _shape(call: Call, answer: HttpResponse, content: bytes) -> list[str]:
    """An answer of an address that speaks JSON; a refusal has the shape that the contract gives it."""
    media_type = answer.get("Content-Type", "").partition(";")[0]
    if answer.status_code < 400:
        is_read = media_type in _JSON and content and _parsed(content) is None and content.strip() != b"null"
        return ["it is not JSON"] if is_read else []
    body = _parsed(content)
    if not isinstance(body, dict):
        return [f"{answer.status_code} without a JSON object, as {media_type}"]
    if "jsonrpc" in body:
        return [] if _is_json_rpc(call, body) else [f"{body.keys()} is no error of JSON-RPC"]
    found = []
    if media_type != "application/problem+json" or not body.keys() >= PROBLEM or body["status"] != answer.status_code:
        found.append(f"{answer.status_code} as {media_type} with {sorted(body)} is no problem")
    if body.get("code") not in {problem.code for problem in every_problem()}:
        found.append(f"{body.get('code')} is no code of the contract")
    return found


def _is_json_rpc(call: Call, body: dict[str, Any]) -> bool:
    """The proxy's agents and the tools alone answer so."""
    of_agent = call.path.startswith("/api/a2a/") or call.path.startswith("/mcp")
    error = body.get("error")
    is_error = isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    return of_agent and is_error
