"""The pages of analyses without a browser: what they show, to whom, and how they refuse."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils.functional import Promise

from accounts.models import User
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import errors as analysis_errors
from agents_proxy.analyses import page_content, steps
from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.forms import AnalysisForm
from agents_proxy.analyses.models import Run
from agents_proxy.errors import AgentBusy, TooManyCalls
from agents_proxy.processing_consent import actions as consents
from agents_proxy.refusal_words import REFUSALS, words_of
from common.problems import Kind
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import BODY, TICKED, finished, kept, started, states
from tests.callers import JsonClient

pytestmark = pytest.mark.django_db
FORM = {**BODY, **TICKED}
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def page(owner: JsonClient, path: str) -> str:
    answer = owner.client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content.decode()


def test_the_form_shows_what_is_agreed_to_and_starts_a_run(owner: JsonClient, person: User) -> None:
    shown = page(owner, "/profile/")
    answer = owner.client.post("/profile/", FORM)

    run = Run.objects.get()
    assert answer["Location"] == f"/profile/{run.analysis_id}/"
    kept_words = run.consent.statement.splitlines()
    assert len(kept_words) > 4
    assert kept_words[0] in shown
    assert kept_words[-1] in shown
    assert run.analysis_id in page(owner, "/profile/")


@pytest.mark.parametrize("path", ["/profile/", "/profile/numbers/", "/profile/consent/given/"])
def test_what_asks_agents_is_a_part_of_my_data(owner: JsonClient, path: str) -> None:
    assert '<a class="tab" href="/vault/" aria-current="true">' in page(owner, path)


@pytest.mark.parametrize("field", ["email", "fullName", "countryCode", "phoneNumber"])
def test_the_form_says_what_does_not_fit_and_keeps_the_rest(owner: JsonClient, field: str) -> None:
    answer = owner.client.post("/profile/", {**FORM, field: ""})

    assert answer.status_code == 400
    text = answer.content.decode()
    assert f'id="id_{field}_error"' in text
    assert text.count('_error"') >= 1
    assert ("9123456789" in text) == (field != "phoneNumber")
    assert Run.objects.count() == 0


@pytest.mark.parametrize("code", ["+351", "351", "00351", "+3 51"])
def test_a_number_is_taken_as_people_write_it(person: User, code: str) -> None:
    typed = {**FORM, "email": person.email, "countryCode": code, "phoneNumber": "912 345/67-89"}
    form = AnalysisForm(typed, emails=[person.email], points=())
    form.is_valid()

    assert (form.cleaned_data["countryCode"], form.cleaned_data["phoneNumber"]) == ("+351", "9123456789")
    assert 'maxlength="40"' in str(form["phoneNumber"])  # a browser cuts off what is longer, and the rest may fit


def test_nothing_is_ticked_and_an_agent_is_asked_for_what_is(owner: JsonClient, person: User, agents: Agents) -> None:
    shown = page(owner, "/profile/")
    refused = owner.client.post("/profile/", BODY)
    owner.client.post("/profile/", {**BODY, "purpose-brand_affinity": "on", "purpose-activation": "on"})

    assert shown.count('name="purpose-') == 3
    assert "checked" not in shown
    assert (refused.status_code, "Nothing is sent to any agent unless you agree." in refused.content.decode()) == (
        400, True,
    )  # fmt: skip
    run = Run.objects.get()
    steps.run_through(run.pk)
    assert run.consent.purposes == ["brand_affinity"]
    assert agents.names == ["brand"]
    assert page(owner, f"/profile/{run.analysis_id}/").count("Core agent") == 0
    assert "analysis" in page(owner, "/profile/consent/given/")


def test_a_running_analysis_shows_its_four_steps(owner: JsonClient, person: User) -> None:
    run = started(person)
    steps.claim_step(run.pk)
    text = page(owner, f"/profile/{run.analysis_id}/")

    assert [text.count(f'data-state="{state}"') for state in ("current", "todo")] == [1, 3]
    assert 'value="0" max="4"' in text


def test_a_finished_analysis_shows_who_said_what(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {
        "brand": {"city": "Linz", "likes": ["Muji"], "confidence": 0.4},
        "core": {"gym_membership": False, "shoe_size": 43},
        "public": {"city": "Graz", "intent_24h": {"category": "Shoes", "budget": "50 €", "confidence": 0.8}},
        "second": "no",
    }  # fmt: skip
    run = finished(person)
    text = page(owner, f"/profile/{run.analysis_id}/")

    for wanted in (
        "Graz", "Public-data agent", "Brand agent said", "Linz", "Muji", "Shoe size", "timeline-chart", "50 €",
        'value="0.4000"', "Complete, with gaps", "Ask again", "brand-affinity/", "/vault/import/?analysis=",
         "/send/",
    ):  # fmt: skip
        assert wanted in text, wanted
    assert "Accuracy" not in text


def test_what_the_specification_names_is_called_so(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {
        "brand": {"email": person.email, "confidence": 0.4, "accuracy": 0.9},
        "core": {"children_count": 2, "favorite_cuisine": "Thai"},
        "public": {"favorite_social_platform": "Mastodon", "social_media_usage_time": "an hour"},
    }
    text = page(owner, f"/profile/{finished(person).analysis_id}/")

    named = dict(re.findall(r'<dt id="measure-(\w+)">([^<]+)</dt>', text))
    assert named.keys() - {"coverage", "agreement"} == {
        "confidence_score", "accuracy_score", "total_fields", "response_time",
    }  # fmt: skip
    assert set(named.values()) >= {"Confidence score", "Accuracy score", "Total fields", "Response time"}
    fields = ("Email", "Children count", "Favorite cuisine", "Favorite social platform", "Social media usage time")
    for wanted in ("Analysis metadata", *fields):
        assert f">{wanted}<" in text, wanted


def test_scores_and_charts_are_absent_where_nobody_gave_them(owner: JsonClient, person: User, agents: Agents) -> None:
    text = page(owner, f"/profile/{finished(person).analysis_id}/")

    assert "No agent knows anything" in text
    for absent in ("measure-confidence", "measure-agreement", "timeline-chart", "brand-affinity", "/vault/import/"):
        assert absent not in text


def test_answers_that_nobody_could_use_are_not_taken_for_silence(
    owner: JsonClient, person: User, agents: Agents
) -> None:
    agents.replies = {
        **dict.fromkeys(("brand", "core", "public"), "no"),
        "second": {"error": {"code": 1, "message": "x"}},
    }
    run = finished(person)
    text = page(owner, f"/profile/{run.analysis_id}/")

    assert run.status == "failed"
    assert '<span class="badge b-bad">No usable answer</span>' in text
    assert text.count("Ask again") == 4
    assert "No agent" not in text
    assert "No agent answered" not in page(owner, "/profile/")


def test_what_agents_say_is_text_and_nothing_else(owner: JsonClient, person: User, agents: Agents) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e"
    agents.replies = {
        "brand": {"city": nasty, nasty: nasty, "likes": [nasty], "intent_24h": {nasty: nasty, "category": nasty}}
    }
    run = finished(person)
    for path in (f"/profile/{run.analysis_id}/", f"/profile/{run.analysis_id}/raw/"):
        text = page(owner, path)
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "alert(1)" in text
    assert "\u202e" not in page(owner, f"/profile/{run.analysis_id}/raw/")


def test_raw_data_without_its_invisible_characters_still_reads_as_the_same() -> None:
    fields = {"tagged": "a\U000e0067\u202eb", "\u00ad": ["\u200b\\", "😀"]}
    written = page_content.visible(json.dumps(fields, ensure_ascii=False))

    assert "\\udb40\\udc67\\u202eb" in written
    assert "😀" in written
    assert json.loads(written) == fields


def test_retry_cancel_and_delete_work_without_a_script(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"core": "no"}
    run = finished(person)
    here = f"/profile/{run.analysis_id}/"
    assert owner.client.post(f"{here}retry/core/")["Location"] == here
    assert kept(run).status == "queued"
    assert owner.client.post(f"{here}cancel/")["Location"] == here
    assert (kept(run).status, states(run)) == ("completed_with_errors", ["empty", "failed", "empty", "empty"])
    assert "You stopped the analysis before this step." in page(owner, here)
    assert "Delete it" in page(owner, f"{here}delete/")
    assert owner.client.post(f"{here}delete/")["Location"] == "/profile/"
    assert Run.objects.count() == 0


def test_a_stopped_analysis_says_so(owner: JsonClient, person: User) -> None:
    run = started(person)
    assert owner.client.post(f"/profile/{run.analysis_id}/cancel/")["Location"] == f"/profile/{run.analysis_id}/"
    assert (kept(run).status, states(run)) == ("cancelled", ["skipped"] * 4)
    assert "was stopped" in page(owner, f"/profile/{run.analysis_id}/")


def test_a_step_that_is_asked_again_counts_its_own_time(owner: JsonClient, person: User, agents: Agents) -> None:
    def elapsed() -> int:
        return int(owner.client.get(f"/profile/{run.analysis_id}/").context["elapsed"])

    agents.replies = {"second": "no"}
    run = started(person)
    Run.objects.update(created_at=run.created_at - timedelta(days=2))
    assert elapsed() >= 2 * 24 * 3600
    steps.run_through(run.pk)
    owner.client.post(f"/profile/{run.analysis_id}/retry/second/")
    assert elapsed() < 24 * 3600
    Run.objects.update(retried_at=run.created_at - timedelta(seconds=100))
    steps.claim_step(run.pk)
    assert 100 <= elapsed() < 24 * 3600


def test_a_stopped_analysis_says_which_agents_were_asked(owner: JsonClient, person: User, agents: Agents) -> None:
    run = started(person)
    here = f"/profile/{run.analysis_id}/"
    steps.record_step(claimed := steps.claim_step(run.pk), steps._call_agent(claimed))
    steps.claim_step(run.pk)
    assert "1 of 4 steps" in page(owner, "/profile/")
    owner.client.post(f"{here}cancel/")

    assert "2 of 4 steps" in page(owner, "/profile/")
    words_of = [(str(step["word"]), str(step["reason"])) for step in owner.client.get(here).context["steps"]]
    never = ("Not asked", "You stopped the analysis before this step.")
    assert [word for word, _ in words_of] == ["Knows nothing", "Asked", "Not asked", "Not asked"]
    assert words_of[2:] == [never, never]
    for _, reason in words_of:
        assert reason in page(owner, here)


def test_no_agent_is_asked_again_once_the_consent_has_ended(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"core": "no"}
    failing, stopped = finished(person), started(person)
    over = "The consent to this analysis has ended."
    assert over not in page(owner, f"/profile/{failing.analysis_id}/")
    for run in (failing, stopped):
        consents.withdraw(consent_id=run.consent.consent_id, by=person)
    steps.run_through(stopped.pk)

    text = page(owner, f"/profile/{failing.analysis_id}/")
    assert over in text
    assert "Ask again" not in text
    assert page(owner, f"/profile/{stopped.analysis_id}/").count("The consent ended before this step.") == 4
    assert "0 of 4 steps" in page(owner, "/profile/")


def test_brand_affinity_comes_as_json_and_csv(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"brand": {"likes": ["Muji", "tea"], "shopping_preferences": {"channel": "online"}}}
    here = f"/profile/{finished(person).analysis_id}/brand-affinity"

    as_json = owner.client.get(f"{here}.json")
    assert json.loads(as_json.content) == {"likes": ["Muji", "tea"], "shopping_preferences": {"channel": "online"}}
    assert "attachment" in as_json["Content-Disposition"]
    heading, row = csv.reader(io.StringIO(owner.client.get(f"{here}.csv").content.decode()))
    assert dict(zip(heading, row, strict=True))["likes"] == "Muji; tea"


def test_what_does_not_fit_a_crm_is_named_also_where_nothing_fits(
    owner: JsonClient, person: User, agents: Agents
) -> None:
    agents.replies = {"brand": {"likes": {"a": 1}, "full_name": 5}}
    text = page(owner, f"/profile/{finished(person).analysis_id}/")

    assert "Left out, since it does not fit that form: Full name, Likes" in text
    assert "brand-affinity" not in text


def test_times_can_be_read_without_javascript(owner: JsonClient, person: User, agents: Agents) -> None:
    run = finished(person)
    home, result = page(owner, "/profile/"), page(owner, f"/profile/{run.analysis_id}/")

    for text, at in ((home, run.created_at), (home, run.purge_at), (result, run.finished_at)):
        assert at is not None
        assert f'datetime="{at:%Y-%m-%dT%H:%M:%SZ}" data-local>{at.day} {at:%b %Y, %H:%M} UTC</time>' in text


@pytest.mark.parametrize("kind", [kind for kind in vars(analysis_errors).values() if isinstance(kind, Kind)])
def test_pages_have_words_for_every_refusal(kind: Kind) -> None:
    assert isinstance(analysis_words.PROBLEMS[kind.code], Promise)


def test_a_busy_agent_is_told_apart_from_too_many_calls() -> None:
    messages = [words_of(refusal) for refusal in (AgentBusy(), TooManyCalls())]

    assert messages == [str(REFUSALS["agent_busy"]), str(REFUSALS["too_many_requests"])]


def test_a_refusal_is_told_in_the_pages_own_words(owner: JsonClient, person: User, agents: Agents) -> None:
    here = f"/profile/{finished(person).analysis_id}/"
    for move in ("cancel/", "retry/brand/"):
        answer = owner.client.post(here + move, follow=True)
        messages = {str(message) for message in answer.context["messages"]}
        assert messages <= {str(text) for text in analysis_words.PROBLEMS.values()}
        assert len(messages) == 1


def test_too_many_runs_are_refused_on_the_page(owner: JsonClient, person: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(analysis_actions, "UNFINISHED_PER_PERSON", 0)
    answer = owner.client.post("/profile/", FORM)
    assert (answer.status_code, Run.objects.count()) == (400, 0)
    assert "Too many analyses at once" in answer.content.decode()


def test_a_long_answer_says_that_it_goes_on_and_is_there_whole(owner: JsonClient, person: User, agents: Agents) -> None:
    story = f"{'word ' * 1000}END"
    agents.replies = {"core": {"hobby_story": story, "likes": [f"thing {number}" for number in range(201)]}}
    run = finished(person)
    page = owner.client.get(f"/profile/{run.analysis_id}/").content.decode()

    assert page.count("It goes on") == 1
    assert page.count("word END") == 1
    assert "more in the raw data" in page
    assert "thing 200" not in page
