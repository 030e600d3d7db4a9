"""`/mcp`: the Model Context Protocol over streamable HTTP, stateless, as one POST address (contract 3)."""

from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, RawPostDataException, UnreadablePostError
from mcp_types import INVALID_REQUEST, PARSE_ERROR

from accounts.answers import json_answer, strict_json
from accounts.errors import InvalidRequest
from consent import queries
from consent.api.base import DeveloperView, no_arguments
from consent.tools.calling import IN_SCOPE, Call, refusal_of
from consent.tools.operations import STATUS
from consent.tools.server import engine
from developers.authentication import Beside
from developers.errors import BrowserPathRefused
from developers.models import Permission

_LOOKED_INTO = 2048  # bytes of a message, before its token is checked; a question about a status takes some 400
_PASSED_ON = ("CONTENT_TYPE", "HTTP_ACCEPT", "HTTP_MCP_")


@cache
def _header(name: str) -> str:
    """As the protocol spells what WSGI calls `name`; only its few own names ever come here."""
    return name.removeprefix("HTTP_").replace("_", "-").lower()


class Tools(DeveloperView):
    """One message of a host, and its answer.

    The checks of contract 1.1 come first and answer as they do there; only what is wrong with the message itself is an
    error of the protocol. Each tool checks the permission that it needs.
    """

    needs = frozenset(str(permission) for permission in Permission)
    http_method_names = ["post"]

    def beside(self, request: HttpRequest) -> Beside | None:
        """The status that the message asks for, if it does; what is wrong with the message is told in its turn."""
        length = request.META.get("CONTENT_LENGTH", "")
        if "HTTP_TRANSFER_ENCODING" in request.META or not length.isdecimal() or int(length[:20]) > _LOOKED_INTO:
            return None
        try:
            params = orjson.loads(request.body)["params"]
            return queries.status_beside(params["arguments"]["request_id"]) if params["name"] == STATUS else None
        except (UnreadablePostError, ValueError, KeyError, TypeError):
            return None

    def refuse_browser(self, request: HttpRequest) -> None:
        origin = request.META.get("HTTP_ORIGIN")
        if origin is not None and origin not in _own_origins(request):
            raise BrowserPathRefused("This address takes no calls from other origins.")

    def post(self, request: HttpRequest) -> HttpResponse:
        no_arguments(request)
        self.request = self.initialize_request(request)  # the exception handler's, should a tool refuse
        try:
            message = strict_json(request.body)
            _check_envelope(message)
        except (UnreadablePostError, RawPostDataException):  # the latter where `beside` met the former
            return self._unreadable(PARSE_ERROR, InvalidRequest("The body ended early."))
        except _NotAMessage as problem:
            return self._unreadable(INVALID_REQUEST, problem, _id_of(message))
        except InvalidRequest as problem:
            return self._unreadable(PARSE_ERROR, problem)
        headers = {_header(name): value for name, value in request.META.items() if name.startswith(_PASSED_ON)}
        call = Call(app=self.app, view=self, request=request, meter=self.meter)
        answer = engine().exchange(headers=headers, body=request.body, extra={IN_SCOPE: call})
        return HttpResponse(answer.body, status=answer.status, content_type=answer.headers.get("content-type", ""))

    def _unreadable(self, code: int, problem: InvalidRequest, asked: str | int | None = None) -> HttpResponse:
        """A JSON-RPC error to what was asked under this id; None where the message was not readable so far."""
        refusal = refusal_of(self, problem)
        error = {"code": code, "message": problem.detail, "data": refusal and refusal.body}
        return json_answer({"jsonrpc": "2.0", "id": asked, "error": error}, status=problem.status)


class _NotAMessage(InvalidRequest):
    """JSON, but no message of the protocol."""


def _check_envelope(message: Any) -> None:
    """Refuse what is neither a request nor a notification; an answer is one of them to nothing that was ever asked.

    The SDK would do so too, but on earlier revisions it repeats what was sent in the words of its libraries, and takes
    a request with an odd id for a notification, which nobody answers.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise _NotAMessage("Send one JSON-RPC 2.0 request or notification.")
    if not isinstance(message.get("params", {}), dict):
        raise _NotAMessage("The params of a message are an object.")
    if "id" in message and (not isinstance(message["id"], str | int) or isinstance(message["id"], bool)):
        raise _NotAMessage("The id of a message is a string or a whole number.")


def _id_of(message: Any) -> str | int | None:
    """The id of what was meant as a request; None where there is none that can be repeated.

    An answer has the id of something else, and what comes back under it would be taken for that.
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
