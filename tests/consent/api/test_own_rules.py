"""What a person lets no app do: the answers that an app gets, and what the person's page counts."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from common.clock import database_now
from consent.requests import own_rules
from consent.requests.models import ConsentRequest, OwnRules
from consent_bridge import sealed
from tests.callers import Developer
from tests.consent.api.addresses import ANOTHERS, request_body
from tests.factories import AppFactory, ConsentRequestFactory, GrantFactory, PersonFactory, Vault, give_vault, known_as

pytestmark = pytest.mark.django_db
WEEK = 7 * 86400


def rules(person: User) -> OwnRules:
    return OwnRules.objects.get(user=person)


def without_trace(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "trace_id"}


def another_key() -> dict[str, Any]:
    return {"connector_public_key": sealed.public_half(sealed.generate_connector_key())}


def test_an_app_that_nobody_checked_sees_what_an_unknown_scope_is_answered(vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=True, weekly=False)
    unchecked = Developer.of(AppFactory(verified=False))

    refused = unchecked.post("/request-consent", request_body(vault.user))
    unknown = unchecked.post("/request-consent", request_body(vault.user, scope="attr.lifestyle.nothing.*"))

    assert (refused.status_code, unknown.status_code) == (400, 400)
    assert without_trace(refused.json()) == without_trace(unknown.json())
    assert refused.json()["code"] == "invalid_scope"
    assert set(refused.headers) == set(unknown.headers)
    assert (rules(vault.user).only_checked_count, ConsentRequest.objects.count()) == (1, 0)


def test_a_checked_app_asks_as_ever(api: Developer, vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=True, weekly=False)

    assert api.post("/request-consent", request_body(vault.user)).status_code == 201
    assert rules(vault.user).only_checked_count == 0


def test_an_app_asks_once_a_week(api: Developer, vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=False, weekly=True)
    first = api.post("/request-consent", request_body(vault.user))
    assert first.status_code == 201
    assert api.post("/request-consent", request_body(vault.user)).json()["request_id"] == first.json()["request_id"]

    again = api.post("/request-consent", request_body(vault.user, **another_key()))

    assert (again.status_code, again.json()["code"]) == (429, "recently_denied")
    assert WEEK - 60 < int(again.headers["Retry-After"]) <= WEEK + 1
    assert (rules(vault.user).weekly_count, ConsentRequest.objects.count()) == (1, 1)


def test_taking_a_request_back_gives_no_second_one(api: Developer, vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=False, weekly=True)
    made = api.post("/request-consent", request_body(vault.user)).json()
    assert api.post("/end-consent", {"request_id": made["request_id"]}).status_code == 200

    assert api.post("/request-consent", request_body(vault.user)).json()["code"] == "recently_denied"


@pytest.mark.parametrize(("ago", "status"), [(timedelta(days=7, minutes=1), 201), (timedelta(days=6, hours=23), 429)])
def test_the_week_is_over_after_seven_days(api: Developer, vault: Vault, ago: timedelta, status: int) -> None:
    own_rules.save_rules(by=vault.user, only_checked=False, weekly=True)
    then = database_now() - ago
    ConsentRequestFactory(
        app=api.app, user=vault.user, created_at=then, expires_at=then + timedelta(days=1), status="cancelled"
    )

    assert api.post("/request-consent", request_body(vault.user)).status_code == status


def test_another_app_and_another_person_are_nobodys_matter(api: Developer, vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=False, weekly=True)
    api.post("/request-consent", request_body(vault.user))

    other = AppFactory()
    theirs = request_body(vault.user, user_id=known_as(other, vault.user), **ANOTHERS)
    assert Developer.of(other).post("/request-consent", theirs).status_code == 201
    assert api.post("/request-consent", request_body(give_vault(PersonFactory()).user)).status_code == 201


def test_a_refusal_spends_no_budget(api: Developer, vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=False, weekly=True)
    api.post("/request-consent", request_body(vault.user))
    api.app.request_budget = 2
    api.app.save()
    for _ in range(3):
        assert (
            api.post("/request-consent", request_body(vault.user, **another_key())).json()["code"] == "recently_denied"
        )

    assert api.post("/request-consent", request_body(give_vault(PersonFactory()).user)).status_code == 201


def test_what_runs_goes_on(vault: Vault) -> None:
    grant = GrantFactory(request__user=vault.user, request__app__verified=False)
    own_rules.save_rules(by=vault.user, only_checked=True, weekly=True)

    grant.refresh_from_db()
    assert grant.status == "active"


def test_a_rule_that_stays_on_goes_on_counting_and_one_switched_on_begins_anew(vault: Vault) -> None:
    own_rules.save_rules(by=vault.user, only_checked=True, weekly=True)
    OwnRules.objects.update(only_checked_count=3, weekly_count=5)
    before = rules(vault.user)

    own_rules.save_rules(by=vault.user, only_checked=True, weekly=False)
    own_rules.save_rules(by=vault.user, only_checked=True, weekly=True)

    after = rules(vault.user)
    assert (after.only_checked_since, after.only_checked_count) == (before.only_checked_since, 3)
    assert after.weekly_count == 0
    assert after.weekly_since is not None
    assert before.weekly_since is not None
    assert after.weekly_since > before.weekly_since
