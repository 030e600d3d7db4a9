"""`/mcp`: the Model Context Protocol over streamable HTTP, stateless, as one POST address (contract 3)."""

from codecs import BOM_UTF8
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from common.json_bodies import json_answer
from common.problems import InvalidRequest
from common.request_notes import OPERATION
from consent.api.base import DeveloperView
from consent.tools.context import CALL_CONTEXT, CallContext, problem_answer
from developers.errors import BrowserPathRefused
from developers.oauth.resources import MCP
from developers.permissions import require_permission
from developers.tokens.models import Permission

_METHODS = frozenset({
    "initialize", "notifications/initialized", "notifications/cancelled", "ping", "server/discover", "tools/list",
    "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
    "prompts/get",
})  # fmt: skip  # those that hosts send, as the log of an app's requests names them
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600  # JSON-RPC 2.0, section 5.1
EVENTS = "text/event-stream"
_FORWARDED = ("CONTENT_TYPE", "HTTP_ACCEPT", "HTTP_MCP_")  # the headers that the SDK sees


@cache
def _header(name: str) -> str:
    """The HTTP name of the WSGI variable `name`. Only the few names that are forwarded are kept."""
    return name.removeprefix("HTTP_").replace("_", "-").lower()


class McpView(DeveloperView):
    """One JSON-RPC message of a host, and its answer.

    The checks of contract 1.1 come first and answer with problem details, as everywhere; only what is wrong with the
    message itself is a JSON-RPC error. Each tool checks the permission that it needs.
    """

    needs = frozenset(str(permission) for permission in Permission)

    def refuse_browser(self, request: HttpRequest) -> None:
        origin = request.META.get("HTTP_ORIGIN")
        if origin is not None and origin not in _own_origins(request):
            raise BrowserPathRefused("This address takes no calls from other origins.")

    def post(self, request: HttpRequest) -> HttpResponse:
        from consent.tools import transport  # a third of all modules, the SDK, for this address alone
        from consent.tools.server import server_of_tools

        try:
            message = self.request.data
            _check_envelope(message)
        except _InvalidMessage as error:
            return self._message_error(_INVALID_REQUEST, error, _id_of(message))
        except InvalidRequest as error:
            return self._message_error(_PARSE_ERROR, error)
        request.META[OPERATION] = _operation(message)
        if self.app.is_host:  # it knows what to do about a refusal of HTTP: ask its person for more (contract 7)
            self._require_permission_of(message)
        headers = {_header(name): value for name, value in request.META.items() if name.startswith(_FORWARDED)}
        call = CallContext(app=self.app, view=self, request=request)
        # who names none takes any (RFC 9110, 12.5.1)
        takes_events = _takes_events_alone(headers.setdefault("accept", "*/*"))
        if takes_events:
            headers["accept"] = f"application/json, {EVENTS}"
        body = self.request.content.removeprefix(BOM_UTF8)
        answer = transport.post(server_of_tools(), headers=headers, body=body, extra={CALL_CONTEXT: call})
        if answer.status == HTTPStatus.NOT_ACCEPTABLE and not answer.body:  # as the SDK refuses on the newest revision
            return _not_acceptable(_id_of(message))
        media = answer.headers.get("content-type", "")
        if takes_events and answer.status == HTTPStatus.OK and media.startswith("application/json"):
            return HttpResponse(b"event: message\ndata: " + answer.body + b"\n\n", content_type=EVENTS)
        return HttpResponse(answer.body, status=answer.status, content_type=media)

    def _require_permission_of(self, message: Any) -> None:
        from consent.tools.catalogue import TOOLS  # as in `post`

        name = (message.get("params") or {}).get("name")
        tool = TOOLS.get(name) if message["method"] == "tools/call" and isinstance(name, str) else None
        if tool is not None:
            require_permission(self.app, tool.permissions, path=MCP)

    def _message_error(self, code: int, error: InvalidRequest, message_id: str | int | None = None) -> HttpResponse:
        """A JSON-RPC error; without an id where the message could not be read so far."""
        problem = problem_answer(self, error)
        body = {"code": code, "message": error.detail, "data": problem and problem.body}
        return json_answer({"jsonrpc": "2.0", "id": message_id, "error": body}, status=error.status)


def _takes_events_alone(accepted: str) -> bool:
    """Whether this host takes events and no JSON, as some do: it gets one event with the answer."""
    named = {part.partition(";")[0].strip().lower() for part in accepted.split(",")}
    return EVENTS in named and not named & {"application/json", "application/*", "*/*"}


def _not_acceptable(message_id: str | int | None) -> HttpResponse:
    """The JSON-RPC error for a host whose `Accept` leaves out what this address answers."""
    error = {"code": _INVALID_REQUEST, "message": "Accept both application/json and text/event-stream."}
    return json_answer({"jsonrpc": "2.0", "id": message_id, "error": error}, status=HTTPStatus.NOT_ACCEPTABLE)


class _InvalidMessage(InvalidRequest):
    """JSON, but neither a JSON-RPC request nor a notification."""


def _check_envelope(message: Any) -> None:
    """Raise where `message` is neither a JSON-RPC request nor a notification; a response is refused too.

    The SDK would refuse it as well, but on earlier revisions it answers with the text of its validation library, and
    takes a request with a malformed id for a notification, which gets no response.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise _InvalidMessage("Send one JSON-RPC 2.0 request or notification.")
    if not isinstance(message.get("params"), dict | None):  # null is as good as none
        raise _InvalidMessage("The params of a message are an object.")
    if "id" in message and (not isinstance(message["id"], str | int) or isinstance(message["id"], bool)):
        raise _InvalidMessage("The id of a message is a string or a whole number.")


def _operation(message: Any) -> str:
    """What the message asks for, in names of ours and of the protocol alone: what else a caller wrote is not kept."""
    from consent.tools.catalogue import TOOLS  # as in `post`

    method = message["method"] if message["method"] in _METHODS else "other"
    tool = (message.get("params") or {}).get("name")
    return f"{method} {tool}" if method == "tools/call" and isinstance(tool, str) and tool in TOOLS else method


def _id_of(message: Any) -> str | int | None:
    """The id of what was meant as a request; None where there is none that an error can carry.

    The id of a response belongs to a request of the host's own; an error under it would be taken for its response.
    """
    given = message.get("id") if isinstance(message, dict) and "method" in message else None
    if isinstance(given, str | int) and not isinstance(given, bool):
        return given
    return None


def _own_origins(request: HttpRequest) -> set[str]:
    """Where this service's own pages come from; the host is one of ALLOWED_HOSTS."""
    base = urlsplit(settings.BASE_URL)
    own = {f"{base.scheme}://{base.netloc}"}
    with suppress(DisallowedHost):
        own.add(f"{request.scheme}://{request.get_host()}")
    return own
