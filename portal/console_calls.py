"""The operations of the API that can be tried in the console, and one call: made inside this process, through the whole
stack, as if it had come in from outside.

So the address is resolved, the token checked, the limits counted and the call written into the app's request log as for
every program. What the page's own request brought along (session, cookies, Origin, Sec-Fetch-Site) stays behind.
"""

import json
import shlex
import time
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.utils import translation

from common.request_ids import HEADER
from consent.api.openapi import document

MOST_SHOWN = 65_536  # characters of an answer's body
_FROM_PAGE = (
    "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL", "REMOTE_ADDR", "HTTP_HOST", "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_PROTO", "wsgi.url_scheme",
)  # fmt: skip

_WAIT_PARAMETER = "wait"  # a page is not kept waiting: without it a status is answered at once
_STREAM = "text/event-stream"


@dataclass(frozen=True)
class Parameter:
    """One of the path, the query or the headers; `choices` is empty where anything may be typed."""

    name: str
    place: str
    required: bool
    description: str
    example: str
    choices: tuple[str, ...]

    @property
    def field(self) -> str:
        return f"param-{self.name}"


@dataclass(frozen=True)
class Operation:
    """One operation. `example` is the document's own body, None where the operation takes no body."""

    name: str
    group: str
    method: str
    path: str
    summary: str
    paragraphs: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    example: dict[str, Any] | None
    body_required: bool


@cache
def operations() -> dict[str, Operation]:
    """By name, in the order of the document. Streams are left out: they end when the caller leaves."""
    described = [
        _operation(path, method, found)
        for path, item in document()["paths"].items()
        for method, found in item.items()
        if {"bearer": []} in found["security"]
        and not any(_STREAM in response.get("content", {}) for response in found["responses"].values())
    ]
    return {operation.name: operation for operation in described}


def _operation(path: str, method: str, described: dict[str, Any]) -> Operation:
    return Operation(
        name=described["operationId"],
        group=described["tags"][0],
        method=method.upper(),
        path=path,
        summary=described["summary"],
        paragraphs=tuple(described["description"].split("\n\n")),
        parameters=tuple(
            _parameter(found) for found in described.get("parameters", []) if found["name"] != _WAIT_PARAMETER
        ),
        example=_example(described),
        body_required=bool(described.get("requestBody", {}).get("required")),
    )


def _parameter(described: dict[str, Any]) -> Parameter:
    schema = described["schema"]
    return Parameter(
        name=described["name"],
        place=described["in"],
        required=bool(described.get("required")),
        description=described.get("description", ""),
        example=str(schema.get("example", schema.get("default", ""))),
        choices=tuple(schema.get("enum", ())),
    )


def _example(described: dict[str, Any]) -> dict[str, Any] | None:
    if "requestBody" not in described:
        return None
    examples = described["requestBody"]["content"]["application/json"].get("examples", {})
    found: dict[str, Any] = next((example["value"] for example in examples.values()), {})
    return found


def parameter_fields() -> set[str]:
    return {parameter.field for operation in operations().values() for parameter in operation.parameters}


@dataclass(frozen=True)
class Call:
    """What is sent; `address` is the path, with its query, and `headers` has no token."""

    method: str
    address: str
    headers: dict[str, str]
    body: str | None

    @property
    def curl(self) -> str:
        """The same from a shell; the token comes out of a variable."""
        options = [] if self.method == "GET" else [f"-X {self.method}"]
        options.append('-H "Authorization: Bearer $CONSENT_DEVELOPER_TOKEN"')
        options += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in self.headers.items()]
        if self.body is not None:
            options.append(f"--data-binary {shlex.quote(self.body)}")
        return " \\\n  ".join(["curl -sS -i", *options, shlex.quote(settings.BASE_URL + self.address)])


@dataclass(frozen=True)
class Answer:
    """What came back, ready to show; `more` is how many characters of the body are not shown."""

    status: int
    milliseconds: int
    trace_id: str
    headers: list[tuple[str, str]]
    body: str
    more: int

    @property
    def phrase(self) -> str:
        return HTTPStatus(self.status).phrase


def call_of(operation: Operation, values: dict[str, str], body: str | None) -> Call:
    """The call with these values of its parameters; those that are not given are left out."""
    path, query = operation.path, dict[str, str]()
    headers = {} if body is None else {"Content-Type": "application/json"}
    for parameter in operation.parameters:
        value = values.get(parameter.name)
        if parameter.place == "path":
            path = path.replace(f"{{{parameter.name}}}", quote(value or "", safe=""))
        elif value and parameter.place == "query":
            query[parameter.name] = value
        elif value:
            headers[parameter.name] = value
    return Call(operation.method, f"{path}?{urlencode(query)}" if query else path, headers, body)


def make_call(page: HttpRequest, call: Call, token: str) -> Answer:
    began = time.perf_counter()
    with translation.override(settings.LANGUAGE_CODE):  # programs are answered in English, whatever the page speaks
        response: Any = _stack().get_response(WSGIRequest(_environ(page, call, token)))
        content = b"".join(response) if response.streaming else bytes(response.content)
    milliseconds = round((time.perf_counter() - began) * 1000)
    text = _readable(content, response.get("Content-Type", ""))
    return Answer(
        status=response.status_code,
        milliseconds=milliseconds,
        trace_id=response.get(HEADER, ""),
        headers=list(response.items()),
        body=text[:MOST_SHOWN],
        more=max(0, len(text) - MOST_SHOWN),
    )


@cache
def _stack() -> BaseHandler:
    handler = BaseHandler()
    handler.load_middleware()
    return handler


def _environ(page: HttpRequest, call: Call, token: str) -> dict[str, Any]:
    path, _, query = call.address.partition("?")
    body = (call.body or "").encode()
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in call.headers.items()}
    headers.pop("HTTP_CONTENT_TYPE", None)
    return {
        **{name: page.META[name] for name in _FROM_PAGE if name in page.META},
        **headers,
        "REQUEST_METHOD": call.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),  # as WSGI has every path
        "QUERY_STRING": query,
        "CONTENT_TYPE": call.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)) if call.body is not None else "",
        "wsgi.input": BytesIO(body),
        "HTTP_AUTHORIZATION": f"Bearer {token}",
    }


def _readable(content: bytes, media_type: str) -> str:
    """JSON with a member on each line; anything else as it came."""
    text = content.decode(errors="replace")
    if "json" not in media_type:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text
