"""What this room asks of rooms above it, which it cannot import: they register in their `AppConfig.ready`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accounts.models import User


@dataclass
class Audience:
    """Whom a domain concerns beside its owner, by name: the apps that may see some of it, and those that wait."""

    may_see: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


# who may see what of this person, and who asked for it: domain → its audience
AudienceOf = Callable[["User"], dict[str, Audience]]
_audiences: list[AudienceOf] = []


def register_audience(audience_of: AudienceOf) -> None:
    """Let a room above tell who may see a card of "My data"; once for each room."""
    if audience_of not in _audiences:
        _audiences.append(audience_of)


def audience_of(user: "User") -> dict[str, Audience]:
    """Domain → whom it concerns, as every room above tells it."""
    merged: dict[str, Audience] = {}
    for tell in _audiences:
        for domain, told in tell(user).items():
            known = merged.setdefault(domain, Audience())
            known.may_see.extend(told.may_see)
            known.asked.extend(told.asked)
    return merged
