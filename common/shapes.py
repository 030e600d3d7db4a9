"""What the shapes of all answers to programs are made of, and that of every refusal."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, Field, GetPydanticSchema, with_config
from pydantic_core.core_schema import literal_schema
from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-20T10:00:00Z"])]
Seconds = Annotated[int, Field(ge=0)]
NextCursor = Annotated[str | None, Field(description="Give it as `cursor` for the next page; null on the last.")]


@with_config(extra="forbid")
class Shape(TypedDict):
    """Exactly the members that are named."""


def literal_of(states: Iterable[str]) -> GetPydanticSchema:
    """The values in place, where pydantic would make a component of its own for each enumeration."""
    return GetPydanticSchema(lambda source, handler: literal_schema([str(state) for state in states]))


class ProblemField(Shape):
    """One member of a body or query that does not fit."""

    field: str
    code: str
    message: str


class ProblemDetails(BaseModel):
    """A refusal (RFC 9457). Some codes add members of their own."""

    type: Annotated[str, Field(examples=["/docs/errors#invalid_scope"])]
    title: str
    status: int
    code: str
    detail: str
    trace_id: Annotated[str, Field(description="The same as `X-Request-Id`; name it when you ask for help.")]
    errors: Annotated[list[ProblemField] | None, Field(description="Only where a body or query does not fit.")] = None
