"""Whom an app means: by its own name for a person, by an invitation of theirs, or by the handle they are listed by."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.utils import timezone

from accounts.sharing_ids.secrets import digest_of, is_sharing_id
from common.identifiers import is_identifier
from common.sql.dialect import timestamp
from developers.people.models import AppPerson

_OWN = "(SELECT d.user_id FROM app_people d WHERE d.app_id = %(app_pk)s AND d.pairwise_id = %(named)s)"
_INVITING = """
(SELECT d.user_id FROM sharing_ids d WHERE d.digest = %(named)s AND d.expires_at > %(named_at)s
    AND (d.app_id IS NULL OR d.app_id = %(app_pk)s))
"""
_LISTED = """
(SELECT d.user_id FROM marketplace_public_profiles d JOIN actor_profiles l ON l.user_id = d.user_id
  WHERE d.handle = %(named)s AND d.is_discoverable AND l.discoverable)
"""
_LONGEST_HANDLE = 32


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
        return Named(_INVITING, {**given, "named": digest_of(known)})
    return Named(_OWN, {**given, "named": known})


def names_of(user_pk: int, app_pks: Iterable[int]) -> dict[int, str]:
    """{key of an app: what it calls this person}, of those that met them."""
    met = AppPerson.objects.filter(user=user_pk, app__in=app_pks)
    return dict(met.values_list("app_id", "pairwise_id"))
