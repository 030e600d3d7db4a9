"""One odd call of an address: where to, by whom, with what."""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

import schemathesis
from django.urls import Resolver404, resolve
from hypothesis import strategies as st
from schemathesis import GenerationMode

from config.wsgi import application
from tests.access.answers import Row
from tests.access.callers import PEOPLE, TOKENS, Caller
from tests.access.routes import path_of
from tests.access.table import ROWS
from tests.consent.tools.calls import good_call
from tests.consent.tools.hosts import NEWEST, PREVIOUS, TOOLS
from tests.fuzzing import odd
from tests.fuzzing.world import Fuzzed

_NAME = re.compile(r"<(?:(\w+):)?(\w+)>")
_NO_JSON = re.compile(r"^$|/$|\.(svg|png|<form>)$|^docs/")  # routes of pages and files
_HELD = "wait"  # seconds that an answer may be held
JSON = "application/json"
FITS, CHANGED, ANYTHING = "fits", "changed", "anything"
# read when this is imported, since it goes through the whole application, which closes connections
_DOCUMENT = schemathesis.openapi.from_wsgi("/api/schema/", application)
_DOCUMENT.config.generation.update(with_security_parameters=False)  # the callers have their own


@dataclass
class Call:
    """What is sent. `is_json` says whether the address speaks JSON, as long as its route is the one that is meant."""

    route: str
    caller: Caller
    method: str
    path: str
    query: str = ""
    body: bytes = b""
    media_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    is_json: bool = True

    @property
    def text(self) -> str:
        """All of it that may name somebody."""
        return f"{self.path} {self.query} {self.body!r} {self.headers}"


def _one_in(many: int) -> st.SearchStrategy[bool]:
    """True in one of so many draws; the simplest one is False, so that a failure shrinks to what is usual."""
    return st.sampled_from([False] * (many - 1) + [True])


def rows_of(area: str) -> list[Row]:
    """The rows of the table of access that an area is made of."""
    return [row for row in ROWS if area_of(row.route) == area and "accounts/logout" not in row.route]


def area_of(route: str) -> str:
    """REST, MCP, proxy or owner."""
    if route.startswith("api/a2a/"):
        return "proxy"
    if route.startswith(("api/", ".well-known/", "log/")):
        return "REST"
    return "MCP" if route.rstrip("/") == "mcp" else "owner"


@st.composite
def called(draw: st.DrawFn, area: str, fuzzed: Fuzzed) -> Call:
    """A call of one of the addresses of this area, drawn within the transaction that undoes it."""
    row = draw(st.sampled_from(rows_of(area)))
    given = _body_of(row, fuzzed, draw)
    call = Call(
        row.route,
        draw(_callers(row)),
        draw(st.sampled_from(odd.METHODS)) if draw(_one_in(20)) else row.method,
        draw(_path(row, fuzzed)),
        draw(_query(row, fuzzed)),
    )
    call.is_json = area != "owner" or (not _NO_JSON.search(row.route) and _is_meant(call))
    _put(call, row, given, fuzzed, draw)
    if draw(_one_in(5)):
        call.headers |= draw(odd.HEADERS)
    return call


def _is_meant(call: Call) -> bool:
    """Whether the path leads to its route: a name may be empty or have a slash, and then leads elsewhere."""
    try:
        return resolve(unquote(call.path)).route == call.route
    except Resolver404:
        return False


def _callers(row: Row) -> st.SearchStrategy[Caller]:
    """For the most part those whom the address lets in."""
    let_in = [caller for caller, answer in row.answers.items() if answer[0] == "2" or answer == "302"]
    welcome = [caller for caller in let_in or Caller if caller is Caller.OWNER or caller in TOKENS] or let_in
    if Caller.OWNER in welcome and area_of(row.route) in ("owner", "proxy"):
        welcome = [Caller.OWNER]
    anybody = [*PEOPLE, *TOKENS, Caller.ANONYMOUS]
    return _one_in(8).flatmap(lambda is_odd: st.sampled_from(anybody if is_odd else welcome))


@st.composite
def _path(draw: st.DrawFn, row: Row, fuzzed: Fuzzed) -> str:
    names = dict(fuzzed.world.ids_at(row.route))
    if _NAME.search(row.route) and draw(_one_in(5)):
        kind, name = draw(st.sampled_from(_NAME.findall(row.route)))
        other = st.sampled_from(fuzzed.names) | st.sampled_from(odd.TEXTS) | st.text(min_size=1, max_size=40)
        found = draw(other) if kind != "int" else draw(st.sampled_from(["0", "1", "9" * 30, "-1", "1a"]))
        names[name] = quote(found.encode("utf-8", "surrogatepass"), safe="")
    return path_of(row.route, names)


@st.composite
def _query(draw: st.DrawFn, row: Row, fuzzed: Fuzzed) -> str:
    right = row.query(fuzzed.world) if row.query else ""
    if row.method in ("POST", "PUT", "PATCH") or not draw(_one_in(3)):
        return (
            right
            if not draw(_one_in(10))
            else right + draw(st.sampled_from(["&", "?a=1", "&token=x", "=%ff", "&a" * 2000]))
        )
    known = [
        "request_id",
        "user_id",
        "scope",
        "status",
        "cursor",
        "limit",
        "query",
        "domain",
        "format",
        "proof",
        "page",
        _HELD,
    ]
    pairs = parse_qsl(right) + draw(
        st.lists(st.tuples(st.sampled_from(known) | _text(), st.sampled_from(fuzzed.names) | _text()), max_size=3)
    )
    kept = [pair for pair in pairs if not draw(_one_in(8))]
    return urlencode([(_bytes(name), _bytes(value)) for name, value in kept])


def _text() -> st.SearchStrategy[str]:
    return st.sampled_from(odd.TEXTS) | st.text(max_size=20)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _body_of(row: Row, fuzzed: Fuzzed, draw: st.DrawFn) -> Any:
    """What fits, as the table has it; for the tools, a message of each kind."""
    if area_of(row.route) == "MCP":
        return draw(_message(fuzzed))
    if "/<path:agent>" in row.route:
        return {"text": "Who is Zoe?", "sessionId": "session-42", "id": "task-one"}
    return row.body(fuzzed.world) if row.body else None


def _put(call: Call, row: Row, given: Any, fuzzed: Fuzzed, draw: st.DrawFn) -> None:
    """The body and its media type: what fits in one of five, changed in three, anything in one."""
    how = draw(st.sampled_from([FITS, CHANGED, CHANGED, CHANGED, ANYTHING]))
    if given is None and how != ANYTHING:
        return
    if row.form:
        _put_form(call, given or {}, how, draw)
    elif how == ANYTHING:
        call.body = draw(st.sampled_from(odd.BODIES) | st.binary(max_size=60) | odd.VALUES.map(_json))
    elif how == FITS:
        call.body = _json(given)
    else:
        call.body = draw(odd.written(draw(odd.mutated(given, fuzzed.names))))
    if area_of(row.route) == "MCP":
        call.headers |= _mcp_headers(given, draw)
    if draw(_one_in(20)):
        call.media_type = draw(st.sampled_from(odd.MEDIA_TYPES))


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _put_form(call: Call, given: dict[str, Any], how: str, draw: st.DrawFn) -> None:
    pairs = [(name, str(value)) for name, value in given.items()]
    names = st.sampled_from([*given, "next", "page_of", "csrfmiddlewaretoken"]) | _text()
    if how == CHANGED:
        pairs += draw(st.lists(st.tuples(names, _text()), min_size=1, max_size=4))
        pairs = [(name, draw(_text()) if draw(_one_in(3)) else value) for name, value in pairs]
    call.media_type = "application/x-www-form-urlencoded"
    call.body = urlencode([(_bytes(name), _bytes(value)) for name, value in pairs]).encode()
    if how == ANYTHING:
        call.body = draw(st.sampled_from(odd.BODIES) | st.just(_upload(draw)))
        call.media_type = draw(st.sampled_from(["multipart/form-data; boundary=x", call.media_type]))


def _upload(draw: st.DrawFn) -> bytes:
    """A file where a page may take one."""
    name = draw(st.sampled_from(["photo", "logo", "file", "receipt"]))
    start = draw(
        st.sampled_from([b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF....WEBP", b"<svg/>", b"", b"BM"])
    )
    content = start + draw(st.binary(max_size=80))
    filename = draw(st.sampled_from(["a.png", "../../a", "a\\0.png", "x" * 300, ""]))
    head = f'--x\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
    return head.encode() + b"Content-Type: image/png\r\n\r\n" + content + b"\r\n--x--\r\n"


_METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "resources/list",
    "resources/read",
    "prompts/list",
    "server/discover",
    "x",
    "",
)


@st.composite
def _message(draw: st.DrawFn, fuzzed: Fuzzed) -> dict[str, Any]:
    tool = draw(st.sampled_from([*TOOLS, "", "no_such_tool", "approve"]))
    if not draw(_one_in(5)):
        arguments = good_call(tool, fuzzed.world.app, fuzzed.world.vault)
        method, params = "tools/call", {"name": tool, "arguments": arguments}
    else:
        method, params = draw(st.sampled_from(_METHODS)), {"uri": "consent://lifecycle"}
    if draw(st.booleans()):
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": draw(st.sampled_from([{}, {"elicitation": {"url": {}}}])),
        }
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def _mcp_headers(message: dict[str, Any], draw: st.DrawFn) -> dict[str, str]:
    revision = NEWEST if "_meta" in message["params"] else PREVIOUS
    found = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": revision}
    if revision == NEWEST:
        found |= {"Mcp-Method": message["method"], "Mcp-Name": message["params"].get("name", "")}
    return found if not draw(_one_in(10)) else {**found, "Mcp-Method": "ping"}


@cache
def _operations() -> list[Any]:
    return [found.ok() for found in _DOCUMENT.get_all_operations()]


@st.composite
def documented(draw: st.DrawFn, fuzzed: Fuzzed) -> Call:
    """A call of one of the operations of the OpenAPI document, as it says or just not as it says."""
    mode = draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
    operation = draw(st.sampled_from(_operations()))
    case = draw(operation.as_strategy(generation_mode=mode))
    sent = case.as_transport_kwargs()
    row = _row_of(operation)
    path = draw(_path(row, fuzzed)) if row and draw(st.booleans()) else case.formatted_path
    query = urlencode([(name, value) for name, value in (case.query or {}).items() if name != _HELD], doseq=True)
    headers = {name: str(value) for name, value in (case.headers or {}).items()}
    callers = _callers(row) if row else st.sampled_from([Caller.APP, Caller.TEST_APP, Caller.MANAGER, Caller.OWNER])
    body = _json(sent["json"]) if "json" in sent else _raw(sent.get("data"))
    return Call(operation.label, draw(callers), case.method, path, query, body, headers=headers)


def _raw(data: Any) -> bytes:
    return data if isinstance(data, bytes) else str(data or "").encode("utf-8", "surrogatepass")


def _row_of(operation: Any) -> Row | None:
    """The row of the table for this operation, whose names it then has."""
    parts = re.sub(r"\{\w+\}", "<>", operation.path).strip("/")
    rows = (row for row in ROWS if row.method == operation.method.upper())
    return next((row for row in rows if _NAME.sub("<>", row.route) == parts), None)
