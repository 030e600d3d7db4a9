"""`POST /api/a2a/{agent}` (contract 4.1): the checks in their order, then one call."""

import logging
from typing import Any, ClassVar

import psycopg_pool
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, ValidationError

from accounts.answers import strict_json
from accounts.errors import InvalidRequest, field_errors
from agents_proxy import callers, calls, limits
from agents_proxy.agents import PURPOSES
from agents_proxy.api import rpc
from agents_proxy.callers import Caller
from agents_proxy.envelope import Prompt, Reply, new_session_id, new_task_id
from agents_proxy.errors import (
    InvalidJson,
    InvalidParams,
    Refusal,
    TooLarge,
    Unavailable,
    UnknownAgent,
    WrongMediaType,
    WrongMethod,
)
from agents_proxy.schemas import TASK_ID, PromptBody
from common.network import client_address, network_of

_log = logging.getLogger(__name__)


# the session's token is checked here, so that its refusal has this address's shape
@method_decorator(csrf_exempt, name="dispatch")
class AgentView(View):
    """One agent's address. Path, method, origin, consent, media type, size, limits, body; then what it names."""

    body: ClassVar[type[BaseModel]] = PromptBody

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        agent, self.origin, self.task_id, self.key = str(kwargs["agent"]), None, None, None
        try:
            response = self._answer(request, agent)
        except Refusal as refusal:
            response = rpc.refused(request, refusal, self.task_id)
        except (OperationalError, InterfaceError, psycopg_pool.PoolTimeout):
            # where it was away already when the origin was to be looked up, no origin is known to be registered,
            # and the page that called cannot read this
            _log.exception("the database is away")
            response = rpc.refused(request, Unavailable(headers={"Retry-After": "5"}), self.task_id)
        for name, value in limits.limit_headers(key=self.key, network=network_of(client_address(request))).items():
            response.headers[name] = value
        return rpc.allow(response, self.origin)

    origin: str | None
    task_id: str | None
    key: str | None  # what calls are counted by, beside the address

    def _answer(self, request: HttpRequest, agent: str) -> HttpResponse:
        if agent not in PURPOSES:
            raise UnknownAgent
        asks_first = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        if request.method != "POST" and not asks_first:
            raise WrongMethod(headers={"Allow": "POST"})
        self.origin = callers.foreign_origin(request)
        if asks_first:
            return rpc.preflight()
        caller = callers.identify(request, PURPOSES[agent], self.origin)
        self.key = caller.key
        _check_media_type(request)
        raw = _read(request, settings.A2A_BODY_LIMIT)
        limits.count_call(key=caller.key, network=network_of(client_address(request)))
        given = _given(raw)
        self.task_id = _named(given)
        asked = _fitting(request, given, self.body)
        self.task_id = self.task_id or new_task_id()
        return rpc.answer(self.reply(agent, caller, asked).body)

    def reply(self, agent: str, caller: Caller, asked: Any) -> Reply:
        """What the agent answers to a checked body."""
        prompt = Prompt(asked.text, asked.sessionId or new_session_id(), str(self.task_id))
        return calls.ask(agent, prompt, consent_pk=caller.consent_pk)


def _check_media_type(request: HttpRequest) -> None:
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    charset = (request.content_params or {}).get("charset", "utf-8").strip('"').lower()
    if request.content_type != "application/json" or charset not in ("utf-8", "utf8") or encoding != "identity":
        raise WrongMediaType


def _read(request: HttpRequest, limit: int) -> bytes:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        # Django reads as much as Content-Length says, which here is nothing; the server ends the stream by itself
        body: bytes = request.META["wsgi.input"].read(limit + 1)
    elif not length.isdecimal() or int(length[:20]) > limit:
        raise TooLarge
    else:
        try:
            body = request.body
        except UnreadablePostError:
            raise InvalidJson from None
    if len(body) > limit:
        raise TooLarge
    return body


def _given(raw: bytes) -> Any:
    try:
        return strict_json(raw)
    except InvalidRequest:
        raise InvalidJson from None


def _named(given: Any) -> str | None:
    """The task's ID, where the body gives a well-formed one: a refusal of the rest names it too."""
    found = given.get("id") if isinstance(given, dict) else None
    return found if isinstance(found, str) and TASK_ID.match(found) else None


def _fitting(request: HttpRequest, given: Any, model: type[BaseModel]) -> BaseModel:
    if request.META.get("QUERY_STRING") or "consent.token_taken_out" in request.META:  # config/queries.py
        raise InvalidParams(errors=[{"field": "", "code": "query", "message": "This address takes no query."}])
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise InvalidParams(errors=field_errors(error)) from None
