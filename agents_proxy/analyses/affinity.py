"""What a profile says about brands, in the shape that a CRM takes (specification 2.6) (pure).

Nothing is invented: what no agent said is absent, and what does not fit the shape is left out and named.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents_proxy.analyses.merging import score
from agents_proxy.proxy.placeholders import is_missing
from agents_proxy.proxy.spelling import canonical

Text = Annotated[str, Field(min_length=1, max_length=2000)]
MOST_ITEMS = 1000  # of one list
Texts = Annotated[list[Text], Field(max_length=MOST_ITEMS)]

_IDENTITY = {"full_name": "fullName", "email": "email", "phone": "phone"}
LISTS = ("likes", "dislikes", "brand_affinities")


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ShoppingPreferences(_Shape):
    category_focus: Texts | None = None
    price_sensitivity: Text | None = None
    channel: Text | None = None


class BrandAffinity(_Shape):
    """The specification's 2.6, member for member."""

    fullName: Text | None = None  # noqa: N815  # the specification's spelling
    email: Text | None = None
    phone: Text | None = None
    likes: Texts | None = None
    dislikes: Texts | None = None
    brand_affinities: Texts | None = None
    shopping_preferences: ShoppingPreferences | None = None
    confidence: Annotated[float, Field(allow_inf_nan=False)] | None = None

    def body(self) -> dict[str, Any]:
        """As JSON, without what is not known."""
        return self.model_dump(exclude_none=True)

    @property
    def has_preferences(self) -> bool:
        """Whether there is more in it than who it is about."""
        return any((self.likes, self.dislikes, self.brand_affinities, self.shopping_preferences))


@dataclass(frozen=True)
class Validated:
    """`misfits` names the profile's fields that the shape has no form for."""

    affinity: BrandAffinity
    misfits: tuple[str, ...]


def affinity_of(profile: Mapping[str, Any]) -> Validated:
    """The part of a merged profile that is about brands, checked member by member."""
    offered: dict[str, Any] = {wire: profile.get(name) for name, wire in _IDENTITY.items()}
    offered |= {name: _listed(profile.get(name)) for name in LISTS}
    offered["shopping_preferences"] = _shopping(profile.get("shopping_preferences"))
    offered["confidence"] = _confidence(profile)
    fitting, misfits = {}, []
    for name, value in offered.items():
        if is_missing(value):
            continue
        try:
            fitting[name] = getattr(BrandAffinity.model_validate({name: value}), name)
        except ValidationError:
            misfits.append(name)
    return Validated(BrandAffinity(**fitting), tuple(misfits))


def _confidence(profile: Mapping[str, Any]) -> Any:
    """The brand agent's own, or else that of the whole profile, which is what the prompt asks agents for."""
    given = [profile.get("confidence"), profile.get("confidence_score")]
    found = next((number for value in given if (number := score(value)) is not None), None)
    return float(found) if found is not None else given[0]


def _listed(value: Any) -> Any:
    """One text is a list of one, and what is blank in a list is not said; the rest stays for the check to judge."""
    if isinstance(value, list):
        return [item for item in value if not is_missing(item)]
    return [value] if isinstance(value, str) else value


def _shopping(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    named = {
        canonical(name): part for name, part in value.items() if canonical(name) in ShoppingPreferences.model_fields
    }
    listed = {name: _listed(part) if name == "category_focus" else part for name, part in named.items()}
    return {name: part for name, part in listed.items() if not is_missing(part)}
