"""What the schemas of all bodies and queries have in common: wrong types and unknown members are refused."""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from common.text import is_plain

_WHATEVER_TYPE = ("title", "description", "default", "examples")  # of a member's schema, whatever its type


class Strict(BaseModel):
    """A body or query whose members are all known and of the very type that is written here.

    Null leaves an optional member out, as clients in languages whose default is None send it. Bodies in which it could
    be taken for something else (never, nothing) set `null_is_absent` to False.
    """

    null_is_absent: ClassVar[bool] = True

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, regex_engine="python-re")

    @model_validator(mode="before")
    @classmethod
    def _normalised(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        optional = {
            name for name, member in cls.model_fields.items() if cls.null_is_absent and not member.is_required()
        }
        return {name: _whole(value) for name, value in given.items() if value is not None or name not in optional}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        members = handler.resolve_ref_schema(schema)
        for name, member in members.get("properties", {}).items():
            if cls.null_is_absent and name not in members.get("required", []):
                members["properties"][name] = _or_null(member)
        return schema


def _whole(value: Any) -> Any:
    """JSON has one kind of number, and 3600.0 is the integer 3600 to its schemas."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _or_null(member: JsonSchemaValue) -> JsonSchemaValue:
    apart = {name: value for name, value in member.items() if name in _WHATEVER_TYPE or name.startswith("x-")}
    rules = {name: value for name, value in member.items() if name not in apart}
    choices = rules["anyOf"] if rules.keys() == {"anyOf"} else [rules]
    null = {"type": "null"}
    return {**apart, "anyOf": choices if null in choices else [*choices, null]}


# the name of this class is that of a component of the OpenAPI document
class Nothing(Strict):
    """A body or query without members."""


def _true(value: bool) -> bool:
    if not value:
        raise ValueError("must be true")
    return value


def plain_text(text: str) -> str:
    """`text` where it is one line that shows as it is written; contract, conventions."""
    if not is_plain(text):
        raise PydanticCustomError(
            "plain_text", "must be one line of plain text without control, invisible or direction-changing characters"
        )
    if text != text.strip():
        raise PydanticCustomError("plain_text", "must not begin or end with a space")
    return text


def unique(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        raise PydanticCustomError("repeated", "must not name one twice")
    return names


MustBeTrue = Annotated[bool, AfterValidator(_true)]  # not Literal[True], which takes 1 for it

# Any printable ASCII is accepted; an identifier of another form simply finds nothing (404, not 400).
Identifier = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[!-~]+\Z")]
PersonReference = Identifier  # as an app names somebody: by its own `user_id`, a sharing ID, or `@handle`


class PageQuery(Strict):
    """Which page of a list: `cursor` is the `next_cursor` of the page before."""

    cursor: Annotated[
        Annotated[str, Field(min_length=1, max_length=64)] | None, Field(description="Where the page begins.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=100, description="Entries on a page.")] = 50
