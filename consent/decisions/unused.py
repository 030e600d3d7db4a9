"""Access that nobody uses ends by itself. Its person is told a week before, and may keep it.

A grant is looked at when its newest read may be too long ago, and not before, so that reads have nothing to do with
it: `unused_look_at` is when that is, empty is at once.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from accounts.models import User
from accounts.personas import own_actor_profile
from common.batches import one_by_one, until_done
from common.clock import database_now
from consent.errors import MoveNotAllowed, UnknownGrant
from consent.exports.models import Read
from consent.grants.actions import end_grant
from consent.grants.models import UNUSED_NOTICE, Grant, GrantQuerySet
from consent.states import Actor, GrantStatus

CHOICES = (30, 60, 180, 0)  # days without a read, of which a person chooses; 0 is never
REASON = "unused"  # the `end_reason`
_BATCH = 200
_AT_ONCE = 6.0  # seconds of one run
_RECHECK_AFTER = timedelta(days=180)  # until somebody changes their setting, which makes all of theirs due


def is_due() -> bool:
    """Whether there is a grant to look at."""
    return _due(database_now()).exists()


def end_unused() -> int:
    """Look at what is due: announce the end of what nobody reads, and end what was announced; returns how many."""
    after = 0

    def batch() -> int | None:
        nonlocal after
        some = _due(database_now()).filter(pk__gt=after).order_by("pk")
        pks = list(some.values_list("pk", flat=True)[:_BATCH])
        if not pks:
            return None
        after = pks[-1]
        return one_by_one(pks, _look, what="the grants that may be unused", most_seconds=_AT_ONCE)

    return until_done(batch, most_seconds=_AT_ONCE)


def _due(now: datetime) -> GrantQuerySet:
    """The active ones: what its person paused is not read, and does not end for it."""
    return Grant.objects.live(now).active().filter(Q(unused_look_at__isnull=True) | Q(unused_look_at__lte=now))


@transaction.atomic
def _look(grant_pk: int) -> int:
    """1 where it ended or its end was announced."""
    locked = _due(database_now()).select_for_update(skip_locked=True, of=("self",), no_key=True)
    grant = locked.select_related("user").filter(pk=grant_pk).first()
    if grant is None:
        return 0
    now = database_now()  # whoever reads waits for the lock: what was read before it is seen here
    unread_at = _unread_at(grant, own_actor_profile(grant.user).unused_days)
    if unread_at is None or unread_at > now:
        _keep(grant, until=unread_at or now + _RECHECK_AFTER)
        return 0
    if grant.unused_ends_at is None:
        ends_at = now + UNUSED_NOTICE
        # what ends by its own time before that is told of as such
        announced = {"unused_ends_at": ends_at} if ends_at < grant.expires_at else {}
        Grant.objects.filter(pk=grant_pk).update(unused_look_at=ends_at, **announced)
        return len(announced)
    if grant.unused_ends_at > now:
        Grant.objects.filter(pk=grant_pk).update(unused_look_at=grant.unused_ends_at)
        return 0
    return end_grant(grant_pk=grant_pk, to=GrantStatus.REVOKED, actor=Actor.SYSTEM, at=now, reason=REASON)


def _unread_at(grant: Grant, days: int) -> datetime | None:
    """When its end is announced unless somebody reads it; None where its person lets it be unread for ever."""
    if not days:
        return None
    newest = Read.objects.filter(grant=grant).order_by("-at").values_list("at", flat=True).first()
    return max(newest or grant.starts_at, grant.starts_at) + timedelta(days=days) - UNUSED_NOTICE


def _keep(grant: Grant, *, until: datetime) -> None:
    Grant.objects.filter(pk=grant.pk).update(unused_look_at=until, unused_ends_at=None, unused_mailed_at=None)


@transaction.atomic
def keep_unused(*, grant_id: str, by: User) -> str:
    """The person wants it to go on, read or not, for as long again; returns the app's id.

    Raises `UnknownGrant`, and `MoveNotAllowed` where it has ended.
    """
    locked = Grant.objects.select_for_update(of=("self",), no_key=True).select_related("app")
    grant = locked.filter(grant_id=grant_id, user=by).first()
    if grant is None:
        raise UnknownGrant
    now = database_now()
    if not grant.is_live(now):
        raise MoveNotAllowed(grant_status=grant.status_at(now))
    days = own_actor_profile(by).unused_days
    _keep(grant, until=now + (timedelta(days=days) - UNUSED_NOTICE if days else _RECHECK_AFTER))
    return grant.app.app_id


@transaction.atomic
def choose_unused_days(*, by: User, days: int) -> None:
    """After how many days without a read access ends; one of `CHOICES`. What is announced is looked at anew."""
    if days not in CHOICES:
        raise ValueError(days)
    profile = own_actor_profile(by)
    profile.unused_days = days
    profile.save(update_fields=["unused_days", "updated_at"])
    of_theirs = Grant.objects.live(database_now()).filter(user=by)
    of_theirs.update(unused_look_at=None, unused_ends_at=None, unused_mailed_at=None)
