"""The parts of the developers' contract that this room fills in."""

from typing import Annotated, Literal

from pydantic import Field

from common.shapes import Seconds, Shape, Time

Path = Annotated[str, Field(description="domain.segment.attribute", examples=["lifestyle.food.favorite_cuisine"])]


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
