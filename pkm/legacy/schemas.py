"""The bodies of the addresses for old data."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from common.admission.shapes import Strict

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
_Count = Annotated[int, Field(ge=0, le=1_000_000)]


class At(Strict):
    """Which domain the browser is at, and which of its segments it has written."""

    domain: _Name
    segments: Annotated[dict[_Name, Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=100)]


class Counts(Strict):
    """Attributes that were written, and that have no place."""

    written: _Count
    aside: _Count


class ProgressBody(Strict):
    """`PUT /vault/legacy/progress`. `last_error` is a code, never a text that could hold a value."""

    status: Literal["waiting_for_unlock", "running", "failed"]
    at: At | None
    counts: Counts
    last_error: Annotated[str, Field(max_length=64, pattern=r"^[a-z_]*\Z")]

    @model_validator(mode="after")
    def _failed_with_error(self) -> "ProgressBody":
        if (self.status == "failed") == (not self.last_error):
            raise PydanticCustomError("last_error", "last_error goes with failed, and only with it")
        return self


class FinishBody(Strict):
    """`POST /vault/legacy/{domain}/finish`."""

    updated_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")]
    segments: Annotated[dict[_Name, Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=100)]
    discard: bool
    kept: _Count  # attributes that the person had already, with another value
