"""An MCP host that writes its messages by hand, for what the SDK's own client would never send."""

from dataclasses import dataclass
from typing import Any

import orjson
from django.http import HttpResponse
from django.test import Client

from consent_bridge.sealed import ExportHeader
from developers.models import App
from tests.factories import TokenFactory

NEWEST, PREVIOUS = "2026-07-28", "2025-11-25"
TOOLS = (
    "discover_user_scopes",
    "request_consent",
    "check_consent_status",
    "get_encrypted_export",
    "end_consent",
    "list_scope_catalog",
)
URL_ELICITATION = {"elicitation": {"url": {}}}


def envelope(capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the newest revision wants in each message."""
    return {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
    }


@dataclass
class Host:
    """One token, one revision of the protocol, and the capabilities that the host declares."""

    token: str
    revision: str = NEWEST
    capabilities: dict[str, Any] | None = None
    path: str = "/mcp"

    @classmethod
    def of(cls, app: App, **token: Any) -> "Host":
        return cls(TokenFactory(app=app, **token).secret)

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str | None) -> HttpResponse:
        """One request; what the newest revision wants beside it is added."""
        params = dict(params or {})
        named = {"MCP-Protocol-Version": self.revision}
        if self.revision == NEWEST:
            params["_meta"] = envelope(self.capabilities)
            named["Mcp-Method"] = method
            name = params.get("name", params.get("uri"))
            if isinstance(name, str):
                named["Mcp-Name"] = name
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return self.post(orjson.dumps(message), **{**named, **headers})

    def post(
        self, body: bytes, *, media_type: str = "application/json", query: str = "", **headers: str | None
    ) -> HttpResponse:
        """Exactly these bytes; a header that is None is not sent."""
        given = {"Accept": "application/json, text/event-stream", **headers}
        sent = {name: value for name, value in given.items() if value is not None}
        if self.token and "Authorization" not in sent:
            sent["Authorization"] = f"Bearer {self.token}"
        return Client().generic("POST", self.path + query, body, content_type=media_type, headers=sent)

    def call(self, tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
        """The result of a tool call that the protocol itself accepts."""
        answer = self.send("tools/call", {"name": tool, "arguments": {} if arguments is None else arguments, **more})
        assert answer.status_code == 200, answer.content
        result: dict[str, Any] = answer.json()["result"]
        return result

    def answer(self, tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds; its text is the same."""
        return self._structured(False, tool, arguments, **more)

    def problem(self, tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
        """The problem details of a call that fails; its text is the same."""
        return self._structured(True, tool, arguments, **more)

    def _structured(self, failed: bool, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
        result = self.call(tool, arguments, **more)
        assert result.get("isError", False) is failed, result
        assert [orjson.loads(part["text"]) for part in result["content"]] == [result["structuredContent"]]
        content: dict[str, Any] = result["structuredContent"]
        return content


def header_of(made: dict[str, Any]) -> ExportHeader:
    """What an export has to say of the request that was made with this answer."""
    same = {name: made[name] for name in ("request_id", "scope", "request_digest")}
    named = {"kid": made["connector_key_id"], "iss": made["issuer"], "sub": made["user_id"], "aud": made["app_id"]}
    return ExportHeader(**same, **named, revision=1)


def error_of(answer: HttpResponse) -> tuple[int, int]:
    """HTTP status and JSON-RPC code of an error of the protocol, which is never a 500."""
    assert answer["Content-Type"] == "application/json", answer.content
    body = answer.json()
    assert set(body) == {"jsonrpc", "id", "error"}
    return answer.status_code, body["error"]["code"]
