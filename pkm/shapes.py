"""The parts of the developers' contract that this room fills in."""

from typing import Annotated, Literal

from pydantic import Field, with_config
from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-20T10:00:00Z"])]
Seconds = Annotated[int, Field(ge=0)]
Path = Annotated[str, Field(description="domain.segment.attribute", examples=["lifestyle.food.favorite_cuisine"])]


@with_config(extra="forbid")
class Shape(TypedDict):
    """Exactly the members that are named."""


class ScopeEntry(Shape):
    """One scope of the registry, the same for every person."""

    scope: Annotated[str, Field(examples=["attr.lifestyle.food.*"])]
    scope_handle: Annotated[str, Field(examples=["s_0f3a9c41d2be"])]
    label: str
    description: str
    domain: str | None
    sensitivity_tier: Literal["standard", "confidential", "restricted"]
    attributes: list[Path]
    max_access_duration: Seconds
    updated_at: Time
