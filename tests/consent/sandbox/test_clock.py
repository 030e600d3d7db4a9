"""A sandbox person's time passes at once: what is near its end ends, as it would by the clock."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from common.clock import database_now, rfc3339
from consent.decisions import expiry
from consent.ledger import verifying
from consent.ledger.models import Receipt
from consent.notices.models import Notice
from developers.models import App
from tests.callers import Developer
from tests.consent.sandbox.conftest import of
from tests.factories import ConsentRequestFactory, ExportFactory, SandboxPersonFactory, WebhookEndpointFactory

HOUR = 3600


def move(api: Developer, person: User, seconds: Any) -> Any:
    return api.post(of(person, "/clock"), {"seconds": seconds})


def test_what_is_within_reach_ends_and_what_lies_further_does_not(api: Developer, app: App, played: User) -> None:
    now = database_now()
    near, far = (
        ConsentRequestFactory(app=app, user=played, expires_at=now + timedelta(seconds=left))
        for left in (HOUR, 3 * HOUR)
    )
    grants = [
        ExportFactory(
            grant__request__app=app, grant__request__user=played, grant__request__scope=scope, grant__status=status,
            grant__expires_at=now + timedelta(seconds=left),
        ).grant
        for scope, status, left in (
            ("attr.lifestyle.*", "active", HOUR),
            ("attr.lifestyle.fitness.*", "paused", HOUR),
            ("attr.lifestyle.shopping.*", "active", 3 * HOUR),
        )
    ]  # fmt: skip
    other = ConsentRequestFactory(
        app=app, user=SandboxPersonFactory(app=app).user, expires_at=now + timedelta(seconds=HOUR)
    )
    before = [row.expires_at for row in (near, far, *grants)]

    answer = move(api, played, 2 * HOUR)

    for row in (near, far, other, *grants):
        row.refresh_from_db()
    assert (answer.status_code, answer.json()) == (200, {})
    assert [near.status, far.status, other.status] == ["expired", "pending", "pending"]
    assert [grant.status for grant in grants] == ["expired", "expired", "active"]
    assert [grant.exports.get().ciphertext is None for grant in grants] == [True, True, False]
    assert [row.expires_at for row in (near, far, *grants)] == before


def test_it_is_told_and_proved_as_a_real_expiry_is(api: Developer, app: App, played: User) -> None:
    WebhookEndpointFactory(app=app)
    ends = database_now() + timedelta(seconds=HOUR)
    moved = ConsentRequestFactory(app=app, user=played, expires_at=ends)
    real = ConsentRequestFactory(
        app=app, user=played, scope="attr.lifestyle.*", created_at=ends - timedelta(days=2),
        expires_at=ends - timedelta(hours=2),
    )  # fmt: skip

    expiry.write_down_expiry()
    move(api, played, 2 * HOUR)

    statuses = [api.get("/consent-status", request_id=request.request_id).json() for request in (real, moved)]
    assert [status["decided_at"] for status in statuses] == [rfc3339(real.expires_at), rfc3339(ends)]
    assert [status["status"] for status in statuses] == ["expired", "expired"]
    assert list(Notice.objects.values_list("kind", flat=True)) == ["consent.expired"] * 2
    receipts = [Receipt.objects.get(request=request) for request in (real, moved)]
    assert [receipt.event for receipt in receipts] == ["expired", "expired"]
    assert list(verifying.verify()) == []


def test_it_is_moved_twice_and_ends_nothing_twice(api: Developer, app: App, played: User) -> None:
    ConsentRequestFactory(app=app, user=played)

    assert [move(api, played, 90 * 86400).status_code for _ in range(2)] == [200, 200]
    assert Notice.objects.count() == 1


def test_what_is_asked_afterwards_has_its_whole_time(api: Developer, app: App, played: User) -> None:
    move(api, played, 90 * 86400)
    request = ConsentRequestFactory(app=app, user=played)

    assert api.get("/consent-status", request_id=request.request_id).json()["status"] == "pending"


@pytest.mark.parametrize("seconds", [0, -1, 1.5, "60", None, True, 10**12])
def test_no_other_time_is_taken(api: Developer, app: App, played: User, seconds: Any) -> None:
    waiting = ConsentRequestFactory(app=app, user=played)

    assert move(api, played, seconds).json()["code"] == "invalid_request"
    waiting.refresh_from_db()
    assert waiting.status == "pending"
