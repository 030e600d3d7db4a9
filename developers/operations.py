"""How an operation is described in the OpenAPI document: `@operation(...)` on a view's method."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import TypeAdapter
from typing_extensions import is_typeddict

from common.problems import (
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    Problem,
    TemporarilyUnavailable,
    UnsupportedMediaType,
)
from common.shapes import ProblemDetails
from developers.errors import AppSuspended, BrowserPathRefused, InsufficientScope, InvalidToken

Method = TypeVar("Method", bound=Callable[..., Any])
_Shown = tuple[Any, Mapping[str, Any]]  # the shape of an answer, and an example

_EVERYWHERE: tuple[type[Problem], ...] = (InvalidRequest, NotFound, MethodNotAllowed, TemporarilyUnavailable)
WITH_DEVELOPER_TOKEN = (InvalidToken, BrowserPathRefused, AppSuspended, InsufficientScope)
_WITH_BODY = (UnsupportedMediaType, PayloadTooLarge)
_MEANINGS = {
    200: "Done.", 201: "Created.", 202: "Taken.", 204: "Gone.",
    304: "What you hold is still the newest; nothing was read.",
}  # fmt: skip
_STATUS_NAMES = {
    400: "The request does not fit.",
    401: "The token does not let you in.",
    403: "Refused.",
    404: "Nothing here, or not yours.",
    405: "This address takes another method.",
    409: "Not in this state.",
    410: "Ended.",
    413: "The body is larger than this address takes, or there is no room for what is in it.",
    415: "The body is not application/json.",
    429: "Too often.",
    500: "The scope registry cannot be read.",
    503: "Try again later; nothing has changed.",
}


class DeveloperTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """Either of the two ways in which a token travels."""

    target_class = "developers.authentication.DeveloperToken"
    name = ["bearer", "query"]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        return [
            {
                "type": "http",
                "scheme": "bearer",
                "description": "Your developer token, `cr_live_…`. Keep it on your server.",
            },
            {
                "type": "apiKey",
                "in": "query",
                "name": "token",
                "description": "The same token in the query. Addresses end up in logs, so prefer the header.",
            },
        ]


class ShapeExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """Typed dictionaries, as drf-spectacular itself takes pydantic's models: described by pydantic."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_typeddict(target)

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        # as drf-spectacular's own extension for models: what is met inside another shape is known by its name alone
        set_override(self.target, "suppress_collision_warning", True)
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema = TypeAdapter(self.target).json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=part)  # type: ignore[no-untyped-call]  # upstream has no types
            auto_schema.registry.register_on_missing(component)
        return schema


def operation(
    *,
    name: str,
    tag: str,
    summary: str,
    description: str,
    answers: Mapping[int, Any] = MappingProxyType({}),
    example: Mapping[str, Any] = MappingProxyType({}),
    examples: Mapping[int, Mapping[str, Any]] = MappingProxyType({}),
    refusals: Iterable[type[Problem]] = (),
    parameters: Sequence[OpenApiParameter] = (),
    body: Any = None,
    body_example: dict[str, Any] | None = None,
    jose: str = "",
    stream: str = "",
    not_modified: bool = False,
    no_content: bool = False,
    permission: str = "",
    token: Iterable[type[Problem]] = WITH_DEVELOPER_TOKEN,
) -> Callable[[Method], Method]:
    """Describe a view's method.

    `jose` is the meaning of the second form, application/jose. It is told in words: as a second media type it would
    make the answer a union in the types of every generated client, and `.jwe` would be of none. `stream` is the meaning
    of server-sent events; `not_modified` and `no_content` are answers without a body. `permission` is what the token
    must carry, in words; none means that the address is open; `token` is what one may be refused with. `examples` are
    those of the statuses that `example` is not of.
    """
    problems = [*_EVERYWHERE, *refusals, *(token if permission else ()), *(_WITH_BODY if body else ())]
    empty = [status for status, told in ((204, no_content), (304, not_modified)) if told]
    shown = {status: (shape, examples.get(status, example)) for status, shape in answers.items()}
    return extend_schema(
        operation_id=name,
        tags=[tag],
        summary=summary,
        description=description + (f"\n\nNeeds the permission {permission}." if permission else ""),
        parameters=list(parameters),
        responses=_responses(shown, jose, stream, empty) | _problem_responses(problems),
        **_body(body, body_example),
    )


def _body(shape: Any, example: dict[str, Any] | None) -> dict[str, Any]:
    """What is said of the body, where an operation takes one."""
    if not shape:
        return {}
    examples = [OpenApiExample("body", value=example, request_only=True)]
    return {"request": {"application/json": shape}, "examples": examples}


def _responses(shown: Mapping[int, _Shown], jose: str, stream: str, empty: Iterable[int]) -> dict[Any, Any]:
    """What is answered where nothing is refused; the statuses of `empty` have no body."""
    responses = _json_responses(shown, more=f" With `Accept: application/jose`: {jose}" if jose else "")
    if stream:
        responses[200, "text/event-stream"] = OpenApiResponse(response={"type": "string"}, description=stream)
    for status in empty:
        responses[status] = OpenApiResponse(description=_MEANINGS[status])
    return responses


def query_parameter(name: str, description: str, kind: object = OpenApiTypes.STR, **more: object) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=description, **more)  # type: ignore[arg-type]  # passed on


def path_parameter(name: str, description: str, example: str) -> OpenApiParameter:
    schema = {"type": "string", "minLength": 1, "example": example}
    return OpenApiParameter(name, schema, OpenApiParameter.PATH, description=description)


def header_parameter(name: str, description: str) -> OpenApiParameter:
    schema = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^[^\x00-\x1f\x7f]{1,128}$"}
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description)


def _json_responses(shown: Mapping[int, _Shown], *, more: str) -> dict[Any, Any]:
    return {
        (status, "application/json"): OpenApiResponse(
            response=shape,
            description=_MEANINGS[status] + more,
            examples=[OpenApiExample("answer", value=dict(example), response_only=True, status_codes=[str(status)])],
        )
        for status, (shape, example) in shown.items()
    }


def _problem_responses(problems: Iterable[type[Problem]]) -> dict[Any, Any]:
    by_status: dict[int, dict[str, type[Problem]]] = {}
    for problem in problems:
        by_status.setdefault(problem.status, {})[problem.code] = problem
    return {
        (status, "application/problem+json"): OpenApiResponse(
            response=ProblemDetails,
            description=f"{_STATUS_NAMES[status]} Codes: {', '.join(f'`{code}`' for code in found)}.",
            examples=[_problem_example(status, problem) for problem in found.values()],
        )
        for status, found in sorted(by_status.items())
    }


def _problem_example(status: int, problem: type[Problem]) -> OpenApiExample:
    return OpenApiExample(
        problem.code,
        summary=str(problem.title),
        value={
            "type": f"/docs/errors#{problem.code}",
            "title": str(problem.title),
            "status": status,
            "code": problem.code,
            "detail": str(problem.title),
            "trace_id": "0b1f6a52d0c4454d8a4f7f3f5f6f2a10",
        },
        media_type="application/problem+json",
        response_only=True,
        status_codes=[str(status)],
    )
