"""One answer to where a request or a grant stands: of one, of many, and in SQL."""

import re
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection

from common.sql.statements import rows
from consent import status
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent.states import (
    LIVE_GRANTS,
    GrantStatus,
    RequestStatus,
    effective_grant_status,
    effective_request_status,
    effective_request_status_sql,
)
from tests.factories import ConsentRequestFactory, GrantFactory
from tests.factories.consent_requests import now

SECOND = timedelta(seconds=1)
AROUND = (-SECOND, timedelta(0), SECOND)


@pytest.fixture
def moment() -> datetime:
    return now()


@pytest.mark.parametrize(
    ("ends", "pending", "active", "paused"),
    [
        (-SECOND, RequestStatus.EXPIRED, GrantStatus.EXPIRED, GrantStatus.EXPIRED),
        (timedelta(0), RequestStatus.EXPIRED, GrantStatus.EXPIRED, GrantStatus.EXPIRED),
        (SECOND, RequestStatus.PENDING, GrantStatus.ACTIVE, GrantStatus.PAUSED),
    ],
)
def test_the_clock_ends_what_waits_and_what_lives(
    moment: datetime, ends: timedelta, pending: RequestStatus, active: GrantStatus, paused: GrantStatus
) -> None:
    assert effective_request_status("pending", moment + ends, moment) is pending
    assert effective_grant_status("active", moment + ends, moment) is active
    assert effective_grant_status("paused", moment + ends, moment) is paused


@pytest.mark.parametrize("ends", AROUND)
def test_the_clock_leaves_what_was_decided(moment: datetime, ends: timedelta) -> None:
    decided = [written for written in RequestStatus if written is not RequestStatus.PENDING]
    ended = [written for written in GrantStatus if written not in LIVE_GRANTS]

    assert [effective_request_status(written, moment + ends, moment) for written in decided] == decided
    assert [effective_grant_status(written, moment + ends, moment) for written in ended] == ended


def test_requests_are_found_by_where_they_stand(db: None, moment: datetime) -> None:
    for written in RequestStatus:
        for ends in AROUND:
            ConsentRequestFactory(status=written, created_at=moment - timedelta(days=1), expires_at=moment + ends)
    every = {request.pk: request for request in ConsentRequest.objects.all()}
    standing = {key: request.status_at(moment) for key, request in every.items()}
    pending = {key for key, stands in standing.items() if stands is RequestStatus.PENDING}
    overdue = {key for key, stands in standing.items() if stands != every[key].status}

    assert (len(pending), len(overdue)) == (1, 2)
    assert {request.pk for request in ConsentRequest.objects.pending(moment)} == pending
    assert {request.pk for request in ConsentRequest.objects.overdue(moment)} == overdue
    assert {row["id"]: status.request_status(row, moment) for row in rows(status.SELECT, [])} == standing
    for stands in RequestStatus:
        bound = {"now": connection.ops.adapt_datetimefield_value(moment)}
        found = rows(f"{status.SELECT} WHERE {effective_request_status_sql(stands)}", bound)
        assert {row["id"] for row in found} == {key for key, one in standing.items() if one is stands}


def test_grants_are_found_by_where_they_stand(db: None, moment: datetime) -> None:
    for written in GrantStatus:
        for ends in AROUND:
            GrantFactory(status=written, starts_at=moment - timedelta(days=1), expires_at=moment + ends)
    every = {grant.pk: grant for grant in Grant.objects.all()}
    standing = {key: grant.status_at(moment) for key, grant in every.items()}
    live = {key for key, stands in standing.items() if stands in LIVE_GRANTS}
    overdue = {key for key, stands in standing.items() if stands != every[key].status}

    assert (len(live), len(overdue)) == (2, 4)
    assert {grant.pk for grant in Grant.objects.live(moment)} == live
    assert {key for key, grant in every.items() if grant.is_live(moment)} == live
    assert {grant.pk for grant in Grant.objects.overdue(moment)} == overdue
    by_name = {grant.grant_id: standing[grant.pk] for grant in every.values()}
    assert {row["grant_id"]: status.grant_status(row, moment) for row in rows(status.SELECT, [])} == by_name


# where a deadline may be compared with the clock: the rule, the querysets that say the same, and what is another matter
COMPARING = {
    "states.py",
    "requests/models.py",
    "grants/models.py",
    "exports/reads.py",  # a read is counted by the clock of the database
    "mail/actions.py",  # which ends come near
    "decisions/expiry.py",  # where the next batch of what is over begins, compared with the last row of the one before
    "decisions/unused.py",  # whether it ends by itself before the end that nobody's reading brings
    "web/overview.py",  # which ends come near
    "connections/models.py",  # the same rule for connections, which have deadlines of their own
    "connections/actions.py",  # how long one that was opened waits at least
}


def test_nobody_else_compares_a_deadline_with_the_clock() -> None:
    room = settings.ROOT / "consent"
    compares = re.compile(r"expires_at(__(gt|lt)e?\b|\"?\]?\)? *[<>]=? )|[<>]=? *[a-z_.]*expires_at")
    found = {
        str(path.relative_to(room))
        for path in room.rglob("*.py")
        if "migrations" not in path.parts and compares.search(path.read_text())
    }

    assert found == COMPARING
