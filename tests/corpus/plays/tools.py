"""`/mcp`: the protocol on both revisions, every tool answering and refusing, and what is no message at all."""

from collections.abc import Callable
from typing import Any

import orjson

from tests import factories
from tests.consent.api.addresses import asked
from tests.consent.tools.hosts import NEWEST, PREVIOUS, TOOLS, URL_ELICITATION
from tests.corpus.stage import NOBODY, Caller, Stage

MCP = "/mcp"
_BOTH = "application/json, text/event-stream"
_ENVELOPES: dict[str, Any] = {
    "an array": [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}],
    "a text": "tools/list",
    "another version": {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
    "no method": {"jsonrpc": "2.0", "id": 1},
    "an answer": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "params an array": {"jsonrpc": "2.0", "id": "seven", "method": "tools/list", "params": []},
    "an id that is none": {"jsonrpc": "2.0", "id": {}, "method": "tools/list"},
}
Good = Callable[[str], dict[str, Any]]


def play(stage: Stage) -> None:
    app = factories.AppFactory()
    host = Caller.with_token("host", factories.TokenFactory(app=app).secret)
    vault = factories.give_vault(factories.PersonFactory())
    _admission(stage, app, host)
    for revision in (PREVIOUS, NEWEST):
        _protocol(stage, host, revision)
        _answers(stage, app, host, vault, revision)
        _refusals(stage, app, host, revision)
    _page_first(stage, host, factories.give_vault(factories.PersonFactory()))


def _say(
    stage: Stage, what: str, caller: Caller, revision: str, method: str, params: Any = None, *, capabilities: Any = None
) -> Any:
    """One message, with what its revision wants beside it."""
    headers, params = {"Accept": _BOTH, "MCP-Protocol-Version": revision}, dict(params or {})
    if revision == NEWEST:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": {"name": "corpus", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities or {},
        }
        headers["Mcp-Method"] = method
        if isinstance(name := params.get("name", params.get("uri")), str):
            headers["Mcp-Name"] = name
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    return stage.call(f"{what} ({revision})", caller, "POST", MCP, message, headers=headers)


def _admission(stage: Stage, app: Any, host: Caller) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    old = {"Accept": _BOTH, "MCP-Protocol-Version": PREVIOUS}
    suspended = factories.TokenFactory(app=factories.AppFactory(status="suspended")).secret
    for path in (MCP, f"{MCP}/"):
        for method in ("GET", "DELETE", "PUT", "OPTIONS", "HEAD"):
            stage.call("another method", host, method, path)
        stage.call("without a token", NOBODY, "POST", path, listing, headers=old)
        stage.call("a slash or none", host, "POST", path, listing, headers=old)
    stage.call("no token of ours", Caller.with_token("stranger", "cr_live_unknown"), "POST", MCP, listing, headers=old)
    stage.call("suspended", Caller.with_token("suspended app", suspended), "POST", MCP, listing, headers=old)
    for origin in ("https://evil.example", "null"):
        stage.call(f"the foreign origin {origin}", host, "POST", MCP, listing, headers={**old, "Origin": origin})
    stage.call("the own origin", host, "POST", MCP, listing, headers={**old, "Origin": "http://localhost:8000"})
    stage.call("a member of the query", host, "POST", f"{MCP}?session=1", listing, headers=old)
    stage.call("another media type", host, "POST", MCP, raw=b"x", media="text/plain", headers=old)
    stage.call("too large", host, "POST", MCP, raw=b'"%b"' % (b"x" * 70_000), headers=old)
    for what, raw in {"no JSON": b"{", "a member twice": b'{"a":1,"a":2}', "nothing": b""}.items():
        stage.call(what, host, "POST", MCP, raw=raw, headers=old)
    for what, message in _ENVELOPES.items():
        stage.call(what, host, "POST", MCP, message, headers=old)
    stage.call("an unknown revision", host, "POST", MCP, listing, headers={**old, "MCP-Protocol-Version": "2099-01-01"})
    stage.call("takes JSON alone", host, "POST", MCP, listing, headers={**old, "Accept": "application/json"})
    stage.call("takes nothing of ours", host, "POST", MCP, listing, headers={**old, "Accept": "text/html"})
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    stage.call("a notification", host, "POST", MCP, told, headers=old)


def _protocol(stage: Stage, host: Caller, revision: str) -> None:
    introduced = {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "corpus", "version": "1"},
    }
    _say(stage, "initialize", host, revision, "initialize", introduced)
    for method in ("ping", "server/discover", "tools/list", "resources/list", "prompts/list", "tools/approve"):
        _say(stage, method, host, revision, method)
    for uri in ("consent://scope-catalog", "consent://lifecycle", "file:///etc/passwd"):
        _say(stage, f"reads {uri}", host, revision, "resources/read", {"uri": uri})
    for params in ({}, {"name": 5}, {"name": "approve", "arguments": {}}, {"name": "end_consent", "arguments": [1]}):
        _say(stage, f"calls {orjson.dumps(params).decode()}", host, revision, "tools/call", params)


def _answers(stage: Stage, app: Any, host: Caller, vault: Any, revision: str) -> None:
    export = factories.ExportFactory(grant__request__app=app).grant.request.request_id
    asking = asked(vault.user, connector_key_id=f"key-of-{revision}")
    arguments: dict[str, dict[str, Any]] = {
        "list_scope_catalog": {},
        "discover_user_scopes": {"user_id": vault.user.public_id},
        "request_consent": asking,
        "check_consent_status": {"request_id": export},
        "get_encrypted_export": {"request_id": export},
        "end_consent": {"request_id": factories.ConsentRequestFactory(app=app).request_id},
    }
    for tool in TOOLS:
        _call(stage, f"{tool} answers", host, revision, tool, arguments[tool])
    waited = {"request_id": export, "wait_seconds": 5}
    _call(stage, "a wait for what is decided", host, revision, "check_consent_status", waited)


def _call(stage: Stage, what: str, host: Caller, revision: str, tool: str, arguments: dict[str, Any]) -> Any:
    return _say(stage, what, host, revision, "tools/call", {"name": tool, "arguments": arguments})


def _refusals(stage: Stage, app: Any, host: Caller, revision: str) -> None:
    unknown = {"request_id": "req_unknown"}
    refused: dict[str, dict[str, Any]] = {
        "list_scope_catalog": {"bogus": 1},
        "discover_user_scopes": {"user_id": "usr_unknown"},
        "request_consent": {"user_id": "usr_unknown"},
        "check_consent_status": unknown,
        "get_encrypted_export": unknown,
        "end_consent": unknown,
    }
    least = {"discover_user_scopes": "read", "list_scope_catalog": "read", "get_encrypted_export": "discover"}
    for tool in TOOLS:
        _call(stage, f"{tool} refuses", host, revision, tool, refused[tool])
        token = factories.TokenFactory(app=app, permissions=[least.get(tool, "discover")]).secret
        lacking = Caller.with_token("lacks the permission", token)
        _call(stage, f"{tool} is not permitted", lacking, revision, tool, refused[tool])
    pending = {"request_id": factories.ConsentRequestFactory(app=app).request_id}
    _call(stage, "nothing to read yet", host, revision, "get_encrypted_export", pending)
    _call(stage, "waits too long", host, revision, "check_consent_status", {**pending, "wait_seconds": 31})


def _page_first(stage: Stage, host: Caller, vault: Any) -> None:
    """A host that opens pages is asked to open the approval page, and comes back with what it was given."""
    call = {"name": "request_consent", "arguments": asked(vault.user)}
    first = _say(stage, "opens the page", host, NEWEST, "tools/call", call, capabilities=URL_ELICITATION)
    state = first.json()["result"].get("requestState")
    if state:
        again = {**call, "requestState": state, "inputResponses": {}}
        _say(stage, "comes back from the page", host, NEWEST, "tools/call", again, capabilities=URL_ELICITATION)
