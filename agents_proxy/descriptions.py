"""What the OpenAPI document says of the agents' addresses: who may call, with what, and what comes back.

It stands apart from the views, which know nothing of it. Where an address is told of here, drf-spectacular finds it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import BaseModel

from agents_proxy.answers import AgentRefusal
from agents_proxy.errors import AgreementRequired, OriginNotRegistered, Refusal
from agents_proxy.proxy.callers import HEADER
from common.problems import (
    AuthenticationRequired,
    CsrfFailed,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    Problem,
    TemporarilyUnavailable,
    UnsupportedMediaType,
)

CONSENT, ASK_AGENTS, ANALYSES, MESSAGES, FINANCIAL = (
    "5. Agents: consent to processing", "6. Agents: calls", "7. Agents: analyses", "8. Agents: phone numbers",
    "9. Agents: linked institutions",
)  # fmt: skip
_PROBLEM = {"$ref": "#/components/schemas/ProblemDetails"}
_TRACE_ID = "0b1f6a52d0c4454d8a4f7f3f5f6f2a10"
_EVERYWHERE: tuple[type[Problem], ...] = (
    InvalidRequest, AuthenticationRequired, NotFound, MethodNotAllowed, TemporarilyUnavailable,
)  # fmt: skip
_WITH_TOKEN: tuple[type[Problem], ...] = (AgreementRequired, OriginNotRegistered)
_TO_PAGES = "For pages of this site: a signed-in person's own."
_TO_BOTH = "A signed-in person's own, or, with a consent token, what was made with that."
# of what changes anything, which is also what takes a body
_CHANGING: tuple[type[Problem], ...] = (CsrfFailed, PayloadTooLarge, UnsupportedMediaType)


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """A page's own session. What changes anything needs its CSRF token too."""

    target_class = "accounts.authentication.SignedIn"
    name = ["session", "csrf"]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{"session": []}] if auto_schema.method == "GET" else [{"session": [], "csrf": []}]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        return [
            {
                "type": "apiKey",
                "in": "cookie",
                "name": settings.SESSION_COOKIE_NAME,
                "description": "A signed-in person's session.",
            },
            {"type": "apiKey", "in": "header", "name": "X-CSRFToken", "description": "The token of that session."},
        ]


class ConsentTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """Whose consent covers a call of an agent: a session's, or that of another site's visitor."""

    target_class = "agents_proxy.proxy.api.LiveConsent"
    name = "agentConsent"

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{"session": [], "csrf": []}, {"agentConsent": []}]

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": HEADER,
            "description": "The consent token that the person's agreement at `consent_url` came back with.",
        }


class SharedScheme(ConsentTokenScheme):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """A session, or a consent token in its place."""

    target_class = "agents_proxy.proxy.shared_views.TokenOrSession"

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        session: dict[str, list[Any]] = {"session": []}
        return [session if auto_schema.method == "GET" else session | {"csrf": []}, {self.name: []}]


def own_address(
    *,
    name: str,
    tag: str,
    summary: str,
    description: str,
    answers: dict[int, Any],
    refusals: Sequence[type[Problem]] = (),
    body: type[BaseModel] | None = None,
    body_example: dict[str, Any] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
    takes_body: bool = False,
    takes_token: bool = False,
) -> Any:
    """A signed-in person's own address. A status without a shape (204) has no body; `takes_body`: it may be empty.

    `takes_token`: a consent token is as good, for what was made with it.
    """
    found = [*_EVERYWHERE, *refusals, *(_CHANGING if body or takes_body else ()), *(_WITH_TOKEN if takes_token else ())]
    responses = _answers(answers) | _problems(found)
    if any(parameter.location == OpenApiParameter.PATH for parameter in parameters):
        responses[404, "application/json"] = OpenApiResponse(response=AgentRefusal)  # no such address is no such agent
    given: dict[str, Any] = {"request": None}
    if body:
        given = {
            "request": {"application/json": body},
            "examples": [OpenApiExample("body", value=body_example, request_only=True)],
        }
    return extend_schema(
        operation_id=name,
        tags=[tag],
        summary=summary,
        description=f"{description}\n\n{_TO_BOTH if takes_token else _TO_PAGES}",
        parameters=list(parameters),
        responses=responses,
        **given,
    )


def shared_address(**told: Any) -> Any:
    """The same for an address that takes a consent token as well."""
    return own_address(takes_token=True, **told)


def removal(describe: Callable[..., Any], **told: Any) -> Any:
    """An address that takes something away: it may have a body, which is empty, and answers nothing."""
    return describe(answers={204: None}, takes_body=True, **told)


def agent_call(
    *,
    name: str,
    summary: str,
    description: str,
    body: type[BaseModel],
    body_example: dict[str, Any],
    answer: type[BaseModel],
    refused: type[BaseModel],
    refusals: Iterable[type[Refusal]],
    parameters: Sequence[OpenApiParameter] = (),
) -> Any:
    """A call of an agent: it answers JSON-RPC objects, its refusals too."""
    by_status: dict[int, list[type[Refusal]]] = {}
    for refusal in refusals:
        by_status.setdefault(refusal.status, []).append(refusal)
    responses: dict[Any, Any] = {
        (200, "application/json"): OpenApiResponse(
            response=answer, description="The agent's result as it came, or a JSON-RPC error that it gave."
        )
    }
    for status, found in sorted(by_status.items()):
        codes = ", ".join(f"`{refusal.name}`" for refusal in found)
        responses[status, "application/json"] = OpenApiResponse(
            response=refused,
            description=f"{found[0].message} `error.data.code`: {codes}.",
            examples=[_rpc_example(status, refusal) for refusal in found],
        )
    return extend_schema(
        operation_id=name,
        tags=[ASK_AGENTS],
        summary=summary,
        description=description,
        parameters=list(parameters),
        request={"application/json": body},
        examples=[OpenApiExample("body", value=body_example, request_only=True)],
        responses=responses,
    )


def path_member(name: str, description: str, schema: dict[str, Any]) -> OpenApiParameter:
    return OpenApiParameter(name, schema, OpenApiParameter.PATH, description=description)


def _answers(answers: dict[int, Any]) -> dict[Any, Any]:
    return {
        ((status, "application/json") if shape else status): OpenApiResponse(
            response=shape,
            description="Done." if status < 201 else {201: "Created.", 202: "Taken on."}.get(status, "Gone."),
        )
        for status, shape in answers.items()
    }


def _problems(problems: Iterable[type[Problem]]) -> dict[Any, Any]:
    by_status: dict[int, dict[str, type[Problem]]] = {}
    for problem in problems:
        by_status.setdefault(problem.status, {})[problem.code] = problem
    return {
        (status, "application/problem+json"): OpenApiResponse(
            response=_PROBLEM,
            description=f"Codes: {', '.join(f'`{code}`' for code in found)}.",
            examples=[_problem_example(status, problem) for problem in found.values()],
        )
        for status, found in sorted(by_status.items())
    }


def _problem_example(status: int, problem: type[Problem]) -> OpenApiExample:
    title = str(problem.title)
    told = {"type": f"/docs/errors#{problem.code}", "title": title, "status": status, "code": problem.code}
    return OpenApiExample(
        problem.code,
        value={**told, "detail": title, "trace_id": _TRACE_ID},
        media_type="application/problem+json",
        response_only=True,
        status_codes=[str(status)],
    )


def _rpc_example(status: int, refusal: type[Refusal]) -> OpenApiExample:
    data = {"code": refusal.name, "trace_id": _TRACE_ID}
    error = {"code": refusal.code, "message": refusal.message, "data": data}
    return OpenApiExample(
        refusal.name,
        value={"jsonrpc": "2.0", "id": "task-1", "error": error},
        media_type="application/json",
        response_only=True,
        status_codes=[str(status)],
    )
