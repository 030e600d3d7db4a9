"""What is asked about public profiles."""

from typing import TypedDict

from django.db.models import Q, QuerySet

from accounts.models import ActorProfile, MarketplacePublicProfile, User
from accounts.public_profile.handles import folded


class PublicCard(TypedDict):
    """All that others see."""

    handle: str
    display_name: str
    headline: str
    location_hint: str


class OwnProfile(TypedDict):
    """The same for its person, with how it stands. `seen` names this text, so that no other one is switched on."""

    card: PublicCard
    is_shown: bool
    is_listed: bool
    seen: str


def shown_card(handle: str) -> PublicCard | None:
    """What stands at this handle for everybody; None where nobody has it and where its page is off."""
    shown = MarketplacePublicProfile.objects.filter(handle=handle, is_discoverable=True, user__is_active=True)
    row = shown.first()
    return _card(row) if row else None


def _card(row: MarketplacePublicProfile) -> PublicCard:
    return {
        "handle": row.handle or "",
        "display_name": row.display_name,
        "headline": row.headline,
        "location_hint": row.location_hint,
    }


def listed_profiles(beginning: str | None = None) -> QuerySet[MarketplacePublicProfile]:
    """Of those whose page is on and who let apps find them; whose handle or name begins so, whatever the case."""
    listed = MarketplacePublicProfile.objects.filter(
        is_discoverable=True, user__is_active=True, user__actor_profile__discoverable=True
    )
    if beginning is None:
        return listed
    text = folded(beginning)
    return listed.filter(Q(handle__begins=text) | Q(search_name__begins=text))


def own_profile(user: User) -> OwnProfile | None:
    """The profile of the person who asks; None where they typed nothing yet."""
    row = MarketplacePublicProfile.objects.filter(user=user, handle__isnull=False).first()
    if row is None:
        return None
    return {
        "card": _card(row),
        "is_shown": row.is_discoverable,
        "is_listed": row.is_discoverable and is_listed(user),
        "seen": row.updated_at.isoformat(),  # a text is named by when it was saved
    }


def is_listed(user: User) -> bool:
    """Whether they let apps find them."""
    return ActorProfile.objects.filter(user=user, discoverable=True).exists()
