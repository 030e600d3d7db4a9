"""Giving out a sharing ID, putting another in its place, switching it off, and its one use."""

from typing import TYPE_CHECKING

from django.db.models import Q

from accounts.models import SharingId
from accounts.sharing_ids.secrets import LASTS, digest_of, new_sharing_id
from common import encryption
from common.clock import database_now
from common.limits import Limit, count
from common.problems import TooManyRequests
from common.sql.dialect import ClockTimestamp

if TYPE_CHECKING:
    from accounts.models import User

_MADE = Limit("sharing-ids", 60, 3600)  # whoever makes more is no person who invites apps


def make_sharing_id(*, by: "User") -> None:
    """A new one, which any one app may use. The one before it ends at once, whomever it served.

    An app that used it goes on knowing the person by its own name for them. Raises `TooManyRequests`.
    """
    made = count(_MADE, by.public_id)
    if made.exceeded:
        raise TooManyRequests(headers={"Retry-After": str(made.resets_in)}, limits=[made])
    sharing_id, now = new_sharing_id(), database_now()
    new = {
        "digest": digest_of(sharing_id),
        "sealed": encryption.sealed(sharing_id),
        "app": None,
        "made_at": now,
        "expires_at": now + LASTS,
    }
    SharingId.objects.update_or_create(user=by, defaults=new)


def end_sharing_id(*, by: "User") -> None:
    """Switch it off: no app can use it any more, and there is none until the person makes another."""
    SharingId.objects.filter(user=by).delete()


def use_sharing_id(sharing_id: str, *, app_pk: int) -> bool:
    """Let it serve this app and no other from now on; False where it ended, or another app was faster.

    In the transaction of what it is used for: who uses it at the same moment waits for that here.
    """
    free = Q(app=None) | Q(app=app_pk)
    live = SharingId.objects.filter(free, digest=digest_of(sharing_id), expires_at__gt=ClockTimestamp())
    return bool(live.update(app=app_pk))
