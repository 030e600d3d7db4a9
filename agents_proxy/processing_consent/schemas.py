"""The bodies of consents to processing."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

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
    destinations: Annotated[
        list[Annotated[str, Field(pattern=r"^des_[a-z2-7]{1,60}\Z")]],
        Field(max_length=20, description="What `activation` covers, by their ID; with that purpose alone."),
    ] = []

    email: Annotated[
        str | None,
        Field(min_length=3, max_length=254, description="The verified address that it covers; else the primary one."),
    ] = None
    phoneNumber: Annotated[  # noqa: N815  # the wire's name
        str | None,
        Field(pattern=r"^\+[0-9]{4,15}\Z", description="The verified number that it covers; else the newest one."),
    ] = None

    @model_validator(mode="after")
    def _together(self) -> "ConsentBody":
        if (Purpose.ACTIVATION in self.purposes) != bool(self.destinations):
            raise PydanticCustomError(
                "destinations", "name destinations with the purpose activation, and with it alone"
            )
        return self
