"""Odd calls of every address, in one count: no defect, the contract's shapes, no secret, nothing of anybody else's.

Each call is drawn from what fits its address and then changed, or, at the documented addresses, from the document as
well. It is sent as it is by the caller that it is for, or by another one, and undone. FUZZ_CASES says how many of each
area the short form sends.
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpResponse
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agents_proxy.agents import AGENTS
from consent.api import leaked_tokens
from tests.agents_proxy.agent_server import speaking
from tests.fakes.aggregator import aggregating
from tests.fuzzing import odd
from tests.fuzzing.calls import Call, called, documented
from tests.fuzzing.invariants import faults
from tests.fuzzing.world import Fuzzed, kept_by, make, watched

AREAS = ("REST", "MCP", "proxy", "owner")
SHORT, LONG = int(os.environ.get("FUZZ_CASES", "50")), 5_000  # cases of each area
GETS_THROUGH = 0.05  # of the cases of an area at least: what is refused at the door shows little
counted: Counter[tuple[str, int]] = Counter()  # by area and status
_UNLIMITED = (
    "STATUS_POLL_BURST", "PENDING_REQUESTS_PER_PERSON", "DENIAL_COOLDOWN_SECONDS", "REQUESTS_PER_PERSON_PER_DAY",
    "REQUEST_BUDGET_PER_HOUR", "LEAKED_TOKENS_PER_HOUR", "UNKNOWN_USERS_PER_HOUR", "A2A_SESSION_BURST",
    "A2A_ADDRESS_BURST", "MANAGEMENT_CALLS_PER_HOUR", "PEOPLE_SEARCHES_PER_HOUR",
)  # fmt: skip


@pytest.fixture
def fuzzed(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fuzzed]:
    """Everybody, with agents and an aggregator that answer; nobody is refused for calling often."""
    for name in _UNLIMITED:
        setattr(settings, name, 0)
    monkeypatch.setattr(leaked_tokens, "_ANSWERS_AFTER", 0.0)
    with speaking() as agents, aggregating() as bank:
        one = agents.settings()["core"]
        settings.AGENTS = {name: {**one, "url": f"{agents.address}/{name}"} for name in AGENTS}
        settings.AGGREGATOR = bank.settings()
        yield make(agents, bank)
    request_finished.connect(close_old_connections)


@pytest.mark.long("five thousand calls of each area")
def test_every_answer_is_in_order(fuzzed: Fuzzed, long_form: bool) -> None:
    amount = LONG if long_form else SHORT
    for area in AREAS:
        _fuzz(area, amount, fuzzed)
        statuses = {status: number for (where, status), number in sorted(counted.items()) if where == area}
        cases, through = sum(statuses.values()), sum(number for status, number in statuses.items() if status < 400)
        print(f"{area}: {cases} cases answered {statuses}")  # noqa: T201  # for whoever runs the line
        assert cases >= amount
        assert through >= GETS_THROUGH * cases
    print(f"{counted.total()} cases in all")  # noqa: T201


def _fuzz(area: str, amount: int, fuzzed: Fuzzed) -> None:
    """So many calls of an area; fails with the simplest one whose answer is not in order."""

    @_cases(amount)
    @given(st.data())
    def each(data: st.DataObject) -> None:
        if area == "proxy":
            fuzzed.agents.says = dict.fromkeys(AGENTS, data.draw(odd.VALUES, label="the agent says"))
        with transaction.atomic():
            drawn = documented(fuzzed) if area == "REST" and data.draw(st.booleans()) else called(area, fuzzed)
            call = data.draw(drawn, label="call")
            # no answer is held; undone each time, since pytest's own `settings` would add a layer for every case
            with override_settings(STATUS_WAITERS=1000 if "consent-events" in call.path else 0):
                found = _judged(area, call, fuzzed)
            transaction.set_rollback(True)
        assert found == []

    each()


def _cases(amount: int) -> Any:
    phases = (Phase.generate, Phase.shrink)
    return settings(max_examples=amount, phases=phases, deadline=None, suppress_health_check=list(HealthCheck))


def _judged(area: str, call: Call, fuzzed: Fuzzed) -> list[str]:
    """Send it, count it, and say what is wrong with the answer."""
    writes, watching = watched()
    session = fuzzed.session(call.caller)
    with session.as_it_is(), watching:
        answer = _answer(call, session)
    counted[area, answer.status_code] += 1
    found = faults(call, answer, fuzzed)
    if writes.any and not _may_concern(call, fuzzed) and kept_by(fuzzed.world.stranger) != fuzzed.kept:
        found.append("something of person B's has changed")
    return found


def _answer(call: Call, session: Any) -> HttpResponse:
    path = f"{call.path}?{call.query}" if call.query else call.path
    headers = {**session.headers, **call.headers}
    answer: HttpResponse = session.client.generic(
        call.method, path, call.body, content_type=call.media_type, headers=headers
    )
    if answer.streaming:
        request_finished.disconnect(close_old_connections)  # the client has connected it again
        answer.close()
    return answer


def _may_concern(call: Call, fuzzed: Fuzzed) -> bool:
    """Whether person B is who calls, or an app asks B for something, which is an app's to do."""
    if call.caller.name.startswith(("STRANGER", "OTHER_MANAGER")):
        return True
    return not call.caller.name.startswith(("OWNER", "STAFF")) and fuzzed.world.stranger.public_id in call.text
