"""A person writes their public profile, switches it on and off, lets apps find it, and removes it."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import ActorProfile, MarketplacePublicProfile, ReleasedHandle, User
from accounts.personas import own_actor_profile
from accounts.public_profile.errors import HandleTaken, NotAsPreviewed, NotShown, TooManyHandles
from accounts.public_profile.handles import checked_handle, erased_handle, folded
from common.limits import Limit, count

RESTS_FOR = timedelta(days=90)  # until somebody else may have a handle that was given up
_CHANGES = Limit("handles-of-person", 20, 86_400)  # those that were refused count too


def save_profile(*, by: User, handle: str, display_name: str, headline: str, location_hint: str) -> None:
    """Keep what they typed, under a handle that is free. Where the page is on, others see it at once.

    The caller has checked that the texts are plain. Raises InvalidHandle, ReservedHandle, HandleTaken, TooManyHandles.
    """
    handle = checked_handle(handle)
    has_it = MarketplacePublicProfile.objects.filter(user=by, handle=handle).exists()
    if not has_it and count(_CHANGES, by.public_id).exceeded:
        raise TooManyHandles
    with transaction.atomic():
        row = _own_row(by)
        before = row.handle
        row.handle, row.display_name, row.headline, row.location_hint = handle, display_name, headline, location_hint
        row.search_name = folded(display_name)
        _write(row)
        if before != handle:
            _take(by, handle)
            _release(by, before)


def _own_row(user: User) -> MarketplacePublicProfile:
    MarketplacePublicProfile.objects.get_or_create(user=user)
    return MarketplacePublicProfile.objects.select_for_update().get(user=user)


def _write(row: MarketplacePublicProfile) -> None:
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise HandleTaken from None


def _take(user: User, handle: str) -> None:
    """Refuse what rests. Looked at after the handle was written, so after whoever was just giving it up."""
    resting = ReleasedHandle.objects.filter(released_at__gt=timezone.now() - RESTS_FOR)
    if resting.filter(handle__in=[handle, erased_handle(handle)]).exclude(user=user).exists():
        raise HandleTaken
    ReleasedHandle.objects.filter(handle=handle).delete()


def _release(user: User, handle: str | None) -> None:
    """Let a handle rest, and forget those that have rested."""
    now = timezone.now()
    ReleasedHandle.objects.filter(released_at__lte=now - RESTS_FOR).delete()
    if handle is not None:
        ReleasedHandle.objects.update_or_create(handle=handle, defaults={"user": user, "released_at": now})


def show_profile(*, by: User, seen: str) -> None:
    """Switch the page on with exactly the text that they previewed; else raises NotAsPreviewed."""
    try:
        moment = datetime.fromisoformat(seen)
    except ValueError:
        raise NotAsPreviewed from None
    if moment.tzinfo is None:
        raise NotAsPreviewed
    previewed = MarketplacePublicProfile.objects.filter(user=by, handle__isnull=False, updated_at=moment)
    if not previewed.update(is_discoverable=True):
        raise NotAsPreviewed


def hide_profile(*, by: User) -> None:
    """Switch the page off, and with it the directory: it comes back only when they say so again."""
    with transaction.atomic():
        MarketplacePublicProfile.objects.filter(user=by).update(is_discoverable=False)
        ActorProfile.objects.filter(user=by).update(discoverable=False)


def list_profile(*, by: User) -> None:
    """Let apps find them in the directory; raises NotShown where their page is off."""
    own_actor_profile(by)
    with transaction.atomic():
        shown = MarketplacePublicProfile.objects.select_for_update().filter(user=by, is_discoverable=True)
        if shown.first() is None:
            raise NotShown
        ActorProfile.objects.filter(user=by).update(discoverable=True)


def unlist_profile(*, by: User) -> None:
    """Take them out of the directory; the page stays."""
    ActorProfile.objects.filter(user=by).update(discoverable=False)


def remove_profile(*, by: User) -> None:
    """Delete all that they typed for it, and give the handle up."""
    with transaction.atomic():
        row = MarketplacePublicProfile.objects.select_for_update().filter(user=by).first()
        if row is not None:
            row.delete()
            _release(by, row.handle)
        ActorProfile.objects.filter(user=by).update(discoverable=False)
