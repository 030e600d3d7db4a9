"""What the tools take: strict, and described for whoever fills it in. The service has the last word on values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model, model_validator
from pydantic_core import PydanticCustomError

from consent_bridge.rules import TERM_RULES, TERM_TYPES

SPECIAL = "one_scope_per_request"


class Arguments(BaseModel):
    """No coercion, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, given: Any) -> Any:
        """JSON has one kind of number, and 3600.0 is the integer 3600 to its schemas."""
        if not isinstance(given, Mapping):
            return given
        whole = {name: int(value) for name, value in given.items() if isinstance(value, float) and value.is_integer()}
        return {**given, **whole}


def _one_scope(value: Any) -> Any:
    if isinstance(value, list):
        raise PydanticCustomError(SPECIAL, "name exactly one scope")
    return value


RequestId = Annotated[str, Field(pattern="^[!-~]{1,64}$", description="The request, as request_consent answered it.")]


class Nothing(Arguments):
    """A tool without arguments."""


class Person(Arguments):
    """Arguments of discover_user_scopes."""

    user_id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=64,
            description="The person: your own user_id for them, a sharing ID that they gave you, or @handle.",
        ),
    ]


class OneRequest(Arguments):
    """Arguments of a tool about one request."""

    request_id: RequestId


class Wait(OneRequest):
    """Arguments of check_consent_status."""

    wait_seconds: Annotated[
        int, Field(ge=0, le=30, description="Hold the answer until the status changes, at most so long.")
    ] = 0


class Question(Person):
    """Arguments of request_consent, without its terms; the connector fields are the bridge's to fill in."""

    scope: Annotated[
        str,
        BeforeValidator(_one_scope),
        Field(min_length=1, max_length=210, description="Exactly one scope, as discovered for this person."),
    ]
    purpose: Annotated[
        str,
        Field(
            min_length=8,
            max_length=280,
            description="What you need it for. The person reads it as your own words: one line of plain text.",
        ),
    ]


_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "maxItems": "max_length",
}


def _term(name: str, rules: Mapping[str, Any]) -> Any:
    """A term as the contract has it, to be left out by null."""
    keywords = {keyword: value for keyword, value in rules.items() if not keyword.startswith("x-")}
    schema = {"description": keywords.pop("description"), "anyOf": [keywords, {"type": "null"}]}
    bounds = {_BOUNDS[keyword]: value for keyword, value in keywords.items() if keyword in _BOUNDS}
    return Annotated[TERM_TYPES[name], Field(**bounds), WithJsonSchema(schema)], None


_TERMS: dict[str, Any] = {name: _term(name, rules) for name, rules in TERM_RULES.items()}
RequestArguments = create_model("RequestArguments", __base__=Question, **_TERMS)
