"""The parts of the developers' contract that this room fills in."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from common.shapes import Seconds, Shape, Time

Path = Annotated[str, Field(description="domain.segment.attribute", examples=["lifestyle.food.favorite_cuisine"])]
EXAMPLE_PATHS = ["lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine", "lifestyle.food.coffee_or_tea"]


class ScopeEntry(Shape):
    """One scope of the registry, the same for every person."""

    scope: Annotated[str, Field(examples=["attr.lifestyle.food.*"])]
    scope_handle: Annotated[str, Field(examples=["s_0f3a9c41d2be"])]
    label: Annotated[str, Field(examples=["Food and drink"])]
    description: Annotated[str, Field(examples=["What you like to eat and drink."])]
    domain: Annotated[str | None, Field(examples=["lifestyle"])]
    sensitivity_tier: Literal["standard", "confidential", "restricted"]
    attributes: Annotated[list[Path], Field(examples=[EXAMPLE_PATHS])]
    max_access_duration: Annotated[Seconds, Field(examples=[31536000])]
    updated_at: Annotated[Time, Field(examples=["2026-11-01T08:00:00Z"])]
    derived: NotRequired[
        Annotated[
            dict[str, Any],
            Field(
                description="Only where the attribute is an answer in place of a value: its `path`, `from`, `rule` and "
                "its version as a request's `derived` has them, and `label`, `question` (what an app does that asks "
                "for it, after its name) and `sensitivity_tier`."
            ),
        ]
    ]
