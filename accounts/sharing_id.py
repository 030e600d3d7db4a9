"""The sharing ID: an invitation that a person gives out, so that one app may ask them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.apps import apps
from django.db.models import Q, QuerySet

from accounts.models import SharingId, User
from common import encryption
from common.clock import database_now
from common.identifiers import new_identifier, secret_digest
from common.limits import Limit, count
from common.problems import TooManyRequests
from common.sql.dialect import ClockTimestamp

_PREFIX = "sh"
LASTS = timedelta(days=7)
_MADE = Limit("sharing-ids", 60, 3600)  # whoever makes more is no person who invites apps


def new_sharing_id() -> str:
    """For example `sh_t2zp3gog7m6odtqhjuqhpevyku`."""
    return new_identifier(_PREFIX)


def is_sharing_id(name: str) -> bool:
    """Whether this could be one, and nothing else."""
    return name.startswith(f"{_PREFIX}_")


@dataclass(frozen=True)
class ShownSharingId:
    """The invitation as its person sees it. `app_name` is whom it serves, "" while it is still open to any one app.

    `app_domain` is the domain that this app proved, "" where it proved none.
    """

    sharing_id: str
    expires_at: datetime
    app_name: str
    app_domain: str
    is_over: bool


class NoSuchApp(Exception):
    """No app that may ask people is called that; or more than one is, where `is_ambiguous`."""

    def __init__(self, *, is_ambiguous: bool) -> None:
        super().__init__("several apps are called that" if is_ambiguous else "no app is called that")
        self.is_ambiguous = is_ambiguous


def sharing_id_of(user: User) -> ShownSharingId | None:
    """None where they gave out none, switched it off, or it was kept under a key that this server lost."""
    row = SharingId.objects.select_related("app").filter(user=user).first()
    if row is None:
        return None
    try:
        sharing_id = encryption.opened(row.sealed)
    except encryption.DecryptionFailed:
        return None
    app_name, app_domain = (row.app.name, row.app.proved_domain) if row.app else ("", "")
    return ShownSharingId(sharing_id, row.expires_at, app_name, app_domain, row.expires_at <= database_now())


def make_sharing_id(*, by: User, for_app: str = "") -> None:
    """A new one. The one before it ends at once, whomever it served.

    It serves the app of this name, proved domain or ID, and where none is given the first that uses it. An app that
    used the one before goes on knowing the person by its own name for them. Raises `TooManyRequests` and `NoSuchApp`.
    """
    made = count(_MADE, by.public_id)
    if made.exceeded:
        raise TooManyRequests(headers={"Retry-After": str(made.resets_in)}, limits=[made])
    app_pk = _app_called(for_app) if for_app else None
    sharing_id, now = new_sharing_id(), database_now()
    new = {
        "digest": secret_digest(sharing_id),
        "sealed": encryption.sealed(sharing_id),
        "app_id": app_pk,
        "made_at": now,
        "expires_at": now + LASTS,
    }
    SharingId.objects.update_or_create(user=by, defaults=new)


def _app_called(name: str) -> int:
    """Names of test apps are looked at by nobody, so that those are found by their ID alone."""
    named = Q(mode="live") & (Q(name__iexact=name) | Q(proved_domain=name.lower()))
    found = apps.get_model("developers", "App").objects.filter(named | Q(app_id=name), status="active")
    keys: list[int] = list(found.values_list("pk", flat=True)[:2])
    if len(keys) != 1:
        raise NoSuchApp(is_ambiguous=bool(keys))
    return keys[0]


def end_sharing_id(*, by: User) -> None:
    """Switch it off: no app can use it any more, and there is none until the person makes another."""
    SharingId.objects.filter(user=by).delete()


def served_by(sharing_id: str, *, app_pk: int) -> QuerySet[SharingId]:
    """The row of this sharing ID where it serves this app, and has not ended."""
    return SharingId.objects.filter(app=app_pk, digest=secret_digest(sharing_id), expires_at__gt=ClockTimestamp())


def use_sharing_id(sharing_id: str, *, app_pk: int) -> bool:
    """Let it serve this app and no other from now on; False where it ended, or another app was faster.

    In the transaction of what it is used for: who uses it at the same moment waits for that here.
    """
    free = Q(app=None) | Q(app=app_pk)
    live = SharingId.objects.filter(free, digest=secret_digest(sharing_id), expires_at__gt=ClockTimestamp())
    return bool(live.update(app=app_pk))
