"""What this room asks of rooms above it, which it cannot import: they register in their `AppConfig.ready`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class RootChange:
    """What happened to the root that somebody's approvals are signed from, inside the transaction that does it.

    `change` is set, replaced or given_up; the thumbprints are of the public halves, "" where there is none. `rotation`
    is what the person signed for a replacement, of the apps' keys alone, not checked yet.
    """

    change: str
    old: str = ""
    new: str = ""
    rotation: tuple[Any, ...] = ()


OnRootChange = Callable[["User", RootChange], None]
_on_root_change: list[OnRootChange] = []


def register_root_change(do: OnRootChange) -> None:
    """Let a room above write down what becomes of an approval root, or refuse it; once for each room."""
    if do not in _on_root_change:
        _on_root_change.append(do)


def root_changed(user: "User", change: RootChange) -> None:
    """Tell every room above."""
    for do in _on_root_change:
        do(user, change)
