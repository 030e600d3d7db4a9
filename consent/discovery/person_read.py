"""The hot read of discovery and of asking: what decides whether an app may see or ask a person, in one statement.

The plain code is six reads by the ORM: the registry's version; the person with their index and vault; what they hide;
whether they block the app; whether it asked them before; how often it guessed. It is written out in
tests/consent/test_hot_reads.py, which compares the two. One statement instead takes 0.22 of the time of
`GET /user-scopes` and 0.58 of that of `POST /request-consent` (docs/adr/0019).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from django.db import OperationalError, ProgrammingError

from common import limits
from common.limits import Count
from common.sql.dialect import joined
from common.sql.statements import rows
from consent.discovery import unknown_users
from consent.errors import ScopeRegistryUnavailable
from developers.authentication import AppContext
from developers.people import named_by

# With EXISTS instead of LIMIT, PostgreSQL may choose to gather everybody whom the app ever asked first.
_PERSON = """
SELECT v.version, CASE WHEN u.is_active THEN u.id END AS user_pk, i.summary_projection, k.vault_status,
       m.used, m.resets_at,
       (SELECT 1 FROM consent_requests q WHERE q.app_id = %(app_pk)s AND q.user_id = u.id LIMIT 1) AS requested_before,
       EXISTS (SELECT 1 FROM blocked_apps b WHERE b.user_id = u.id AND b.app_id = %(app_pk)s) AS blocked,
       (SELECT p.pairwise_id FROM app_people p WHERE p.app_id = %(app_pk)s AND p.user_id = u.id
           AND p.ended_at IS NULL) AS pairwise_id,
       (SELECT {hidden} FROM hidden_scopes h WHERE h.user_id = u.id) AS hidden
  FROM pkm_registry_version v
  LEFT JOIN users u ON u.id = {named} AND {reached}
  LEFT JOIN pkm_index i ON i.user_id = u.id
  LEFT JOIN vault_keys k ON k.user_id = u.id
  LEFT JOIN rate_counts m ON m.key = %(misses)s
"""
# Whom an app reaches (contract 5.2): a live one everybody but sandbox people; a test app its own of them, and those of
# its members who agreed; a personal app whose it is. To all others it is as if nobody had that name.
_REACHED_LIVE = "NOT EXISTS (SELECT 1 FROM sandbox_people s WHERE s.user_id = u.id)"
_REACHED_IN_TESTS = """
(EXISTS (SELECT 1 FROM sandbox_people s WHERE s.user_id = u.id AND s.app_id = %(app_pk)s)
 OR EXISTS (SELECT 1 FROM app_members m
             WHERE m.user_id = u.id AND m.app_id = %(app_pk)s AND m.agreed_to_tests_at IS NOT NULL))
"""
_REACHED_BY_OWN = "u.id = (SELECT o.person_id FROM developer_apps o WHERE o.id = %(app_pk)s)"

_MISSING = ("no such table", "no such column")  # an OperationalError of SQLite, a ProgrammingError of PostgreSQL


@contextmanager
def reading_registry() -> Iterator[None]:
    """Around what reads the registry: without one of its tables or columns it is `ScopeRegistryUnavailable`."""
    try:
        yield
    except (ProgrammingError, OperationalError) as error:
        if isinstance(error, OperationalError) and not str(error).startswith(_MISSING):
            raise  # the database is away: temporarily_unavailable
        raise ScopeRegistryUnavailable() from error


@dataclass(frozen=True)
class PersonRead:
    """A person as an app meets them, all of one moment. `user_pk` is None where it reaches nobody active by that name.

    `pairwise_id` is what the app calls them, None before it first asked them.
    """

    registry_version: str
    user_pk: int | None
    pairwise_id: str | None
    holdings: str  # JSON: how many attributes of which segment
    hidden: str  # scopes, with a space between
    vault_status: str | None
    has_blocked: bool
    requested_before: bool
    misses: Count  # of the app, or of its caller where it hints at one


def read_person(*, app_pk: int, is_test: bool, name: str, hint: str, is_personal: bool = False) -> PersonRead | None:
    """Whom the app means by `name` (developers.people); None where the registry has no version, so cannot be read."""
    named = named_by(app_pk, name)
    limit = unknown_users.limit()
    misses = limits.row_key(limit, unknown_users.counter_of(app_pk, hint))
    reached = _REACHED_BY_OWN if is_personal else _REACHED_IN_TESTS if is_test else _REACHED_LIVE
    with reading_registry():
        found = rows(_statement(named.sql, reached), {**named.parameters, "app_pk": app_pk, "misses": misses})
    if not found:
        return None
    row = found[0]
    return PersonRead(
        registry_version=row["version"],
        user_pk=row["user_pk"],
        pairwise_id=row["pairwise_id"],
        holdings=row["summary_projection"] or "{}",
        hidden=row["hidden"] or "",
        vault_status=row["vault_status"],
        has_blocked=bool(row["blocked"]),
        requested_before=bool(row["requested_before"]),
        misses=limits.count_of_row(limit, row["used"], row["resets_at"]),
    )


def admit_person(app: AppContext, *, name: str, hint: str) -> tuple[PersonRead, int, Count]:
    """Whom the app means, their key, and where the limit on guessing stands then. Before the transaction, as `admit`.

    Raises `ScopeRegistryUnavailable`, `UnknownUser`, `TooManyRequests`.
    """
    person = read_person(app_pk=app.app_pk, is_test=app.is_test, is_personal=app.is_personal, name=name, hint=hint)
    if person is None:
        raise ScopeRegistryUnavailable()
    user_pk, found = unknown_users.admit(
        app_pk=app.app_pk,
        user_pk=person.user_pk,
        requested_before=person.requested_before,
        misses=person.misses,
        hint=hint,
    )
    return person, user_pk, found


@cache
def _statement(named: str, reached: str) -> str:
    return _PERSON.format(hidden=joined("h.scope"), named=named, reached=reached)
