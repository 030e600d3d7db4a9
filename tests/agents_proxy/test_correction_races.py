"""What a person corrects or answers at the same moment from several places: each is kept whole, or refused."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from agents_proxy.analyses import corrections
from agents_proxy.analyses.models import Correction, Run
from common import encryption
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import finished
from tests.agents_proxy.test_activation_races import at_once
from tests.agents_proxy.test_conversations import task
from tests.callers import signed_in

pytestmark = [
    pytest.mark.django_db(transaction=True),  # calls at once, each with a connection of its own
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one write at a time"),
]


def test_corrections_of_the_same_fields_in_two_analyses_wait_for_each_other(person: User, agents: Agents) -> None:
    agents.replies = {"brand": {"likes": ["tea"]}}
    runs, names = [finished(person), finished(person)], [f"field_{number}" for number in range(40)]

    def correct(run: Run, value: str, order: list[str]) -> str:
        corrections.correct(by=person, analysis_id=run.analysis_id, changes=dict.fromkeys(order, value))
        return value

    for _ in range(3):
        done = at_once(partial(correct, runs[0], "one", names), partial(correct, runs[1], "two", names[::-1]))

        assert done == ["one", "two"]
        kept = {json.loads(encryption.opened(str(row.value))) for row in Correction.objects.all()}
        assert len(kept) == 1


def test_of_two_answers_at_once_one_is_told_to_the_agent(person: User, agents: Agents) -> None:
    replies: Iterator[Any] = iter([task("input-required", "Which Ana?"), {"city": "Porto"}])
    agents.replies = {"brand": {"likes": ["tea"]}, "core": lambda _request: next(replies)}
    run = finished(person)
    here, owners = f"/api/a2a/analyses/{run.analysis_id}/steps/core/answer", [signed_in(person), signed_in(person)]

    answers = at_once(*(partial(owner.post, here, {"text": f"The {n}."}) for n, owner in enumerate(owners)))

    assert sorted(answer.status_code for answer in answers) == [202, 409]
