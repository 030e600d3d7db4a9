"""What every shape of a request has in common: wrong types and unknown members are refused."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


class Strict(BaseModel):
    """A body or query whose members are all known and of the very type that is written here."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, regex_engine="python-re")

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, given: Any) -> Any:
        """JSON has one kind of number, and 3600.0 is the integer 3600 to its schemas."""
        if isinstance(given, dict) and any(isinstance(value, float) for value in given.values()):
            return {name: _whole(value) for name, value in given.items()}
        return given


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Nothing(Strict):
    """A body or query without members."""


def _true(value: bool) -> bool:
    if not value:
        raise ValueError("must be true")
    return value


Agreed = Annotated[bool, AfterValidator(_true)]  # not Literal[True], which takes 1 for it

# Callers take a name as it is: one that is not of our making is unknown like any other, as it is in a path.
Identifier = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[!-~]+\Z")]
PersonName = Identifier  # as an app names somebody: by its own `user_id`, a sharing ID, or `@handle`


class PageQuery(Strict):
    """Which page of a list: `cursor` is the `next_cursor` of the page before."""

    cursor: Annotated[
        Annotated[str, Field(min_length=1, max_length=64)] | None, Field(description="Where the page begins.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=100, description="Entries on a page.")] = 50
