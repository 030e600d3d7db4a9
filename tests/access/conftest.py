"""One world a module: making it takes longer than most of the tests, and every answer is rolled back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from accounts.models import User
from consent.api import leaked_tokens
from tests.access.following import Followed
from tests.access.walk import Walk
from tests.access.world import make_world, people_with_old_data
from tests.fakes.aggregator import aggregating

# how often somebody may call is the subject of other tests
UNLIMITED = (
    "STATUS_POLL_BURST", "PENDING_REQUESTS_PER_PERSON", "DENIAL_COOLDOWN_SECONDS", "REQUESTS_PER_PERSON_PER_DAY",
    "REQUEST_BUDGET_PER_HOUR", "LEAKED_TOKENS_PER_HOUR", "UNKNOWN_USERS_PER_HOUR", "A2A_SESSION_BURST",
    "A2A_ADDRESS_BURST", "MANAGEMENT_CALLS_PER_HOUR", "PEOPLE_SEARCHES_PER_HOUR",
)  # fmt: skip


@pytest.fixture(scope="module")
def walk(django_db_setup: None, django_db_blocker: Any) -> Iterator[Walk]:
    with (
        pytest.MonkeyPatch.context() as patched,
        django_db_blocker.unblock(),
        aggregating() as bank,
        override_settings(AGGREGATOR=bank.settings(), **dict.fromkeys(UNLIMITED, 0)),
    ):
        patched.setattr(leaked_tokens, "_ANSWERS_AFTER", 0.0)
        people = people_with_old_data()
        try:
            with transaction.atomic():
                yield Walk(make_world(bank, *people))
                transaction.set_rollback(True)
        finally:
            User.objects.filter(pk__in=[person.pk for person in people]).delete()


@pytest.fixture(scope="module")
def followed(walk: Walk) -> Followed:
    return Followed(walk)
