"""How many new requests an app may make: of one person in a day, of everybody in an hour (contract 1.3)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as configured

from common import limits
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from tests.callers import Developer
from tests.consent.api.addresses import ANOTHERS, problem, request_body
from tests.factories import AppFactory, ConsentRequestFactory, PersonFactory, Vault, give_vault, known_as


@pytest.fixture(autouse=True, params=["database", "redis"])
def _counted_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both places that the app's budget is counted in, where this run has the second."""
    if request.param == "database":
        monkeypatch.setattr(configured, "REDIS_URL", "")
    elif not configured.REDIS_URL:
        pytest.skip("REDIS_URL is not set")


def fresh_key() -> dict[str, Any]:
    return sealed.public_half(sealed.generate_connector_key())


def ask_and_cancel(api: Developer, vault: Vault) -> Any:
    answer = api.post("/request-consent", request_body(vault.user))
    if answer.status_code == 201:
        assert api.post("/end-consent", {"request_id": answer.json()["request_id"]}).status_code == 200
    return answer


def rate_limits(answer: Any) -> dict[str, int]:
    """What `RateLimit` says is left, by policy."""
    items = (item.strip().split(";") for item in answer["RateLimit"].split(","))
    return {item[0].strip('"'): int(item[1].removeprefix("r=")) for item in items}


def test_what_an_app_takes_back_counts_too(api: Developer, vault: Vault, settings: Any) -> None:
    settings.REQUESTS_PER_PERSON_PER_DAY = 3

    pairs = [ask_and_cancel(api, vault) for _ in range(5)]

    assert [answer.status_code for answer in pairs] == [201, 201, 201, 429, 429]
    assert problem(pairs[3]) == (429, "request_budget_spent")
    assert 86390 <= int(pairs[3]["Retry-After"]) <= 86401
    assert ConsentRequest.objects.count() == 3
    other = give_vault(PersonFactory())
    assert api.post("/request-consent", request_body(other.user)).status_code == 201
    another = Developer.of(AppFactory())
    theirs = request_body(vault.user, user_id=known_as(another.app, vault.user), **ANOTHERS)
    assert another.post("/request-consent", theirs).status_code == 201


def test_by_default_it_is_twenty_a_day(api: Developer, vault: Vault) -> None:
    made = datetime.now(UTC).replace(microsecond=0)
    for _ in range(19):
        ConsentRequestFactory(app=api.app, user=vault.user, status="cancelled", created_at=made)

    assert [ask_and_cancel(api, vault).status_code for _ in range(2)] == [201, 429]


def test_a_day_later_there_is_room(api: Developer, vault: Vault, settings: Any) -> None:
    settings.REQUESTS_PER_PERSON_PER_DAY = 2
    made = datetime.now(UTC).replace(microsecond=0)
    for ago in (timedelta(hours=24, seconds=1), timedelta(hours=23)):
        ConsentRequestFactory(app=api.app, user=vault.user, status="cancelled", created_at=made - ago)

    first, second = ask_and_cancel(api, vault), ask_and_cancel(api, vault)

    assert (first.status_code, problem(second)) == (201, (429, "request_budget_spent"))
    assert 3590 <= int(second["Retry-After"]) <= 3601


def test_an_app_has_a_budget_for_everybody_together(api: Developer, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = 2
    people = [give_vault(PersonFactory()).user for _ in range(3)]

    answers = [api.post("/request-consent", request_body(person)) for person in people]

    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert problem(answers[2]) == (429, "request_budget_spent")
    assert 3590 <= int(answers[2]["Retry-After"]) <= 3600
    another = Developer.of(AppFactory())
    theirs = request_body(people[2], user_id=known_as(another.app, people[2]), **ANOTHERS)
    assert another.post("/request-consent", theirs).status_code == 201


@pytest.mark.parametrize(("own", "passing"), [(1, 1), (3, 3), (0, 4), (None, 2)])
def test_staff_can_give_an_app_a_budget_of_its_own(own: int | None, passing: int, settings: Any, db: None) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = 2
    api = Developer.of(AppFactory(request_budget=own))
    people = [give_vault(PersonFactory()).user for _ in range(4)]

    answers = [api.post("/request-consent", request_body(person)).status_code for person in people]

    assert answers == [201] * passing + [429] * (4 - passing)


def test_only_new_requests_spend(api: Developer, vault: Vault, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = 3
    settings.REQUESTS_PER_PERSON_PER_DAY = 3
    key = {"Idempotency-Key": "once"}
    assert api.post("/request-consent", request_body(vault.user), headers=key).status_code == 201

    unspending = [
        api.post("/request-consent", request_body(vault.user), headers=key),  # replayed
        api.post("/request-consent", request_body(vault.user)),  # identical
        api.post("/request-consent", request_body(vault.user, purpose="Something else")),  # one that differs waits
        api.post("/request-consent", request_body(vault.user, max_reads=0)),
        api.post("/request-consent", request_body(vault.user, scope="attr.nonsense.*")),
        api.post("/request-consent", request_body(vault.user, user_id="usr_unknown")),
        api.post("/request-consent", {}),
        api.send("POST", "/request-consent", b"{"),
    ]

    assert [answer.status_code for answer in unspending] == [201, 200, 409, 400, 400, 404, 400, 400]
    assert {rate_limits(answer)["requests-per-hour"] for answer in unspending} == {2}
    last = api.post("/request-consent", request_body(vault.user, connector_public_key=fresh_key()))
    assert (last.status_code, rate_limits(last)["requests-per-hour"], rate_limits(last)["requests-per-person"]) == (
        201, 1, 1,
    )  # fmt: skip


def test_what_is_found_again_is_answered_when_the_budget_is_spent(api: Developer, vault: Vault, settings: Any) -> None:
    """A lost answer can be asked for again, though its request was the last that the budget allowed."""
    settings.REQUEST_BUDGET_PER_HOUR = settings.REQUESTS_PER_PERSON_PER_DAY = 1
    key = {"Idempotency-Key": "once"}
    first = api.post("/request-consent", request_body(vault.user), headers=key)
    assert first.status_code == 201

    replayed, identical, unfit, new = (
        api.post("/request-consent", request_body(vault.user), headers=key),
        api.post("/request-consent", request_body(vault.user)),
        api.post("/request-consent", request_body(vault.user, max_reads=0)),
        api.post("/request-consent", request_body(vault.user, connector_public_key=fresh_key())),
    )

    assert (replayed.status_code, replayed.json()) == (201, first.json())
    assert (identical.status_code, identical.json()["request_id"]) == (200, first.json()["request_id"])
    assert problem(unfit) == (400, "invalid_request")
    assert problem(new) == (429, "request_budget_spent")


def test_what_breaks_after_it_was_counted_gives_it_back(
    api: Developer, vault: Vault, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = 1

    def broken(request: ConsentRequest, **given: Any) -> None:
        raise ValueError("no row")

    with monkeypatch.context() as breaking:
        breaking.setattr(ConsentRequest, "save", broken)
        with pytest.raises(ValueError, match="no row"):
            api.post("/request-consent", request_body(vault.user))

    assert api.post("/request-consent", request_body(vault.user)).status_code == 201


def test_other_refusals_come_first_and_spend_nothing(api: Developer, vault: Vault, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = settings.REQUESTS_PER_PERSON_PER_DAY = 1
    ConsentRequestFactory(app=api.app, user=vault.user, scope="attr.lifestyle.*", status="denied")

    denied = api.post("/request-consent", request_body(vault.user))
    settings.DENIAL_COOLDOWN_SECONDS = 0
    spent = api.post("/request-consent", request_body(vault.user))

    assert (problem(denied), problem(spent)) == ((429, "recently_denied"), (429, "request_budget_spent"))
    assert rate_limits(spent) == {
        "unknown-users": 30, "pending-per-person": 5, "requests-per-person": 0, "requests-per-hour": 1,
    }  # fmt: skip


def test_zero_turns_a_budget_off(api: Developer, vault: Vault, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR = settings.REQUESTS_PER_PERSON_PER_DAY = 0

    answers = [ask_and_cancel(api, vault) for _ in range(25)]

    assert {answer.status_code for answer in answers} == {201}
    assert set(rate_limits(answers[-1])) == {"unknown-users", "pending-per-person"}


def test_every_answer_says_what_is_left(api: Developer, vault: Vault, settings: Any) -> None:
    answer = api.post("/request-consent", request_body(vault.user))

    assert answer["RateLimit-Policy"] == (
        '"unknown-users";q=30;w=3600, "pending-per-person";q=5, "requests-per-person";q=20;w=86400, '
        '"requests-per-hour";q=1000;w=3600'
    )
    assert rate_limits(answer) == {
        "unknown-users": 30, "pending-per-person": 4, "requests-per-person": 19, "requests-per-hour": 999,
    }  # fmt: skip
    assert ";t=3600" in answer["RateLimit"]


@pytest.mark.parametrize("without", ["token", "permission"])
def test_who_is_not_let_in_is_told_of_no_limit(without: str, api: Developer, vault: Vault) -> None:
    caller = api if without == "token" else Developer.of(api.app, permissions=["read"])
    headers = {"Authorization": "Bearer nonsense"} if without == "token" else {}

    answer = caller.post("/request-consent", request_body(vault.user), headers=headers)

    assert answer.status_code in (401, 403)
    assert answer.has_header("RateLimit") == (without == "permission")


def test_a_count_that_is_taken_back_never_goes_below_nothing(db: None) -> None:
    limit = limits.Limit("any", 2, 60)
    limits.undo(limit, "nobody")

    assert limits.count(limit, "nobody").used == 1
