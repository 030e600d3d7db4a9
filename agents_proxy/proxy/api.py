"""`POST /api/a2a/{agent}` (contract 4.1): the checks of every address for programs, then one call."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from pydantic import BaseModel
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from agents_proxy import signing
from agents_proxy.agents import AGENTS
from agents_proxy.errors import InvalidParams, UnknownAgent, every_refusal
from agents_proxy.owner_api import CALLS
from agents_proxy.proxy import callers, calls, rpc
from agents_proxy.proxy import limits as proxy_limits
from agents_proxy.proxy.callers import Caller
from agents_proxy.proxy.envelope import Prompt, Reply, new_session_id, new_task_id
from agents_proxy.proxy.schemas import TASK_ID, AgentAnswer, PromptBody
from agents_proxy.proxy.subjects import subject_of
from common.admission.views import ProgramView
from common.json_bodies import json_answer
from common.network import client_address, network_of
from common.operations import Refusal, operation, path_parameter
from common.problems import checked
from common.request_notes import QUERY_CLEANED

_PROMPTED = [name for name in AGENTS if name != "messaging"]


class LiveConsent(BaseAuthentication):
    """Whose consent to the agent's purpose covers the call: `request.auth` is the `Caller`. The user stays who it is.

    A session comes with its CSRF token, which is checked here, so that its refusal has this address's shape.
    """

    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        view: AgentView = request.parser_context["view"]
        caller = callers.identify(request._request, AGENTS[view.agent].purpose, view.origin)
        return getattr(request._request, "user", None), caller


class LiveConsentScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """A session, or the consent token of another site's visitor, as `SharedScheme` defines it."""

    target_class = "agents_proxy.proxy.api.LiveConsent"
    name: list[str] = []

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{"session": [], "csrf": []}, {"agentConsent": []}]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        return []


class AgentCalls(BaseThrottle):
    """How often one caller, and one network, may call agents."""

    def allow_request(self, request: Request, view: Any) -> bool:
        proxy_limits.count_call(key=view.key, network=network_of(client_address(request)))
        return True


class AgentView(ProgramView):
    """One agent's address: path, method, origin, consent, media type, size, limits, body; then what it names."""

    authentication_classes = (LiveConsent,)
    throttle_classes = (AgentCalls,)
    http_method_names = ["post", "options"]
    body_limit = settings.A2A_BODY_LIMIT
    takes_query = True  # none, but a body that is no JSON is told first
    prompt: ClassVar[type[BaseModel]] = PromptBody

    agent: str
    origin: str | None = None  # of another site's page, where it is registered
    key: str | None = None  # what calls are counted by, beside the address
    task_id: str | None = None

    @classmethod
    def common_refusals(cls, method: str, path: str, *, takes_body: bool) -> list[Refusal]:
        return list(every_refusal())

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.agent = str(kwargs["agent"])
        if self.agent not in AGENTS:
            raise UnknownAgent
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            self.origin = callers.foreign_origin(request._request)
        else:
            super().initial(request, *args, **kwargs)

    @property
    def allowed_methods(self) -> list[str]:
        return ["POST"]  # OPTIONS is answered to browsers alone that ask whether a page may call

    def perform_authentication(self, request: Request) -> None:
        self.origin = callers.foreign_origin(request._request)
        super().perform_authentication(request)
        self.key = cast("Caller", request.auth).key

    def options(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]  # REST framework answers with a `Response`
        return rpc.preflight()

    @operation(
        name="callAgent",
        tag=CALLS,
        summary="Ask an agent",
        description="Sends one prompt, once, and answers the agent's JSON-RPC object. It needs a live consent to the "
        "agent's purpose: that of the signed-in person, or the consent token of another site's visitor. `sessionId` "
        "and `id` only correlate.",
        parameters=[path_parameter("agent", "Which one.", {"type": "string", "enum": _PROMPTED, "example": "core"})],
        body=PromptBody,
        answers={200: AgentAnswer},
    )
    def post(self, request: Request, agent: str) -> HttpResponse:
        given = request.data
        self.task_id = _well_formed_id(given)
        _refuse_query(request)
        body = checked(self.prompt, given)
        self.task_id = self.task_id or new_task_id()
        return rpc.answer(self.reply(agent, cast("Caller", request.auth), body).body)

    def reply(self, agent: str, caller: Caller, body: Any) -> Reply:
        """What the agent answers to a checked body."""
        prompt = Prompt(body.text, body.sessionId or new_session_id(), str(self.task_id))
        about = None
        if caller.consent_pk is not None:
            about = subject_of(caller.consent_pk, AGENTS[agent].purpose, self.origin).for_prompt(body.text)
        answer = calls.call_agent(agent, prompt, consent_pk=caller.consent_pk, about=about)
        callers.require_consent_still(caller, AGENTS[agent].purpose, self.origin)
        return answer

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], HttpResponse | None]:
        return rpc.handle_exception

    def limit_headers(self, status: int) -> Mapping[str, str]:
        return proxy_limits.limit_headers(key=self.key, network=network_of(client_address(self.request)))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        return rpc.allow(super().finalize_response(request, response, *args, **kwargs), self.origin)


class AssertionKeys(ProgramView):
    """The public keys of what agents and destinations are told of people: assertions of consent, deletions."""

    authentication_classes = ()
    http_method_names = ["get", "head"]

    def get(self, request: Request) -> HttpResponse:
        return json_answer(signing.public_keys())


def _refuse_query(request: HttpRequest) -> None:
    if request.META.get("QUERY_STRING") or QUERY_CLEANED in request.META:
        raise InvalidParams(errors=[{"field": "", "code": "query", "message": "This address takes no query."}])


def _well_formed_id(given: Any) -> str | None:
    """The task's ID, where the body gives a well-formed one: a refusal of the rest names it too."""
    found = given.get("id") if isinstance(given, dict) else None
    return found if isinstance(found, str) and TASK_ID.match(found) else None
