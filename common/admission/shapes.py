"""What every shape of a request has in common: wrong types and unknown members are refused."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Strict(BaseModel):
    """A body or query whose members are all known and of the very type that is written here."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, regex_engine="python-re")


class Nothing(Strict):
    """A body or query without members."""


def _true(value: bool) -> bool:
    if not value:
        raise ValueError("must be true")
    return value


Agreed = Annotated[bool, AfterValidator(_true)]  # not Literal[True], which takes 1 for it
