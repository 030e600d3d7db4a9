"""Analyses: one agent after another, each recorded once, whoever dies, cancels or withdraws."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from agents_proxy import tasks
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses import results, steps
from agents_proxy.analyses.errors import AnalysisEnded, StepNotFailed, TooManyAnalyses, UnknownAnalysis
from agents_proxy.analyses.models import Run, Step
from agents_proxy.errors import ConsentEnded
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy.models import Call
from common import encryption
from config.schedule import BY_CLOCK
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.institutions import coffees, linked, refreshed
from tests.agents_proxy.proxy_calls import owning
from tests.agents_proxy.runs import SUBMITTED, finished, kept, started, states
from tests.fakes.aggregator import Aggregator
from tests.refused import refused_as

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def test_a_run_asks_each_agent_once_in_order_and_keeps_what_they_said(agents: Agents, person: User) -> None:
    agents.replies = {"brand": {"likes": ["tea"], "city": "Linz"}, "second": {"city": "Wels", "confidence": 0.5}}
    run = finished(person)

    assert agents.names == ["brand", "core", "public", "second"]
    assert (run.status, states(run)) == ("completed", ["succeeded", "empty", "empty", "succeeded"])
    assert run.provenance == {"likes": "brand", "city": "second", "confidence": "second"}
    assert json.loads(encryption.opened(str(run.profile))) == {"likes": ["tea"], "city": "Wels", "confidence": 0.5}
    assert run.metadata["confidence_score"] == 0.5
    assert run.metadata["total_fields"] == 3
    assert list(run.steps.order_by("position").values_list("field_count", "attempt")) == [
        (2, 1),
        (0, 1),
        (0, 1),
        (2, 1),
    ]
    assert Call.objects.filter(consent=run.consent).count() == 4


def test_agents_get_one_prompt_with_a_session_of_the_run_and_a_task_of_the_step(agents: Agents, person: User) -> None:
    run = finished(owning(person, "+3519123456789"))

    requests = [request for _, request in agents.requests]
    assert {request["params"]["sessionId"] for request in requests} == {steps.session_id(run)}
    assert [request["id"] for request in requests] == list(
        run.steps.order_by("position").values_list("task_id", flat=True)
    )
    assert len({request["params"]["message"]["parts"][0]["text"] for request in requests}) == 1
    prompt = requests[0]["params"]["message"]["parts"][0]["text"]
    for wanted in (
        "Ana Sá",
        "ana@example.org",
        "+3519123456789",
        '"eco_friendliness"',
        '"confidence_score": number',
        '"accuracy_score": number',
        "Leave out what you do not know",
    ):
        assert wanted in prompt


def test_purchases_go_to_the_brand_agent_alone_and_only_while_agreed_to(
    agents: Agents, bank: Aggregator, person: User
) -> None:
    item = linked(person, bank, *coffees(6))
    refreshed(item)
    finished(person)
    consents.withdraw(consent_id=item.consent.consent_id, by=person)
    finished(person)

    has_purchases = ["Blue Bottle" in json.dumps(request) for _, request in agents.requests]
    assert has_purchases == [True, False, False, False] + [False] * 4


def test_nothing_of_a_run_is_in_clear_at_rest(agents: Agents, person: User) -> None:
    agents.replies = {"brand": {"likes": ["a very rare word"]}, "core": "no JSON but rare words"}
    finished(person)

    kept = [*Run.objects.values(), *Step.objects.values(), *Call.objects.values()]
    rows = json.dumps(kept, default=str, ensure_ascii=False)
    # nothing that base64 can spell by chance, as it does with three letters in one run of a hundred
    for secret in ("rare word", SUBMITTED["fullName"], SUBMITTED["phoneNumber"], SUBMITTED["email"]):
        assert secret not in rows


def test_pages_read_no_reply_again(agents: Agents, person: User, monkeypatch: Any) -> None:
    agents.replies = {"brand": '{"likes": ["tea",],}', "core": "no JSON"}
    run = finished(person)
    fields = dict(run.steps.values_list("agent", "fields"))
    assert fields["core"] is None
    assert json.loads(encryption.opened(str(fields["brand"]))) == {"likes": ["tea"]}

    monkeypatch.setattr(results, "read_reply", None)
    assert results.merged_of(list(run.steps.all())).profile == {"likes": ["tea"]}


def test_a_failed_step_stops_nothing(agents: Agents, person: User) -> None:
    agents.replies = {"brand": {"error": {"code": -32603}}, "core": {"age": 5}, "public": "I found nothing."}
    run = finished(person)

    assert run.status == "completed_with_errors"
    assert list(run.steps.order_by("position").values_list("status", "error_code")) == [
        ("failed", "agent_error"), ("succeeded", ""), ("failed", "not_json"), ("empty", ""),
    ]  # fmt: skip
    assert "I found nothing." in encryption.opened(str(run.steps.get(agent="public").reply))
    assert run.provenance == {"age": "core"}


def test_a_run_in_which_nobody_answers_has_failed(person: User, settings: Any) -> None:
    gone = {"url": "http://127.0.0.1:9/x", "token": "", "timeout": 2.0, "protocol": "tasks-send"}
    settings.AGENTS = {**settings.AGENTS, "brand": gone, "core": gone, "public": gone, "second": {**gone, "url": ""}}
    run = finished(person)

    assert run.status == "failed"
    assert list(run.steps.order_by("position").values_list("error_code", flat=True)) == [
        "upstream_unavailable", "upstream_unavailable", "upstream_unavailable", "agent_not_configured",
    ]  # fmt: skip
    nothing = {"total_fields": 0, "response_time_ms": None}
    assert (run.provenance, run.metadata) == ({}, {**nothing, "coverage": 0.0, "agreement": None})


def test_a_dead_workers_step_is_asked_again_under_the_same_task_and_recorded_once(agents: Agents, person: User) -> None:
    run = started(person)
    lost = steps.claim_step(run.pk)
    assert lost is not None
    assert steps.claim_step(run.pk) is None  # its lease is live

    Step.objects.filter(pk=lost.step_pk).update(lease_until=timezone.now() - MINUTE)
    Run.objects.filter(pk=run.pk).update(updated_at=timezone.now() - MINUTE)
    assert tasks.resume_analyses() == 1

    done = kept(run)
    assert (done.status, states(done)) == ("completed", ["empty"] * 4)
    assert agents.requests[0][1]["id"] == lost.prompt.task_id
    assert list(done.steps.order_by("position").values_list("attempt", flat=True)) == [2, 1, 1, 1]
    assert steps.record_step(lost, {"status": "failed", "error_code": "late", "duration_ms": 1}) is False
    assert done.steps.get(agent="brand").status == "empty"


def test_a_run_that_nobody_was_told_of_is_found(agents: Agents, person: User) -> None:
    run = started(person)
    assert steps.abandoned_runs() == []  # somebody may be on the way

    Run.objects.filter(pk=run.pk).update(updated_at=timezone.now() - MINUTE)
    assert steps.abandoned_runs() == [run.pk]
    tasks.resume_analyses()
    assert kept(run).status == "completed"
    assert steps.abandoned_runs() == []


def test_a_step_that_takes_worker_after_worker_with_it_is_given_up(agents: Agents, person: User) -> None:
    run = started(person)
    for _ in range(steps.LOST_ATTEMPTS):
        assert steps.claim_step(run.pk) is not None
        run.steps.filter(agent="brand").update(lease_until=timezone.now() - MINUTE)
    steps.run_through(run.pk)

    assert agents.names == ["core", "public", "second"]
    assert run.steps.get(agent="brand").error_code == "worker_lost"
    assert kept(run).status == "completed_with_errors"


def test_a_cancelled_run_drops_what_comes_later(agents: Agents, person: User) -> None:
    run = started(person)
    claimed = steps.claim_step(run.pk)
    assert claimed is not None
    analysis_actions.cancel_analysis(by=person, analysis_id=run.analysis_id)

    assert steps.record_step(claimed, {"status": "failed", "error_code": "x", "duration_ms": 1}) is False
    steps.run_through(run.pk)
    assert (kept(run).status, states(run), agents.requests) == ("cancelled", ["skipped"] * 4, [])
    assert analysis_actions.cancel_analysis(by=person, analysis_id=run.analysis_id).status == "cancelled"


def test_an_ended_run_cannot_be_cancelled(agents: Agents, person: User) -> None:
    run = finished(person)

    with refused_as(AnalysisEnded):
        analysis_actions.cancel_analysis(by=person, analysis_id=run.analysis_id)


def test_a_failed_step_can_be_tried_again_and_is_merged(agents: Agents, person: User) -> None:
    agents.replies = {"brand": {"city": "Linz"}, "core": "sorry"}
    run = finished(person)
    agents.replies["core"] = {"city": "Graz"}
    analysis_actions.retry_step(by=person, analysis_id=run.analysis_id, agent="core")
    assert (kept(run).status, kept(run).profile, kept(run).finished_at) == ("queued", None, None)
    steps.run_through(run.pk)

    assert agents.names == ["brand", "core", "public", "second", "core"]
    assert agents.requests[1][1]["id"] == agents.requests[4][1]["id"]
    assert (kept(run).status, kept(run).provenance) == ("completed", {"city": "core"})


def test_only_failed_steps_of_ended_runs_are_tried_again(agents: Agents, person: User) -> None:
    run = finished(person)
    with refused_as(StepNotFailed):
        analysis_actions.retry_step(by=person, analysis_id=run.analysis_id, agent="core")
    with pytest.raises(UnknownAnalysis):
        analysis_actions.retry_step(by=person, analysis_id=run.analysis_id, agent="messaging")


def test_a_step_is_not_tried_again_after_the_consent_ended(agents: Agents, person: User) -> None:
    agents.replies = {"core": "sorry"}
    run = finished(person)
    consents.withdraw(consent_id=run.consent.consent_id, by=person)

    with pytest.raises(ConsentEnded):
        analysis_actions.retry_step(by=person, analysis_id=run.analysis_id, agent="core")


def test_deleting_a_run_ends_the_consent_to_it(agents: Agents, person: User) -> None:
    run = finished(person)
    analysis_actions.delete_analysis(by=person, analysis_id=run.analysis_id)

    assert [body["status"] for body in consents.listed(person)] == ["withdrawn"]


def test_a_deleted_run_leaves_nothing_for_its_worker(agents: Agents, person: User) -> None:
    run = started(person)
    claimed = steps.claim_step(run.pk)
    assert claimed is not None
    analysis_actions.delete_analysis(by=person, analysis_id=run.analysis_id)

    assert steps.record_step(claimed, {"status": "failed", "error_code": "x", "duration_ms": 1}) is False
    steps.run_through(run.pk)
    assert (Run.objects.count(), Step.objects.count(), agents.requests) == (0, 0, [])


def test_runs_are_deleted_when_their_time_is_over(agents: Agents, person: User, settings: Any) -> None:
    old, young = finished(person), finished(person)
    assert young.purge_at - young.created_at == pytest.approx(timedelta(days=30), abs=timedelta(seconds=5))
    Run.objects.filter(pk=old.pk).update(purge_at=timezone.now() - MINUTE)

    assert analysis_actions.purge_analyses() == 1
    assert list(Run.objects.values_list("pk", flat=True)) == [young.pk]


def test_purging_goes_on_until_nothing_is_over(person: User) -> None:
    for _ in range(5):
        started(person)
    Run.objects.update(purge_at=timezone.now() - MINUTE)

    assert analysis_actions.purge_analyses(at_once=2) == 5
    assert not Run.objects.exists()


def test_a_run_whose_time_is_over_is_gone_before_it_is_purged(agents: Agents, person: User) -> None:
    ended, under_way = finished(person), started(person)
    Run.objects.update(purge_at=timezone.now() - MINUTE, updated_at=timezone.now() - MINUTE)

    with pytest.raises(UnknownAnalysis):
        analysis_queries.raw_of(person, ended.analysis_id)
    assert analysis_queries.analyses_of(person)["analyses"] == []
    agents.requests.clear()
    assert steps.abandoned_runs() == []
    steps.run_through(under_way.pk)
    assert agents.requests == []


def test_analyses_are_purged_on_time() -> None:
    seconds, work = BY_CLOCK["every-minute"]
    assert "agents_proxy.analyses.actions.purge_analyses" in work
    assert seconds <= 60


def test_nobody_has_more_than_so_many_runs_under_way(agents: Agents, person: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(analysis_actions, "UNFINISHED_PER_PERSON", 1)
    first = started(person)
    with refused_as(TooManyAnalyses):
        analysis_actions.start_analysis(by=person, submitted=SUBMITTED)

    analysis_actions.cancel_analysis(by=person, analysis_id=first.analysis_id)
    assert started(person).status == "queued"


def test_without_a_free_place_a_run_waits_for_the_sweeper(agents: Agents, person: User, settings: Any) -> None:
    taken = 0
    while tasks.ANALYSES.acquire(blocking=False):
        taken += 1
    run = started(person)
    tasks.run_analysis(run.pk)
    tasks.ANALYSES.release(taken)
    assert taken == settings.ANALYSES_AT_ONCE
    assert (kept(run).status, agents.requests) == ("queued", [])
