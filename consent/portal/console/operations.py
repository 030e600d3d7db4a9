"""Which operations can be tried: those of the OpenAPI document that a developer token may call."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from consent.api.openapi import document

_HELD = "wait"  # a page is not kept waiting: without it a status is answered at once
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
        """What its field of the form is called."""
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
        if {"bearer": []} in found["security"] and not _is_stream(found)
    ]
    return {operation.name: operation for operation in described}


def _is_stream(described: dict[str, Any]) -> bool:
    return any(_STREAM in response.get("content", {}) for response in described["responses"].values())


def _operation(path: str, method: str, described: dict[str, Any]) -> Operation:
    return Operation(
        name=described["operationId"],
        group=described["tags"][0],
        method=method.upper(),
        path=path,
        summary=described["summary"],
        paragraphs=tuple(described["description"].split("\n\n")),
        parameters=tuple(_parameter(found) for found in described.get("parameters", []) if found["name"] != _HELD),
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
    """What the fields of all operations' parameters are called."""
    return {parameter.field for operation in operations().values() for parameter in operation.parameters}
