"""How an operation is described: `@operation(...)` above the view's method, read where the OpenAPI document is made."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiRequest, OpenApiResponse
from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

Method = TypeVar("Method", bound=Callable[..., Any])
Schema = dict[str, Any]

_TRACE_ID = "0b1f6a52d0c4454d8a4f7f3f5f6f2a10"
_MEANINGS = {
    200: "Done.",
    201: "Created.",
    202: "Accepted.",
    204: "Gone.",
    304: "What you hold is still the newest; nothing was read.",
    400: "The request does not fit.",
    401: "No sign-in, token or signature that is good here.",
    403: "Refused.",
    404: "Nothing here, or not yours.",
    405: "This address takes another method.",
    409: "Not in this state.",
    410: "Ended.",
    413: "The body is larger than this address takes, or there is no room for what is in it.",
    415: "The body is not application/json.",
    422: "What is named cannot be taken.",
    429: "Too often.",
    500: "The scope registry cannot be read.",
    502: "The service behind this one gave no usable answer.",
    503: "Try again later; nothing has changed.",
    504: "The service behind this one took too long.",
}


class Refusal(Protocol):
    """A class or row of refusals, as the document tells it."""

    status: int
    media_type: str
    shape: Any

    def example(self, trace_id: str) -> tuple[str, dict[str, Any]]:
        """Its stable code, and a body that says it."""


@dataclass(frozen=True, kw_only=True)
class operation:  # noqa: N801  # a decorator
    """Describe a view's method. What its view refuses by itself (`JSONView.common_refusals`) is not named again.

    `answers`: status → shape (a pydantic model or a `Shape`), None where there is no body. Examples are made of those
    of the shapes' fields; `example` holds what is otherwise in this operation's answer. `query` is the model of the
    query: each of its fields is a parameter. `jose` is the meaning of the second form, application/jose. It is told in
    words: as a second media type it would make the answer a union in the types of every generated client, and `.jwe`
    would be of none. `stream` is the meaning of server-sent events.
    `tag` is by default the view's own, and `parameters` come after the view's of the path.
    """

    name: str
    summary: str
    description: str
    tag: str = ""
    answers: Mapping[int, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    query: type[BaseModel] | None = None
    parameters: Sequence[OpenApiParameter] = ()
    refusals: Iterable[Refusal] = ()
    jose: str = ""
    stream: str = ""

    def __call__(self, method: Method) -> Method:
        method.operation = self  # type: ignore[attr-defined]  # where `OperationSchema` finds it
        return method


def path_parameter(name: str, description: str, schema: Schema | str) -> OpenApiParameter:
    """A part of the path; a text in place of its schema is an example of it."""
    if isinstance(schema, str):
        schema = {"type": "string", "minLength": 1, "example": schema}
    return OpenApiParameter(name, schema, OpenApiParameter.PATH, description=description)


def query_parameter(name: str, description: str, schema: Schema, *, required: bool = False) -> OpenApiParameter:
    """A member of the query whose model says it in other words than the document."""
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=description, required=required)


def header_parameter(name: str, description: str) -> OpenApiParameter:
    schema = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^[^\x00-\x1f\x7f]{1,128}$"}
    return OpenApiParameter(name, schema, OpenApiParameter.HEADER, description=description)


class OperationSchema(AutoSchema):
    """What drf-spectacular asks of a view, answered from the `operation` of its method and from the view itself."""

    view: Any  # a `JSONView`, which is made of this

    @property
    def described(self) -> operation:
        found: operation = getattr(self.view, self.method.lower()).operation
        return found

    def get_operation_id(self) -> str:
        return self.described.name

    def get_tags(self) -> list[str]:
        return [self.described.tag or self.view.tag]

    def get_summary(self) -> str:
        return self.described.summary

    def get_description(self) -> str:  # type: ignore[override]  # upstream has no types
        return "\n\n".join(filter(None, [self.described.description, self.view.who_may_call(self.method)]))

    def get_override_parameters(self) -> list[Any]:
        query = self.described.query
        of_path = [each for each in self.view.path_parameters if f"{{{each.name}}}" in self.path]
        return [*of_path, *self.described.parameters, *(_query_parameters(query) if query else ())]

    def get_request_serializer(self) -> Any:
        shape = self.described.body
        if shape is None:
            return {}
        return {"application/json": OpenApiRequest(shape, examples=[OpenApiExample("body", value=example_of(shape))])}

    def get_response_serializers(self) -> Any:
        described = self.described
        responses: dict[Any, OpenApiResponse] = {}
        for status, shape in described.answers.items():
            more = f" With `Accept: application/jose`: {described.jose}" if described.jose and shape else ""
            examples = [OpenApiExample("answer", value=_merged(example_of(shape), described.example))] if shape else []
            responses[(status, "application/json") if shape else status] = OpenApiResponse(
                shape, _MEANINGS[status] + more, examples
            )
        if described.stream:
            responses[200, "text/event-stream"] = OpenApiResponse({"type": "string"}, described.stream)
        return responses | self._refusals()

    def _refusals(self) -> dict[Any, OpenApiResponse]:
        described = self.described
        common = self.view.common_refusals(self.method, self.path, takes_body=described.body is not None)
        found: dict[tuple[int, str], dict[str, OpenApiExample]] = {}
        shapes = {}
        for refusal in [*common, *described.refusals]:
            code, body = refusal.example(_TRACE_ID)
            shapes[refusal.media_type] = refusal.shape
            examples = found.setdefault((refusal.status, refusal.media_type), {})
            examples.setdefault(code, OpenApiExample(code, summary=str(getattr(refusal, "title", "")), value=body))
        return {
            (status, media_type): OpenApiResponse(
                shapes[media_type],
                f"{_MEANINGS[status]} Codes: {', '.join(f'`{code}`' for code in examples)}.",
                list(examples.values()),
            )
            for (status, media_type), examples in sorted(found.items(), key=lambda one: one[0][0])
        }


class ShapeExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # its metaclass is untyped
    """Typed dictionaries, as drf-spectacular itself takes pydantic's models: described by pydantic."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return is_typeddict(target)

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        # as drf-spectacular's own extension for models: what is met inside another shape is known by its name alone
        set_override(self.target, "suppress_collision_warning", True)
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: Any, direction: Any) -> Schema:
        schema = TypeAdapter(self.target).json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=part)  # type: ignore[no-untyped-call]  # upstream has no types
            auto_schema.registry.register_on_missing(component)
        return schema


def example_of(shape: Any) -> Any:
    """A value of `shape` made of the examples on its fields; raises `LookupError` where a text has none.

    A member that may be absent is there where it has an example. What may be null is, unless it has an example of its
    own or is a shape itself.
    """
    schema = TypeAdapter(shape).json_schema(mode="serialization")
    return _example(schema, schema.get("$defs", {}))


def _example(schema: Schema, shapes: Mapping[str, Schema]) -> Any:
    if "examples" in schema:
        return schema["examples"][0]
    if "$ref" in schema:
        return _example(shapes[schema["$ref"].rpartition("/")[2]], shapes)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if "oneOf" in schema:
        return _example(schema["oneOf"][0], shapes)
    if "anyOf" in schema:
        first = schema["anyOf"][0]
        return None if {"type": "null"} in schema["anyOf"] and "$ref" not in first else _example(first, shapes)
    match schema.get("type"):
        case "object":
            needed = schema.get("required", ())
            members = schema.get("properties", {}).items()
            return {name: _example(of, shapes) for name, of in members if name in needed or "examples" in of}
        case "array":
            return [_example(schema["items"], shapes)] if schema.get("items") else []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
    raise LookupError(f"This field needs an example: {schema}")


def _merged(example: Any, otherwise: Mapping[str, Any]) -> Any:
    return example | {
        name: _merged(example[name], value)
        if isinstance(value, dict) and isinstance(example.get(name), dict)
        else value
        for name, value in otherwise.items()
    }


def _query_parameters(model: type[BaseModel]) -> Iterable[OpenApiParameter]:
    schema = model.model_json_schema()
    own = model.__annotations__  # before those that it inherits
    for name, member in sorted(schema["properties"].items(), key=lambda one: one[0] not in own):
        kind: Schema = next((of for of in member.get("anyOf", ()) if of != {"type": "null"}), {})
        shape = {key: value for key, value in (member | kind).items() if key not in ("anyOf", "title", "description")}
        if shape.get("default", "") is None:
            del shape["default"]
        if "const" in shape:
            shape["enum"] = [shape.pop("const")]
        if "examples" in shape:
            shape["example"] = shape.pop("examples")[0]
        required = name in schema.get("required", ())
        yield OpenApiParameter(name, shape, required=required, description=member.get("description", ""))
