"""The person outranks the agents: what they correct or refuse stands everywhere."""

import json
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import corrections, steps
from agents_proxy.analyses.models import Correction, Run
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from common import encryption
from developers.models import App
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.receivers import backend, deliver, token_of
from tests.agents_proxy.runs import BODY, finished, started
from tests.callers import JsonClient
from tests.factories import PersonFactory
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db
SECOND = "second@example.org"
REPLIES = {"brand": {"likes": ["Muji", "tea"]}, "core": {"occupation": "thief", "age": 4}, "second": {"age": 44}}


@pytest.fixture
def run(person: User, agents: Agents) -> Run:
    agents.replies = dict(REPLIES)
    return finished(person)


@pytest.fixture
def updates(agents: Agents, settings: Any) -> list[str]:
    """What the update agent was asked, in order."""
    known = {**settings.AGENTS["brand"], "url": f"{agents.address}/core-profile-update"}
    settings.AGENTS = {**settings.AGENTS, "core-profile-update": known}
    prompts: list[str] = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        prompts.append(request["params"]["message"]["parts"][0]["text"])
        return {}

    agents.replies["core-profile-update"] = answer
    return prompts


def put(owner: JsonClient, run: Run, body: Any) -> Any:
    return owner.put(f"/api/a2a/analyses/{run.analysis_id}/corrections", body)


def test_a_correction_stands_here_and_in_every_later_analysis(owner: JsonClient, person: User, run: Run) -> None:
    answer = put(owner, run, {"occupation": "baker", "Age": None}).json()
    later = finished(person)

    for body in (answer, owner.get(f"/api/a2a/analyses/{later.analysis_id}").json()):
        assert body["profile"] == {"likes": ["Muji", "tea"], "occupation": "baker"}
        assert body["provenance"] == {"likes": "brand", "occupation": "person"}
        assert body["metadata"]["total_fields"] == 2
    assert '"baker"' not in str(Correction.objects.values_list("value", flat=True))
    assert finished(PersonFactory(email="ben@example.org")).provenance == {
        "likes": "brand", "occupation": "core", "age": "second",
    }  # fmt: skip


def test_it_wins_in_an_analysis_that_is_under_way(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = dict(REPLIES)
    under_way = started(person)
    assert put(owner, under_way, {"occupation": "baker"}).json()["profile"] is None
    steps.run_through(under_way.pk)

    assert owner.get(f"/api/a2a/analyses/{under_way.analysis_id}").json()["profile"]["occupation"] == "baker"


@pytest.mark.parametrize(
    "body",
    [
        {}, {"confidence_score": 1}, {"user_id": "x"}, {"!": "x"}, {"age": ""}, {"age": {"a": {"b": 1}}}, [],
        {"age": "x" * 2001}, {"age": 41, "Age": 42},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_correction_is_refused(owner: JsonClient, run: Run, body: Any) -> None:
    answer = put(owner, run, body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert not Correction.objects.exists()


def test_nobody_speaks_for_somebody_else(owner: JsonClient, person: User, shop: App, run: Run, agents: Agents) -> None:
    enterprise = backend(token_of(person, shop, purposes=["profile", "enrichment", "brand_affinity"]))
    made = Run.objects.get(analysis_id=enterprise.post("/api/a2a/analyses", BODY).json()["analysisId"])
    others = finished(PersonFactory(email="ben@example.org"))
    answers = [
        put(enterprise, made, {"age": 41}),
        put(owner, others, {"age": 41}),
        put(owner, run, {"email": "b@c.example"}),
    ]

    assert [answer.status_code for answer in answers] == [401, 404, 403]
    assert not Correction.objects.exists()


def test_the_update_agent_is_told_once_under_the_consent(
    owner: JsonClient, person: User, run: Run, updates: list[str]
) -> None:
    put(owner, run, {"occupation": "baker", "age": None})
    assert corrections.people_with_due_corrections() == [person.pk]
    corrections.send_corrections(person.pk)
    corrections.send_corrections(person.pk)

    [text] = updates
    about, _instruction, fields = text.split("\n\n")
    assert (about, json.loads(fields)) == ("Email: ana@example.org", {"occupation": "baker", "age": None})
    assert not corrections.is_due()


def test_without_a_consent_no_agent_is_told(owner: JsonClient, person: User, run: Run, updates: list[str]) -> None:
    put(owner, run, {"occupation": "baker"})
    consents.withdraw(consent_id=run.consent.consent_id, by=person)
    corrections.send_corrections(person.pk)
    put(owner, run, {"occupation": "miller"})

    assert (updates, corrections.is_due()) == ([], False)


def test_an_agent_that_fails_is_told_again_and_then_no_more(
    owner: JsonClient, person: User, run: Run, updates: list[str], agents: Agents
) -> None:
    agents.replies["core-profile-update"] = {"error": {"code": -1, "message": "no"}}
    put(owner, run, {"occupation": "baker"})
    seen = []
    for _ in range(6):
        corrections.send_corrections(person.pk)
        seen.append(Correction.objects.filter(due_at__isnull=False).update(due_at=Correction.objects.get().at))

    assert seen == [1, 1, 1, 1, 0, 0]


def test_no_agent_is_told_of_others_and_what_names_nobody_waits_for_nothing(
    owner: JsonClient, person: User, run: Run, updates: list[str]
) -> None:
    EmailAddress.objects.create(user=person, email=SECOND, verified=True)
    put(owner, run, {"occupation": "baker", "email": SECOND, "likes": ["+351 912 345 678"], "4915112345678": "mine"})
    corrections.send_corrections(person.pk)

    [text] = updates
    assert json.loads(text.split("\n\n")[-1]) == {"occupation": "baker"}
    assert not Correction.objects.filter(due_at__isnull=False).exists()
    put(owner, run, {"email": SECOND})
    corrections.send_corrections(person.pk)
    assert (len(updates), corrections.is_due()) == (1, False)


def test_a_site_sees_an_address_that_its_consent_names_alone(
    owner: JsonClient, person: User, shop: App, run: Run, agents: Agents
) -> None:
    EmailAddress.objects.create(user=person, email=SECOND, verified=True)
    own = put(owner, run, {"email": SECOND}).json()["profile"]
    enterprise = backend(token_of(person, shop, purposes=["profile", "enrichment", "brand_affinity"]))
    made = Run.objects.get(analysis_id=enterprise.post("/api/a2a/analyses", BODY).json()["analysisId"])
    steps.run_through(made.pk)
    seen = enterprise.get(f"/api/a2a/analyses/{made.analysis_id}").json()["profile"]
    EmailAddress.objects.filter(email=SECOND).delete()
    later = owner.get(f"/api/a2a/analyses/{finished(person).analysis_id}").json()["profile"]

    assert [profile.get("email") for profile in (own, seen, later)] == [SECOND, None, None]


def test_there_is_an_end_to_what_is_corrected(owner: JsonClient, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections, "MOST_FIELDS", 2)
    answers = [put(owner, run, body) for body in ({"age": 1, "city": "Porto"}, {"age": 2}, {"age": 3, "pets": "cat"})]

    assert [answer.status_code for answer in answers] == [200, 200, 400]
    assert answers[1].json()["profile"]["age"] == opened(run)["age"] == 2


def opened(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encryption.opened(str(Run.objects.get(pk=run.pk).profile)))
    return found


def test_destinations_that_had_the_old_value_get_the_new_one(
    owner: JsonClient, person: User, shop: App, crm: type[Crm], destination: Destination, agents: Agents
) -> None:
    agents.replies = dict(REPLIES)
    enterprise = backend(token_of(person, shop, destination))
    run = Run.objects.get(analysis_id=enterprise.post("/api/a2a/analyses", BODY).json()["analysisId"])
    steps.run_through(run.pk)
    enterprise.post(f"/api/a2a/analyses/{run.analysis_id}/activations", {"destinationId": destination.destination_id})
    deliver()
    put(owner, run, {"occupation": "baker"})  # which nobody was sent
    put(owner, run, {"likes": ["coffee"]})
    deliver()

    assert [sent["data"]["profile"]["likes"] for sent in crm.got] == [["Muji", "tea"], ["coffee"]]
    assert list(Activation.objects.order_by("number").values_list("number", flat=True)) == [0, 1]


def test_the_page_corrects_refuses_and_takes_back(owner: JsonClient, run: Run) -> None:
    browser, here = owner.client, f"/profile/{run.analysis_id}/"

    def press(do: str, field: str, value: str = "") -> str:
        return browser.post(f"{here}correct/", {"do": do, "field": field, "value": value}, follow=True).content.decode()

    assert press("keep", "age", "41").count(">41<") == 1
    press("keep", "likes", "tea, coffee")
    assert "What you said is not true" in press("refuse", "occupation")
    kept = {row.field: row.value and json.loads(encryption.opened(row.value)) for row in Correction.objects.all()}
    assert kept == {"age": 41, "likes": ["tea", "coffee"], "occupation": None}
    assert "thief" in press("forget", "occupation")
    assert not Correction.objects.filter(field="occupation").exists()
    assert "That cannot be kept" in press("keep", "age", " ")
