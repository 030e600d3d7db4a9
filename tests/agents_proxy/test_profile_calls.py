"""Creating, updating and looking up a profile on a page: one agent, one call, nothing kept but that it took place."""

import json
import threading
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import upstream
from agents_proxy.proxy.envelope import Reply
from agents_proxy.proxy.models import Call
from tests.agents_proxy.agent_server import Agents, waits_for
from tests.agents_proxy.proxy_calls import owning
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db
FORMS: dict[str, dict[str, str]] = {
    "create": {"text": "I am Ana Sá, +351912345678, and I love tea."},
    "update": {
        "about": "+351912345678", "instruction": "I moved.",
        "fields_given": "City: Salzburg\n\nAge: 42",
    },
    "look-up": {"about": "ana@example.org"},
}  # fmt: skip
SENT = {
    "create": ("core-profile", "I am Ana Sá, +351912345678, and I love tea."),
    "update": ("core-profile-update", 'Phone: +351912345678\n\nI moved.\n\n{"city": "Salzburg", "age": "42"}'),
    "look-up": ("core", "Email: ana@example.org"),
}
PROFILE = {"full_name": "Ana Sá", "gender": "female", "intent_24h": {"category": "Tea", "budget": "5 €"}}


@pytest.fixture
def person(person: User) -> User:
    return owning(person, "+351912345678")


@pytest.fixture
def agents(agents: Agents, settings: Any) -> Agents:
    """The profile agents too, which no analysis asks."""
    for name in ("core-profile", "core-profile-update"):
        settings.AGENTS = {
            **settings.AGENTS, name: {**settings.AGENTS["core"], "url": f"{agents.address}/{name}"},
        }  # fmt: skip
    return agents


@pytest.mark.parametrize("kind", FORMS)
def test_an_agreement_says_whom_it_names(owner: JsonClient, person: User, agents: Agents, kind: str) -> None:
    agents.replies = {SENT[kind][0]: PROFILE}
    assert "I agree to this for my own details: ana@example.org, +351912345678" in (
        owner.client.get(f"/profile/{kind}/").content.decode()
    )

    owner.client.post(f"/profile/{kind}/", {**FORMS[kind], "agreed": "on"})

    given = ProcessingConsent.objects.get(user=person)
    assert (given.email, bool(given.number_digest)) == ("ana@example.org", True)


@pytest.mark.parametrize("kind", FORMS)
def test_an_agent_is_asked_once_and_its_answer_shown(
    owner: JsonClient, person: User, agents: Agents, kind: str
) -> None:
    agent, text = SENT[kind]
    agents.replies = {agent: PROFILE}
    here = f"/profile/{kind}/"
    form = owner.client.get(here).content.decode()
    answer = owner.client.post(here, {**FORMS[kind], "agreed": "on"})

    assert answer.status_code == 200
    shown = answer.content.decode()
    assert all(word in shown for word in ("Ana Sá", "Female", "timeline-chart", "What the agent answered"))
    [(name, call)] = agents.requests
    assert (name, call["params"]["message"]["parts"][0]["text"]) == (agent, text)
    consent = ProcessingConsent.objects.get()
    assert (consent.user, consent.purposes, consent.reach) == (person, ["profile"], "own")
    assert all(line.removeprefix("- ").partition(": ")[2] in form for line in consent.statement.splitlines()[1:2])
    assert consent.statement.splitlines()[0] in form
    noted = Call.objects.get()
    assert (noted.agent, noted.outcome, noted.consent_id) == (agent, "answered", consent.pk)


def test_a_consent_that_lives_is_not_asked_for_again(owner: JsonClient, agents: Agents) -> None:
    for form in ({**FORMS["look-up"], "agreed": "on"}, FORMS["look-up"]):
        assert owner.client.post("/profile/look-up/", form).status_code == 200

    assert ProcessingConsent.objects.count() == 1
    assert agents.names == ["core", "core"]
    assert 'name="agreed"' not in owner.client.get("/profile/look-up/").content.decode()


@pytest.mark.parametrize(
    ("kind", "given", "field"),
    [
        ("create", {"agreed": ""}, "agreed"),
        ("create", {"text": " "}, "text"),
        ("create", {"text": "x" * 10_001}, "text"),
        ("look-up", {"about": ""}, "about"),
        ("look-up", {"about": "zoe@example.org"}, "about"),
        ("look-up", {"about": "+4915123456789"}, "about"),
        ("update", {"instruction": "", "fields_given": ""}, "__all__"),
        ("update", {"fields_given": "Salzburg"}, "fields_given"),
        ("update", {"fields_given": "\n".join(f"field{n}: x" for n in range(61))}, "fields_given"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_sent(
    owner: JsonClient, agents: Agents, kind: str, given: dict[str, str], field: str
) -> None:
    answer = owner.client.post(f"/profile/{kind}/", {**FORMS[kind], "agreed": "on", **given})

    assert answer.status_code == 400
    assert set(answer.context["form"].errors) == {field}
    assert agents.requests == []
    assert not ProcessingConsent.objects.exists()


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        ("I know nobody.", 502, "not a profile that can be read"),
        ({"error": {"code": -1, "message": "secret"}}, 502, "reported an error"),
        ([1], 502, "not a profile"),
    ],
)
def test_an_answer_without_a_profile_keeps_what_was_typed(
    owner: JsonClient, agents: Agents, reply: Any, status: int, words: str
) -> None:
    agents.replies = {"core-profile": reply if not isinstance(reply, list) else json.dumps(reply)}
    answer = owner.client.post("/profile/create/", {**FORMS["create"], "agreed": "on"})

    text = answer.content.decode()
    assert (answer.status_code, words in text) == (status, True)
    assert "and I love tea." in text
    assert "secret" not in text
    assert "raw data" not in text
    assert len(agents.requests) == 1


def test_what_is_answered_after_a_withdrawal_is_shown_to_nobody(
    owner: JsonClient, person: User, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    def withdrawn_meanwhile(*args: Any) -> Reply:
        consents.withdraw(consent_id=ProcessingConsent.objects.get().consent_id, by=person)
        return ask(*args)

    ask = upstream.call
    monkeypatch.setattr(upstream, "call", withdrawn_meanwhile)
    agents.replies = {"core": PROFILE}
    answer = owner.client.post("/profile/look-up/", {**FORMS["look-up"], "agreed": "on"})

    assert (answer.status_code, "timeline-chart" in answer.content.decode()) == (403, False)


def test_an_agent_that_is_not_there_is_told_apart(owner: JsonClient, agents: Agents, settings: Any) -> None:
    def answered(**columns: Any) -> tuple[int, str]:
        settings.AGENTS = {**settings.AGENTS, "core": {**settings.AGENTS["core"], **columns}}
        answer = owner.client.post("/profile/look-up/", {**FORMS["look-up"], "agreed": "on"})
        return answer.status_code, str(answer.context["problem"])

    assert answered(url="http://127.0.0.1:9/") == (502, "The agent cannot be reached. Try again later.")
    assert answered(url="") == (503, "This agent is not available here.")


def test_a_slow_agent_may_have_done_it(owner: JsonClient, agents: Agents, settings: Any) -> None:
    gate = threading.Event()
    agents.replies = {"core": waits_for(gate, PROFILE)}
    settings.AGENTS = {**settings.AGENTS, "core": {**settings.AGENTS["core"], "timeout": 1.0}}
    answer = owner.client.post("/profile/look-up/", {**FORMS["look-up"], "agreed": "on"})
    gate.set()

    assert answer.status_code == 504
    assert "may have done it all the same" in answer.content.decode()


def test_too_many_calls_are_refused(owner: JsonClient, agents: Agents, settings: Any) -> None:
    settings.A2A_SESSION_BURST, settings.A2A_SESSION_PER_SECOND = 1, 0.01
    form = {**FORMS["look-up"], "agreed": "on"}

    assert [owner.client.post("/profile/look-up/", form).status_code for _ in range(2)] == [200, 429]
    assert len(agents.requests) == 1


def asks(question: str) -> dict[str, Any]:
    message = {"role": "agent", "parts": [{"type": "text", "text": question}]}
    return {"result": {"id": "t", "status": {"state": "input-required", "message": message}}}


@pytest.mark.parametrize("kind", FORMS)
def test_an_agent_that_asks_back_is_answered_in_the_same_conversation(
    owner: JsonClient, person: User, agents: Agents, kind: str
) -> None:
    replies = iter([asks("Which Ana?"), asks("And which <street>?"), PROFILE])
    agents.replies = {SENT[kind][0]: lambda _request: next(replies)}
    here = f"/profile/{kind}/"
    first = owner.client.post(here, {**FORMS[kind], "agreed": "on"})
    second = owner.client.post(here, {"question": first.context["question_names"], "answer": "The one in Porto."})
    third = owner.client.post(here, {"question": second.context["question_names"], "answer": "Rua 1"})

    assert [answer.status_code for answer in (first, second, third)] == [200] * 3
    assert "Which Ana?" in first.content.decode()
    assert "And which &lt;street&gt;?" in second.content.decode()
    assert "Which Ana?" not in second.content.decode()
    assert "timeline-chart" in third.content.decode()
    calls = [request for _, request in agents.requests]
    assert [call["params"]["message"]["parts"][0]["text"] for call in calls[1:]] == ["The one in Porto.", "Rua 1"]
    assert len({(call["id"], call["params"]["sessionId"]) for call in calls}) == 1


def test_an_answer_that_does_not_fit_is_not_sent_and_stays(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"core": asks("Which Ana?")}
    here = "/profile/look-up/"
    sealed = owner.client.post(here, {**FORMS["look-up"], "agreed": "on"}).context["question_names"]
    strangers = signed_in(owning(PersonFactory(email="ben@example.org"))).client

    refused = [
        owner.client.post(here, {"question": sealed, "answer": " "}),
        owner.client.post(here, {"question": sealed, "answer": "x" * 4001}),
        owner.client.post(here, {"question": sealed, "answer": "I mean carla@example.org"}),
    ]
    over = [
        owner.client.post(here, {"question": f"{sealed}x", "answer": "Porto"}),
        owner.client.post("/profile/create/", {"question": sealed, "answer": "Porto"}),
        strangers.post(here, {"question": sealed, "answer": "Porto"}),
    ]

    assert [answer.status_code for answer in refused] == [400, 400, 403]
    assert all("Which Ana?" in answer.content.decode() for answer in refused)
    assert "x" * 4001 in refused[1].content.decode()
    assert [answer.status_code for answer in over] == [400] * 3
    assert all("waits for this answer no more" in answer.content.decode() for answer in over)
    assert len(agents.requests) == 1
