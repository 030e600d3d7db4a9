"""Analyses that are called off while an agent is at work: what comes late is dropped, what had come before stands."""

from collections.abc import Callable

import pytest

from accounts.models import User
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent import actions as consents
from common import encryption
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import finished, kept, started, states

pytestmark = pytest.mark.django_db


def worked_through(run: Run, *, then: Callable[[], object], at: str) -> None:
    """As a worker does it; `then` happens when the agent `at` has answered and nothing is written down yet."""
    while claimed := steps.claim_step(run.pk):
        ended = steps._call_agent(claimed)
        if claimed.agent == at:
            then()
        steps.record_step(claimed, ended)


def opened(run: Run) -> str:
    return encryption.opened(str(run.profile))


@pytest.mark.parametrize("how", ["cancelled", "consent_withdrawn"])
@pytest.mark.parametrize("when", ["before it is asked", "while it is asked"])
def test_calling_off_another_try_leaves_what_had_come_before(agents: Agents, person: User, how: str, when: str) -> None:
    agents.replies = {"brand": {"city": "Linz"}, "core": "sorry"}
    before = finished(person)
    agents.replies["core"] = {"city": "Graz"}
    analysis_actions.retry_step(by=person, analysis_id=before.analysis_id, agent="core")

    def call_off() -> None:
        if how == "cancelled":
            analysis_actions.cancel_analysis(by=person, analysis_id=before.analysis_id)
        else:
            consents.withdraw(consent_id=before.consent.consent_id, by=person)

    if when == "before it is asked":
        call_off()
    worked_through(before, then=call_off, at="core")

    after = kept(before)
    assert (after.status, states(after)) == ("completed_with_errors", ["succeeded", "failed", "empty", "empty"])
    assert (opened(after), after.provenance) == (opened(before), before.provenance)
    assert (after.steps.get(agent="core").error_code, after.steps.get(agent="core").reply) == (how, None)


@pytest.mark.parametrize(("at", "calls"), [("core", 2), ("second", 4)])
def test_what_an_agent_answers_after_the_consent_ended_is_dropped(
    agents: Agents, person: User, at: str, calls: int
) -> None:
    run = started(person)
    agents.replies = {"brand": {"age": 30}, at: {"city": "Graz"}}
    worked_through(run, then=lambda: consents.withdraw(consent_id=run.consent.consent_id, by=person), at=at)

    late = kept(run).steps.get(agent=at)
    assert (kept(run).status, kept(run).profile) == ("cancelled", None)
    assert (late.status, late.error_code, late.reply) == ("skipped", "consent_withdrawn", None)
    assert agents.names == ["brand", "core", "public", "second"][:calls]


def test_nothing_is_merged_after_the_consent_ended(agents: Agents, person: User) -> None:
    run = started(person)
    while claimed := steps.claim_step(run.pk):
        steps.record_step(claimed, steps._call_agent(claimed))
        if claimed.agent == "second":
            consents.withdraw(consent_id=run.consent.consent_id, by=person)

    assert (kept(run).status, kept(run).profile) == ("cancelled", None)
