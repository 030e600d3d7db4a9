"""Budgets when threads ask at once: exactly as many requests are made as they allow, never one more or less.

test_budget_processes.py has processes of their own do so, as deployments have them.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection

from accounts.models import User
from common import limits
from common.problems import Problem
from consent.requests import creation
from consent.requests.models import ConsentRequest
from consent.schemas import RequestConsentBody
from consent_bridge import sealed
from developers.authentication import AppContext, find_token
from developers.models import App
from tests.consent.api.addresses import request_body
from tests.counts import PLACES, counts_in
from tests.factories import AppFactory, PersonFactory, TokenFactory, give_vault
from tests.patience import MOST_SECONDS

THREADS, CALLS = 8, 4
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=PLACES)
def store(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[str]:
    """The address of Redis where counts are kept there, "" where the database has them."""
    with counts_in(request.param):
        yield configured.REDIS_URL


def body(person: User) -> RequestConsentBody:
    """A new request each time: another key."""
    key = sealed.public_half(sealed.generate_connector_key())
    return RequestConsentBody.model_validate(request_body(person, connector_public_key=key))


def caller(app: App) -> AppContext:
    found = find_token(TokenFactory(app=app).secret)
    assert found is not None
    return found


def at_once(calls: list[Callable[[], Any]]) -> list[str]:
    """What came of each, all begun together: `made` or the code of the refusal."""
    barrier = threading.Barrier(THREADS)

    def work(share: list[Callable[[], Any]]) -> list[str]:
        outcomes = []
        try:
            barrier.wait(MOST_SECONDS)
            for call in share:
                try:
                    call()
                    outcomes.append("made")
                except Problem as refused:
                    outcomes.append(refused.code)
        finally:
            connection.close()
        return outcomes

    with ThreadPoolExecutor(THREADS) as pool:
        shares = pool.map(work, [calls[n::THREADS] for n in range(THREADS)])
        return sorted(outcome for share in shares for outcome in share)


def asking(app: AppContext, people: list[User]) -> list[Callable[[], Any]]:
    bodies = [body(person) for person in people]
    return [lambda b=b: creation.request_consent(app=app, body=b, idempotency_key=None) for b in bodies]


def test_the_budget_of_an_app_is_exact(store: str, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR, settings.PENDING_REQUESTS_PER_PERSON = 11, 0
    app, people = caller(AppFactory()), [give_vault(PersonFactory()).user for _ in range(THREADS)]

    outcomes = at_once(asking(app, people * CALLS))

    assert outcomes == ["made"] * 11 + ["request_budget_spent"] * (THREADS * CALLS - 11)
    assert ConsentRequest.objects.count() == 11


def test_the_budget_of_an_app_and_a_person_is_exact(store: str, settings: Any) -> None:
    settings.REQUESTS_PER_PERSON_PER_DAY, settings.PENDING_REQUESTS_PER_PERSON = 7, 0
    app, person = caller(AppFactory()), give_vault(PersonFactory()).user

    outcomes = at_once(asking(app, [person] * THREADS * CALLS))

    assert outcomes == ["made"] * 7 + ["request_budget_spent"] * (THREADS * CALLS - 7)
    assert ConsentRequest.objects.count() == 7


def test_repeats_of_what_waits_spend_nothing_however_many_come_at_once(store: str, settings: Any) -> None:
    settings.REQUEST_BUDGET_PER_HOUR, settings.REQUESTS_PER_PERSON_PER_DAY = 2, 2
    app, person = caller(AppFactory()), give_vault(PersonFactory()).user
    same = body(person)

    outcomes = at_once([lambda: creation.request_consent(app=app, body=same, idempotency_key=None)] * (THREADS * CALLS))

    assert outcomes == ["made"] * (THREADS * CALLS)
    assert ConsentRequest.objects.count() == 1
    assert limits.peek(limits.Limit("requests-per-hour", 2, 3600), str(app.app_pk)).used == 1


def test_as_many_unknown_people_as_allowed_are_404(store: str, settings: Any) -> None:
    settings.UNKNOWN_USERS_PER_HOUR = 9
    app, nobody = caller(AppFactory()), PersonFactory.build(public_id="usr_nobody")

    outcomes = at_once(asking(app, [nobody] * THREADS * CALLS))

    assert outcomes == ["too_many_requests"] * (THREADS * CALLS - 9) + ["unknown_user"] * 9
