"""The bodies of the management addresses, strict: wrong types and unknown members are refused."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from common.admission.shapes import Strict
from common.text import is_plain

_DAY = 86400  # seconds


def _plain(text: str) -> str:
    if not is_plain(text) or text != text.strip():
        raise PydanticCustomError("plain_text", "must be one line of plain text without invisible characters")
    return text


def _unique(permissions: list[str]) -> list[str]:
    if len(set(permissions)) != len(permissions):
        raise PydanticCustomError("repeated", "must not name a permission twice")
    return permissions


Name = Annotated[str, Field(min_length=1, max_length=80), AfterValidator(_plain)]
Permissions = Annotated[
    list[Literal["discover", "request", "read"]], Field(min_length=1, max_length=3), AfterValidator(_unique)
]


class NewApp(Strict):
    """`POST apps`: a test app."""

    name: Annotated[Name, Field(description="What your sandbox people see.")]


class ChangedApp(Strict):
    """`PATCH apps/{app_id}`."""

    name: Annotated[Name, Field(description="The new name of a test app.")]


class NewToken(Strict):
    """`POST apps/{app_id}/tokens`."""

    label: Annotated[Name, Field(description="What you will know the token by.")]
    permissions: Annotated[Permissions, Field(description="What the token may do; everything by default.")] = [
        "discover", "request", "read",
    ]  # fmt: skip
    expires_in: Annotated[
        int, Field(ge=60, le=365 * _DAY, description="How many seconds it lives; 90 days by default.")
    ] = 90 * _DAY
    header_only: Annotated[bool, Field(description="Whether it is refused in a query.")] = False


class Rotation(Strict):
    """`POST tokens/{prefix}/rotate`."""

    overlap: Annotated[
        int, Field(ge=0, le=30 * _DAY, description="How many seconds the old token lives on; a day by default.")
    ] = _DAY


class NewMember(Strict):
    """`POST apps/{app_id}/members`: who is asked to join."""

    email: Annotated[str, Field(min_length=1, max_length=254, description="Whoever reads this address is asked.")]
    role: Annotated[Literal["owner", "member"], Field(description="Owners manage the team too.")] = "member"
