"""The page of an app's limits says what the counters say that refuse."""

from typing import Any

from django.test import Client
from django.utils import timezone

from developers.models import App
from portal.limits import Usage, usage_of
from tests.callers import Developer
from tests.consent.api.addresses import request_body
from tests.factories import ConsentRequestFactory, MemberFactory, PersonFactory, give_vault


def by_name(app: App) -> dict[str, Usage]:
    return {standing.name: standing for standing in usage_of(app)}


def test_what_is_left_is_what_the_next_answer_says(api: Developer, app: App, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR, settings.UNKNOWN_USERS_PER_HOUR = 9, 4
    people = [give_vault(PersonFactory()).user for _ in range(2)]
    assert {name: by_name(app)[name].left for name in ("requests-per-hour", "unknown-users")} == {
        "requests-per-hour": 9, "unknown-users": 4,
    }  # fmt: skip

    answers = [api.post("/request-consent", request_body(person)) for person in (*people, people[0])]
    api.get("/user-scopes/usr_nobody")

    assert [answer.status_code for answer in answers] == [201, 201, 200]
    found = by_name(app)
    assert (found["requests-per-hour"].used, found["requests-per-hour"].left) == (2, 7)
    assert '"requests-per-hour";r=7' in answers[-1]["RateLimit"]
    assert 0 < found["requests-per-hour"].resets_in <= 3600
    assert (found["unknown-users"].used, found["unknown-users"].left) == (1, 3)
    assert (found["pending-per-person"].used, found["requests-per-person"].used) == (1, 1)


def test_an_own_budget_and_switched_off_limits(app: App, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = settings.STATUS_POLL_BURST = 0
    app.request_budget = 5
    app.save()

    found = by_name(app)

    assert (found["requests-per-hour"].allowed, found["requests-per-hour"].left) == (5, 5)
    assert (found["unknown-users"].allowed, found["unknown-users"].left) == (0, None)
    assert found["status-polls"].allowed == 0
    assert found["streams-and-waits"].used is None


def test_what_waits_for_a_connection_is_counted_in_none(app: App) -> None:
    now = timezone.now()
    before = usage_of(app)
    ConsentRequestFactory(app=app, withheld=True)
    ConsentRequestFactory(app=app, withheld=True, status="denied", decided_at=now, decided_by="person")

    assert usage_of(app) == before


def test_the_page_is_for_members(app: App, api: Developer, client: Client, settings: Any) -> None:
    settings.PENDING_REQUESTS_PER_PERSON, settings.DENIAL_COOLDOWN_SECONDS = 1, 5400
    api.post("/request-consent", request_body(give_vault(PersonFactory()).user))
    path = f"/developers/apps/{app.app_id}/limits/"
    client.force_login(MemberFactory(app=app, role="member").user)

    shown = client.get(path)

    assert shown.status_code == 200
    assert "with <code>wait</code> the answer is held" in shown.content.decode()
    assert "`" not in shown.content.decode()
    assert "1 person has reached it" in shown.content.decode()
    assert "1 hour 30 minutes" in shown.content.decode()
    settings.DENIAL_COOLDOWN_SECONDS = 0
    assert "No pause" in client.get(path).content.decode()
