"""What the checks of a new request need to know of the app, the person and its earlier requests, in one statement.

What is withheld from the app until it completes a connection counts in none of it: it would tell who connected.
The plain code is five reads by the ORM: the registry's version; the app's name, what its application says becomes of
the data and whether the person blocks it; the person's own rules, and when it asked last within a week; a count of the
requests of a day and when the first was made; those that are pending or were denied lately. It is written out in
tests/consent/test_hot_reads.py, which compares the two. One statement instead takes 0.61 of the time of
`POST /request-consent` (docs/adr/0019).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from common.clock import utc
from common.sql.dialect import clock, timestamp
from common.sql.statements import rows
from consent.requests.receipt_claims import handling_of
from consent.states import RequestStatus, effective_request_status

DAY, WEEK = timedelta(days=1), timedelta(days=7)
_MARGIN = timedelta(minutes=1)  # by which this process's clock may be ahead of the database's, which decides
_RECENT = """
SELECT {clock} AS now, v.version, a.name AS app_name,
       EXISTS (SELECT 1 FROM blocked_apps b WHERE b.user_id = %(user_pk)s AND b.app_id = %(app_pk)s) AS blocked,
       o.only_checked_since IS NOT NULL AND NOT a.verified AS kept_away,
       (SELECT max(l.created_at) FROM consent_requests l WHERE o.weekly_since IS NOT NULL AND l.user_id = o.user_id
         AND l.app_id = a.id AND NOT l.withheld AND l.created_at > %(week)s) AS last_of_week,
       r.id, r.scope, r.status, r.connector_thumbprint, r.expires_at, r.decided_at, r.withheld, d.made, d.first_at,
       coalesce(f.recipients, '') AS recipients, coalesce(f.storage_place, '') AS location,
       coalesce(f.retention, '') AS retention, coalesce(f.jurisdiction, '') AS jurisdiction
  FROM pkm_registry_version v
  JOIN developer_apps a ON a.id = %(app_pk)s
  LEFT JOIN developer_applications f ON f.id = a.application_id
  LEFT JOIN own_rules o ON o.user_id = %(user_pk)s
 CROSS JOIN (SELECT count(*) AS made, min(n.created_at) AS first_at FROM consent_requests n
              WHERE n.user_id = %(user_pk)s AND n.app_id = %(app_pk)s AND NOT n.withheld AND n.created_at > %(day)s) d
  LEFT JOIN consent_requests r ON r.user_id = %(user_pk)s AND r.app_id = %(app_pk)s
   AND (r.status = 'pending' {denied})
"""
_HANDLING = ("recipients", "location", "retention", "jurisdiction")
_DENIED = "OR (r.status = 'denied' AND NOT r.withheld AND r.decided_at > %(denied)s)"


class RecentRequest(NamedTuple):
    """A request that the person has not decided, or denied."""

    pk: int
    scope: str
    status: str
    connector_thumbprint: str
    expires_at: datetime
    decided_at: datetime | None
    withheld: bool

    def is_pending(self, now: datetime) -> bool:
        """Whether it can still be decided at `now`."""
        return effective_request_status(self.status, self.expires_at, now) is RequestStatus.PENDING


@dataclass(frozen=True)
class RecentRequests:
    """What an app asked of a person lately, and what it was asked under, at one moment of the database's clock."""

    now: datetime
    registry_version: str
    app_name: str
    handling: dict[str, Any]
    has_blocked: bool
    is_kept_away: bool  # by the person's rule that only checked apps ask
    last_of_week: datetime | None  # when the app asked last, where they let it once a week
    made: int  # new requests of the last 24 hours, by this process's clock: a few seconds at their edge decide nothing
    first_at: datetime | None  # when the first of those was made
    undecided: tuple[RecentRequest, ...]  # pending ones, whose time may be over all the same
    denied: tuple[RecentRequest, ...]  # within DENIAL_COOLDOWN_SECONDS, and those of a moment before

    @property
    def pending(self) -> list[RecentRequest]:
        return [request for request in self.undecided if request.is_pending(self.now) and not request.withheld]


def read_recent(*, app_pk: int, user_pk: int) -> RecentRequests | None:
    """None where the registry has no version, or the app is gone."""
    at, now = clock(), timezone.now()
    cooldown = timedelta(seconds=settings.DENIAL_COOLDOWN_SECONDS)
    given = {
        "app_pk": app_pk,
        "user_pk": user_pk,
        "day": timestamp(now - DAY),
        "week": timestamp(now - WEEK - _MARGIN),
        **at.parameters,
    }
    if cooldown:
        given["denied"] = timestamp(now - cooldown - _MARGIN)
    found = rows(_RECENT.format(clock=at.sql, denied=_DENIED if cooldown else ""), given)
    if not found:
        return None
    first = found[0]
    requests = [_request(row) for row in found if row["id"] is not None]
    return RecentRequests(
        now=utc(first["now"]),
        registry_version=first["version"],
        app_name=first["app_name"],
        handling=handling_of(**{name: first[name] for name in _HANDLING}),
        has_blocked=bool(first["blocked"]),
        is_kept_away=bool(first["kept_away"]),
        last_of_week=utc(first["last_of_week"]),
        made=first["made"],
        first_at=utc(first["first_at"]),
        undecided=tuple(request for request in requests if request.status == RequestStatus.PENDING),
        denied=tuple(request for request in requests if request.status == RequestStatus.DENIED),
    )


def _request(row: Mapping[str, Any]) -> RecentRequest:
    return RecentRequest(
        pk=row["id"],
        scope=row["scope"],
        status=row["status"],
        connector_thumbprint=row["connector_thumbprint"],
        expires_at=utc(row["expires_at"]),
        decided_at=utc(row["decided_at"]),
        withheld=bool(row["withheld"]),
    )
