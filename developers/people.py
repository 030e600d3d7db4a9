"""What each app calls the people whom it met."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db import models
from django.utils import timezone

from accounts.identifiers import new_user_id
from accounts.sharing_id import is_sharing_id, use_sharing_id
from common.identifiers import is_identifier, secret_digest
from common.sql.dialect import timestamp

_OWN = (
    "(SELECT d.user_id FROM app_people d WHERE d.app_id = %(app_pk)s AND d.pairwise_id = %(named)s "
    "AND d.ended_at IS NULL)"
)
_INVITING = """
(SELECT d.user_id FROM sharing_ids d WHERE d.digest = %(named)s AND d.expires_at > %(named_at)s
    AND (d.app_id IS NULL OR d.app_id = %(app_pk)s))
"""
_LISTED = """
(SELECT d.user_id FROM marketplace_public_profiles d JOIN actor_profiles l ON l.user_id = d.user_id
  WHERE d.handle = %(named)s AND d.is_discoverable AND l.discoverable)
"""
_LONGEST_HANDLE = 32


class AppPerson(models.Model):
    """One app's own name for one person, its `user_id`: 128 random bits that no other app has, made at first contact.

    Nothing leads from one to another but this table. A sandbox person's is their own, since one app alone reaches them.
    """

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="people", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="known_to_apps")
    pairwise_id = models.CharField(max_length=64, unique=True, editable=False, default=new_user_id)
    connected_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)  # one of the two ended it: the name names nobody until they meet anew

    class Meta:
        db_table = "app_people"
        constraints = [models.UniqueConstraint(fields=["app", "user"], name="app_person_once")]


class Named(NamedTuple):
    """The key of the person whom an app names, as an expression in SQL that is NULL for nobody, and its parameters."""

    sql: str
    parameters: dict[str, Any]


def named_by(app_pk: int, name: str) -> Named:
    """`name` is the app's own `user_id`, a sharing ID that serves it or may, or `@` and the handle of somebody listed.

    Whatever another app calls somebody is nobody's name here. There are as many expressions as ways of naming.
    """
    given = {"app_pk": app_pk, "named_at": timestamp(timezone.now())}
    if name.startswith("@"):
        return Named(_LISTED, {**given, "named": name[1 : _LONGEST_HANDLE + 2] if name.isascii() else ""})
    known = name if is_identifier(name) else ""  # what cannot be a name is nobody's, and never reaches the database
    if is_sharing_id(known):
        return Named(_INVITING, {**given, "named": secret_digest(known)})
    return Named(_OWN, {**given, "named": known})


def names_of(user_pk: int, app_pks: Iterable[int]) -> dict[int, str]:
    """{key of an app: what it calls this person}, of those that met them."""
    met = AppPerson.objects.filter(user=user_pk, app__in=app_pks)
    return dict(met.values_list("app_id", "pairwise_id"))


def pairwise_id_for(*, app_pk: int, user_pk: int, named: str) -> str | None:
    """What the app calls this person, from the first time on; `named` is how it named them this time.

    A sharing ID serves this app from then on: None where it ended meanwhile, or another app used it first. In the
    transaction of what the app does; of two that meet at once the second finds the name that the first made.
    """
    if is_sharing_id(named) and not use_sharing_id(named, app_pk=app_pk):
        return None
    new = AppPerson(app_id=app_pk, user_id=user_pk, pairwise_id=new_user_id())
    known = AppPerson.objects.filter(app=app_pk, user=user_pk)
    found = known.first()
    if found is None:
        AppPerson.objects.bulk_create([new], ignore_conflicts=True)
        found = known.get()
    if found.ended_at is not None:
        known.update(ended_at=None)
    return found.pairwise_id


def end_pairwise_id(*, app_pk: int, user_pk: int, at: datetime) -> bool:
    """The app's name for this person names nobody any more; False where it named nobody before."""
    return bool(AppPerson.objects.filter(app=app_pk, user=user_pk, ended_at=None).update(ended_at=at))
