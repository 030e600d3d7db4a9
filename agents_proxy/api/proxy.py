"""`POST /api/a2a/{agent}` (contract 4.1): the checks in their order, then one call."""

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel, ValidationError

from accounts.answers import strict_json
from accounts.errors import InvalidRequest
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
    UnknownAgent,
    WrongMediaType,
    WrongMethod,
)
from agents_proxy.schemas import PromptBody


# the session's token is checked here, so that its refusal has this address's shape
@method_decorator(csrf_exempt, name="dispatch")
class AgentView(View):
    """One agent's address. Path, method, origin, consent, media type, size, limits, body; then what it names."""

    body: ClassVar[type[BaseModel]] = PromptBody

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        agent, self.origin, self.task_id = str(kwargs["agent"]), None, None
        try:
            response = self._answer(request, agent)
        except Refusal as refusal:
            response = rpc.refused(request, refusal, self.task_id)
        return rpc.allow(response, self.origin)

    origin: str | None
    task_id: str | None

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
        _check_media_type(request)
        raw = _read(request, settings.A2A_BODY_LIMIT)
        limits.count_call(key=caller.key, address=callers.address_of(request))
        asked = _parsed(request, raw, self.body)
        self.task_id = getattr(asked, "id", None) or new_task_id()
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


def _parsed(request: HttpRequest, raw: bytes, model: type[BaseModel]) -> BaseModel:
    if request.META.get("QUERY_STRING"):
        raise InvalidParams(errors=[{"field": "", "code": "query", "message": "This address takes no query."}])
    try:
        given = strict_json(raw)
    except InvalidRequest:
        raise InvalidJson from None
    try:
        return model.model_validate(given)
    except ValidationError as error:
        failures = error.errors(include_url=False, include_context=False, include_input=False)
    listed = [
        {"field": ".".join(map(str, failure["loc"]))[:200], "code": failure["type"], "message": failure["msg"]}
        for failure in failures[:20]
    ]
    raise InvalidParams(errors=listed)
