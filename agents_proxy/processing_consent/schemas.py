"""The bodies of consents to processing."""

from typing import Annotated

from pydantic import AfterValidator, Field

from agents_proxy.states import Purpose
from common.admission.shapes import Agreed, Strict


def _once_each(purposes: list[Purpose]) -> list[Purpose]:
    if len(set(purposes)) != len(purposes):
        raise ValueError("name each purpose once")
    return purposes


class ConsentBody(Strict):
    """A signed-in person's agreement to calls of their own."""

    purposes: Annotated[
        list[Annotated[Purpose, Field(strict=False)]],
        Field(min_length=1, max_length=len(Purpose)),
        AfterValidator(_once_each),
    ]
    agreed: Agreed
