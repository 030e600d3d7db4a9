"""What the tools take: strict, and described for whoever fills it in. The service has the last word on values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

SPECIAL = "one_scope_per_request"


class Arguments(BaseModel):
    """No coercion, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def _one_scope(value: Any) -> Any:
    if isinstance(value, list):
        raise PydanticCustomError(SPECIAL, "name exactly one scope")
    return value


RequestId = Annotated[
    str, Field(pattern="^[A-Za-z0-9_]{1,64}$", description="The request, as request_consent answered it.")
]
Paths = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=500)]


class Nothing(Arguments):
    """A tool without arguments."""


class Person(Arguments):
    """Arguments of discover_user_scopes."""

    user_id: Annotated[
        str, Field(min_length=1, max_length=64, description="The person's sharing ID; they find it in the consent app.")
    ]


class OneRequest(Arguments):
    """Arguments of a tool about one request."""

    request_id: RequestId


class Wait(OneRequest):
    """Arguments of check_consent_status."""

    wait_seconds: Annotated[
        int, Field(ge=0, le=30, description="Hold the answer until the status changes, at most so long.")
    ] = 0


class Ask(Person):
    """Arguments of request_consent; the connector fields are the bridge's to fill in."""

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
    access_duration: Annotated[
        int | None, Field(ge=300, le=31536000, description="How many seconds you ask to read for; a day if left out.")
    ] = None
    requested_expiry: Annotated[
        int | None, Field(ge=300, le=2592000, description="How many seconds the request waits for a decision.")
    ] = None
    required_attributes: Annotated[
        Paths | None, Field(description="Paths inside the scope without which you cannot do it.")
    ] = None
    optional_attributes: Annotated[
        Paths | None, Field(description="Paths that would help. With neither list, all of the scope is optional.")
    ] = None
    max_reads: Annotated[
        int | None, Field(ge=1, le=100000, description="After so many reads the approval is used up.")
    ] = None
    refresh_policy: Annotated[
        Literal["snapshot", "continuous"] | None,
        Field(description="snapshot: the data as it is at approval. continuous: kept up to date by the person."),
    ] = None
    binding_message: Annotated[
        str | None,
        Field(min_length=1, max_length=64, description="Shown on both sides, so that they can be matched."),
    ] = None
    template_id: Annotated[
        str | None,
        Field(min_length=1, max_length=64, description="An approved template that it keeps within."),
    ] = None
