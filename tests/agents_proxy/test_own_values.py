"""What a person gives an analysis of their own data: their own word, which no agent is told of, while the run lasts."""

import json
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.agents import ANALYSIS_PURPOSES
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.spelling import PROMPT_ATTRIBUTES
from agents_proxy.statements import OWN_VALUES_USED
from common import encryption
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.proxy_calls import owning
from tests.agents_proxy.receivers import backend, token_of
from tests.agents_proxy.runs import BODY, SUBMITTED, TICKED, kept
from tests.callers import JsonClient
from tests.factories import PersonFactory, give_vault

pytestmark = pytest.mark.django_db
AT = "/api/a2a/analyses"
OWN = {"City": "Porto", "likes": ["tea"], "gym_membership": False}
CANONICAL = {"city": "Porto", "likes": ["tea"], "gym_membership": False}


def started_with(owner: JsonClient, own: Any) -> Run:
    answer = owner.post(AT, {**BODY, "ownValues": own})
    assert answer.status_code == 202, answer.content
    return Run.objects.get(analysis_id=answer.json()["analysisId"])


def finished_with(owner: JsonClient, own: Any) -> dict[str, Any]:
    run = started_with(owner, own)
    steps.run_through(run.pk)
    body: dict[str, Any] = owner.get(f"{AT}/{run.analysis_id}").json()
    return body


def test_it_stands_over_agents_and_needs_none(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"second": {"city": "Linz", "age": 41}}

    body = finished_with(owner, OWN)

    assert body["profile"] == {"age": 41, **CANONICAL}
    assert body["provenance"] == {"age": "second", **dict.fromkeys(CANONICAL, "person")}
    assert body["metadata"]["total_fields"] == 4


def test_no_agent_is_told_of_it_or_asked_for_it(owner: JsonClient, person: User, agents: Agents) -> None:
    finished_with(owner, OWN)

    for _, request in agents.requests:
        text = request["params"]["message"]["parts"][0]["text"]
        assert '"age"' in text
        assert not [word for word in ("Porto", '"city"', '"likes"', '"gym_membership"') if word in text]
    assert len(agents.requests) == 4


def test_it_is_sealed_agreed_to_and_gone_with_the_run(owner: JsonClient, person: User) -> None:
    run = started_with(owner, OWN)
    plain = started_with(owner, {"age": 41})

    assert '"Porto"' not in run.input
    assert json.loads(encryption.opened(run.input))["ownValues"] == CANONICAL
    assert run.consent.statement.endswith(str(OWN_VALUES_USED))
    assert owner.get(f"{AT}/{run.analysis_id}/raw").json()["input"]["ownValues"] == CANONICAL
    owner.delete(f"{AT}/{run.analysis_id}")
    assert list(Run.objects.all()) == [plain]
    assert "Porto" not in str(ProcessingConsent.objects.values())


def test_without_any_the_wording_says_nothing_of_it(owner: JsonClient, person: User) -> None:
    owner.post(AT, BODY)

    assert str(OWN_VALUES_USED) not in ProcessingConsent.objects.get().statement


def test_the_later_word_counts_and_can_be_taken_back(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"core": {"city": "Linz"}}
    first = finished_with(owner, {"city": "Porto"})
    corrections = f"{AT}/{first['analysisId']}/corrections"
    assert owner.put(corrections, {"city": "Braga"}).json()["profile"] == {"city": "Braga"}

    later = finished_with(owner, {"city": "Faro"})
    assert later["profile"] == {"city": "Faro"}
    assert owner.get(f"{AT}/{first['analysisId']}").json()["profile"] == {"city": "Braga"}

    owner.client.post(f"/profile/{later['analysisId']}/correct/", {"field": "city", "do": "forget"})
    assert owner.get(f"{AT}/{later['analysisId']}").json()["profile"] == {"city": "Linz"}
    run = kept(Run.objects.get(analysis_id=later["analysisId"]))
    assert json.loads(encryption.opened(run.input))["ownValues"] == {}


@pytest.mark.parametrize(
    "own",
    [
        {}, [], "x", {"confidence_score": 1}, {"user_id": "x"}, {"age": None}, {"age": ""}, {"likes": [["tea"]]},
        {"city": "Porto", "City": "Faro"}, {"city": "x" * 2001}, {"likes": ["x" * 1500] * 3},
        {f"field_{number}": 1 for number in range(51)},
    ],
    ids=lambda own: json.dumps(own)[:30],
)  # fmt: skip
def test_what_is_no_value_is_refused(owner: JsonClient, person: User, own: Any) -> None:
    answer = owner.post(AT, {**BODY, "ownValues": own})

    assert answer.status_code == 400
    assert all(error["field"].startswith("ownValues") for error in answer.json()["errors"])
    assert not Run.objects.exists()


def test_another_address_is_nobodys_own_word(owner: JsonClient, person: User) -> None:
    for own in ({"email": "ben@example.org"}, {"phone": "+351912345678"}):
        answer = owner.post(AT, {**BODY, "ownValues": own})
        assert (answer.status_code, answer.json()["code"]) == (403, "subject_not_verified")
    assert not Run.objects.exists()
    assert owner.post(AT, {**BODY, "ownValues": {"email": person.email}}).status_code == 202


def test_no_token_speaks_for_the_person(person: User, shop: Any) -> None:
    site = backend(token_of(person, shop, purposes=ANALYSIS_PURPOSES))

    answer = site.post(AT, {**BODY, "ownValues": {"city": "Porto"}})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert site.post(AT, BODY).status_code == 202


def test_the_page_offers_each_field_of_a_profile_but_who_somebody_is(owner: JsonClient, person: User) -> None:
    assert owner.client.get("/profile/").context["own_places"] is None
    give_vault(person)

    places = owner.client.get("/profile/").context["own_places"]

    assert {place["field"] for place in places.values()} == PROMPT_ATTRIBUTES.keys() - {"full_name", "email", "phone"}
    assert places["location.home.city"]["field"] == "city"


def test_the_page_takes_what_is_ticked(owner: JsonClient, person: User, agents: Agents) -> None:
    give_vault(person)
    form = {**SUBMITTED, **TICKED}

    for misfit in ("no JSON", '{"city": null}', '{"city": "a", "city": "b"}', json.dumps({"likes": ["é" * 1900] * 11})):
        answer = owner.client.post("/profile/", {**form, "ownValues": misfit})
        assert answer.status_code == 400
        assert b"does not fit. Tick it again" in answer.content
    unticked = owner.client.post("/profile/", {**SUBMITTED, "ownValues": '{"city": "Porto"}'})
    assert (unticked.status_code, unticked.context["form"].chosen) == (400, ["city"])
    assert b"Porto" not in unticked.content
    assert not Run.objects.exists()

    assert owner.client.post("/profile/", {**form, "ownValues": '{"city": "Porto"}'}).status_code == 302
    run = Run.objects.get()
    steps.run_through(run.pk)
    page = owner.client.get(f"/profile/{run.analysis_id}/").content.decode()
    assert "Porto" in page
    assert 'data-from="0"' in page


def test_other_peoples_runs_have_none_of_it(owner: JsonClient, person: User, agents: Agents) -> None:
    finished_with(owner, OWN)
    other = PersonFactory(email="ben@example.org")

    run = analysis_actions.start_analysis(by=owning(other), submitted={**SUBMITTED, "email": other.email})
    steps.run_through(run.pk)

    assert kept(run).provenance == {}
