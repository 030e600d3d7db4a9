"""Agents are asked about whoever agreed, and about nobody else: whatever is named, and whatever comes back."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.models import User
from agents_proxy.agents import AGENTS
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import verified_by
from agents_proxy.proxy.subjects import Subject
from tests.addresses import ADDRESSES, Address, path_of
from tests.agents_proxy.agent_server import ORDER, Agents
from tests.agents_proxy.proxy_calls import SITE, consenting, owning, refusal
from tests.agents_proxy.receivers import backend, token_of
from tests.agents_proxy.runs import BODY, TICKED, body_of, finished, kept
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory, ProcessingConsentFactory

pytestmark = pytest.mark.django_db
PROMPTED = [name for name in AGENTS if name != "messaging"]
CANARY = "canary-of-ana"
NUMBER, OTHERS = "+351912345678", "+4915112345678"
ANA = {"full_name": "Ana Sá", "email": "ana@example.org", "phone": NUMBER, "city": CANARY, "likes": [CANARY]}
MISMATCH = (403, -32058, "subject_mismatch")


@pytest.fixture
def agents(agents: Agents, settings: Any) -> Agents:
    """Every agent, each of which tells of Ana whoever asks, and whatever for."""
    known = {name: {**settings.AGENTS["core"], "url": f"{agents.address}/{name}"} for name in AGENTS}
    settings.AGENTS = {**settings.AGENTS, **known}
    agents.replies = dict.fromkeys(PROMPTED, ANA)
    return agents


@pytest.fixture
def ana(person: User) -> User:
    return consenting(owning(person, NUMBER))


@pytest.fixture
def zoe(db: None) -> User:
    return consenting(owning(PersonFactory(email="zoe@example.org"), OTHERS))


NAMES_ANA = [
    "ana@example.org", "What does ANA@Example.ORG like?", "ana\u200b@example.org", "ana\uff20example.org",
    "mailto:ana@example.org", "<ana@example.org>, and zoe@example.org", '{"email": "ana@example.org"}',
    "+447911123456", "zoe@example.org.example.com", "joe.zoe@example.org",
    "+351912345678", "+351 912 345 678", "00351 912 345 678", "351912345678", "Call (+351) 912-345-678 now",
    "\uff0b351912345678", "nobody@elsewhere.example",
]  # fmt: skip


@pytest.mark.parametrize("agent", PROMPTED)
@pytest.mark.parametrize("text", NAMES_ANA)
def test_a_prompt_that_names_somebody_else_goes_nowhere(agent: str, text: str, zoe: User, agents: Agents) -> None:
    assert refusal(signed_in(zoe).post(f"/api/a2a/{agent}", {"text": text})) == MISMATCH
    assert agents.requests == []


@pytest.mark.parametrize(
    "text",
    [
        "Who am I?", "zoe@example.org", "ZOE@EXAMPLE.ORG, +49 1511 2345678", "004915112345678", "4915112345678",
        "My budget is 1000-20000 EUR, from 2026-11-27 to 2026-12-24 10:00:00, order 12345678, @zoe on mastodon.example",
        "+49 15112345678", "15112345678", "+49 (0) 151 12345678", "0151 12345678",
        "1764000000000 ms; version 10.20.30.40; ISBN 978-3-16-148410-0", "IBAN DE89 3704 0044 0532 0130 00",
        "email=zoe@example.org", "\u201ezoe@example.org\u201c", "**zoe@example.org**", "'zoe@example.org'",
        "\u6211\u7684zoe@example.org\u3067\u3059", "a profit of +12000000 EUR", "mailto:zoe@example.org?subject=me",
    ],
)  # fmt: skip
def test_ones_own_and_what_names_nobody_passes(text: str, zoe: User, agents: Agents) -> None:
    agents.replies["core"] = {"email": "zoe@example.org", "city": "Graz"}

    assert signed_in(zoe).post("/api/a2a/core", {"text": text}).status_code == 200


@pytest.mark.parametrize("address", ["o'brien@example.org", "zoe+20261127@example.org", "_zoe_@example.org"])
def test_ones_own_address_is_ones_own_however_it_looks(address: str, agents: Agents) -> None:
    owner = consenting(owning(PersonFactory(email=address)))
    agents.replies["core"] = {"email": address}

    assert signed_in(owner).post("/api/a2a/core", {"text": f"Email: {address}"}).status_code == 200


@pytest.mark.parametrize("text", ["a" * 500_000, "a." * 250_000, "email: " * 70_000, "a@" * 250_000, "[" * 500_000])
def test_a_long_reply_is_looked_through_at_once(text: str, db: None) -> None:
    # each of these would take minutes where the time grew with the square of the length
    zoe = Subject(("zoe@example.org",), person_pk=1)
    assert zoe.is_named_in({"email": text, "parts": [{"text": text}]}) in (True, False)


@pytest.mark.parametrize("agent", PROMPTED)
def test_nothing_is_asked_for_somebody_who_verified_nothing(agent: str, agents: Agents, zoe: User) -> None:
    EmailAddress.objects.filter(user=zoe).update(verified=False)
    PhoneNumber.objects.filter(user=zoe).update(verified_at=None)

    for text in ("Who am I?", "zoe@example.org", "ana@example.org"):
        answer = signed_in(zoe).post(f"/api/a2a/{agent}", {"text": text})
        assert refusal(answer) == (403, -32060, "subject_not_verified")
        assert answer.json()["error"]["data"]["verify_url"] == "http://localhost:8000/accounts/email/"
    assert agents.requests == []


REPLIES = {
    "an address": ({"email": "ana@example.org", "city": CANARY}, False),
    "a number": ({"phone": "+351 912 345 678", "city": CANARY}, False),
    "another spelling": ({"eMail": "ana@example.org", "city": CANARY}, False),
    "nested": ({"contact": {"emails": ["ana@example.org"]}, "city": CANARY}, False),
    "wrapped": ({"userProfile": {"phoneNumber": "351912345678", "city": CANARY}}, False),
    "a list": (json.dumps([{"email": "ana@example.org", "city": CANARY}]), False),
    "fenced": ("Here: ```json\n" + json.dumps(ANA) + "\n```", False),
    "after a thought": ('{"thought": 1} ' + json.dumps(ANA), False),
    "broken": ('{"email": "ana@example.org", "city": "' + CANARY + '",}', False),
    "data": ({"result": {"parts": [{"kind": "data", "data": ANA}]}}, False),
    "no task": ({"result": {"profile": ANA}}, False),
    "broken with a list": ('{"email": "ana@example.org", "likes": ["tea"], "city": "' + CANARY + '",}', False),
    "cut off": ('{"likes": [], "email": "ana@example.org", "city": "' + CANARY, False),
    "single quotes": ("{'email': 'ana@example.org', 'likes': [], 'city': '" + CANARY + "'}", False),
    "no number": ('{"email": "ana@example.org", "score": NaN, "city": "' + CANARY + '"}', False),
    "two objects, one broken": ('{"t": 1} {"email": "ana@example.org", "city": "' + CANARY + '",}', False),
    "in text in text": (json.dumps({"answer": json.dumps(json.dumps(ANA))}), False),
    "in objects": ({"emails": [{"value": "ana@example.org"}], "city": CANARY}, False),
    "a number in an object": ({"phone": {"number": "+351 912 345 678"}, "city": CANARY}, False),
    "with a word before": ({"contact_email": "ana@example.org", "city": CANARY}, False),
    "a mobile": ({"mobile_phone": "+351912345678", "city": CANARY}, False),
    "a float": ({"phone": 351912345678.0, "city": CANARY}, False),
    "words": ("Email: ana@example.org. Lives in " + CANARY, False),
    "its end is one's own": ({"phone": "+15112345678", "city": CANARY}, False),
    "a number, typeset": ({"phone": "+1\u00a0415\u202f555\u00a02671", "city": CANARY}, False),
    "an address, typeset": ({"email": "ana\u200b@example.org", "city": CANARY}, False),
    "own number, typeset": ({"phone": "+49\u2011151\u201112345678"}, True),
    "the day of a number": (
        {"phone_verified_at": "2026-05-01T12:00:00Z", "mobile": "Pixel (05/23/2026)", "cell": "01.05.2026"},
        True,
    ),
    "a number like a day": ({"phone": "+45 15-12-2034", "mobile": "30 2012-10-30", "city": CANARY}, False),
    "a number that begins like a day": ({"phone": "2012-10-30-4455", "city": CANARY}, False),
    "a number of no month": ({"phone": "21-30-2045", "city": CANARY}, False),
    "a number after a day": ({"phone": "2026-05-01 0351 912345678", "city": CANARY}, False),
    "own number, as dialled": ({"phone": "+49 (0)151 12345678 ext 5"}, True),
    "own address, marked": ("**Email:** **zoe@example.org**", True),
    "masked": ({"email": "z***@example.org", "phone": "000 000 0000"}, True),
    "own address": ({"email": "Zoe@example.org", "phone": "+351 912 345 678"}, True),
    "own number": ({"email": "ana@example.org", "phone": "0151 12345678"}, True),
    "absent": ({"city": "Graz"}, True),
    "placeholders": ({"email": "unknown", "phone": "N/A", "city": "Graz"}, True),
    "prose": ("I know nobody.", True),
}


@pytest.mark.parametrize(("reply", "passes"), REPLIES.values(), ids=REPLIES)
def test_a_reply_about_others_alone_is_withheld(reply: Any, passes: bool, zoe: User, agents: Agents) -> None:
    agents.replies["core"] = reply
    answer = signed_in(zoe).post("/api/a2a/core", {"text": "Who am I?"})

    assert (answer.status_code == 200) == passes
    assert passes or refusal(answer) == MISMATCH
    assert CANARY not in answer.content.decode()


def test_a_sites_token_covers_who_gave_it(ana: User, zoe: User, agents: Agents) -> None:
    site = backend(token_of(zoe, AppFactory(origins=[SITE]), purposes=["profile", "enrichment", "brand_affinity"]))

    assert refusal(site.post("/api/a2a/core", {"text": "ana@example.org"})) == MISMATCH
    answer = site.post("/api/a2a/analyses", BODY)
    assert (answer.status_code, answer.json()["code"]) == (403, "subject_not_verified")
    assert answer.json()["data"]["verify_url"] == "http://localhost:8000/accounts/email/"
    assert site.post("/api/a2a/analyses", body_of(zoe)).status_code == 202
    assert agents.requests == []


def test_an_analysis_tells_agents_a_verified_number_alone(zoe: User, agents: Agents) -> None:
    agents.replies = {}
    for national in ("15112345678", "015112345678", "15112345679"):
        answer = signed_in(zoe).post(
            "/api/a2a/analyses", {**body_of(zoe), "countryCode": "+49", "phoneNumber": national}
        )
        run = Run.objects.get(analysis_id=answer.json()["analysisId"])
        steps.run_through(run.pk)

        prompts = [json.dumps(request) for _, request in agents.requests[-len(ORDER) :]]
        number = f"+49{int(national)}"
        assert [number in prompt for prompt in prompts] == [number == OTHERS] * len(ORDER)
        raw = signed_in(zoe).get(f"/api/a2a/analyses/{run.analysis_id}/raw").json()
        assert raw["input"]["phoneNumber"] == national


@pytest.mark.parametrize("change", [{"fullName": "ana@example.org"}, {"fullName": f"Ana {NUMBER}"}])
def test_the_name_in_an_analysis_names_nobody_else(change: dict[str, str], zoe: User, agents: Agents) -> None:
    answer = signed_in(zoe).post("/api/a2a/analyses", {**body_of(zoe), **change})
    run = Run.objects.get(analysis_id=answer.json()["analysisId"])
    steps.run_through(run.pk)

    assert [step.error_code for step in run.steps.all()] == ["subject_mismatch"] * len(ORDER)
    assert agents.requests == []


def test_what_an_analysis_is_told_of_others_is_kept_nowhere(zoe: User, agents: Agents) -> None:
    run = finished(zoe)

    assert [(step.error_code, step.reply) for step in run.steps.all()] == [("subject_mismatch", None)] * len(ORDER)
    assert kept(run).status == "failed"


def test_an_address_that_was_given_up_meanwhile_is_asked_about_no_more(zoe: User, agents: Agents) -> None:
    answer = signed_in(zoe).post("/api/a2a/analyses", body_of(zoe))
    EmailAddress.objects.filter(user=zoe).delete()
    run = Run.objects.get(analysis_id=answer.json()["analysisId"])
    steps.run_through(run.pk)

    assert agents.requests == []


def test_pages_offer_ones_own_and_take_nothing_else(ana: User, zoe: User, agents: Agents) -> None:
    page = signed_in(zoe).client
    for address, field in (
        ("/profile/", "email"), ("/profile/look-up/", "about"), ("/profile/update/", "about"),
        ("/profile/messages/", "to"),
    ):  # fmt: skip
        shown = page.get(address).content.decode()
        assert f'<select name="{field}"' in shown, address
        assert f'<input class="input" type="text" name="{field}"' not in shown
    for form in ({"about": "ana@example.org"}, {"about": NUMBER}):
        assert page.post("/profile/look-up/", form).status_code == 400
        assert page.post("/profile/update/", {**form, "instruction": "Forget me."}).status_code == 400
    answer = page.post("/profile/create/", {"text": "I am Ana, ana@example.org."})
    assert (answer.status_code, "about somebody else" in answer.content.decode()) == (403, True)
    assert agents.requests == []


FAMILY_B = [address for address in ADDRESSES if address.route.startswith(("api/a2a/", "profile/"))]


def bodies_of(address: Address) -> Iterator[dict[str, Any]]:
    """What the address takes, and everything that names Ana."""
    named = {"email": "ana@example.org", "about": "ana@example.org", "to": NUMBER, "text": "Tell me of ana@example.org"}
    yield dict(address.body) if isinstance(address.body, dict) else {}
    yield {**BODY, "agreed": True}
    yield {"text": named["text"]}
    yield {"text": "Who am I?"}
    yield {"to": NUMBER, "text": "Hello", "id": "task-matrix"}
    named |= TICKED
    yield {**named, "agreed": "on", "instruction": "She moved.", "fullName": "Ana Sá", "do": "send", "task": "task-m"}


@pytest.mark.parametrize("asker", ["session", "token"])
def test_two_people_at_every_address(asker: str, ana: User, zoe: User, agents: Agents) -> None:
    """Zoe, in a session and by a site's token, at every address of the family: 0 answers about Ana."""
    run = finished(ana)
    assert CANARY in json.dumps(signed_in(ana).get(f"/api/a2a/analyses/{run.analysis_id}").json())
    parts = {
        "analysis_id": run.analysis_id, "consent_id": ProcessingConsentFactory(user=ana).consent_id, "form": "json",
        "number_pk": str(PhoneNumber.objects.get(user=ana).pk),
    }  # fmt: skip
    caller = signed_in(zoe)
    if asker == "token":
        purposes = ["profile", "enrichment", "brand_affinity", "messaging"]
        token = token_of(zoe, AppFactory(origins=[SITE]), purposes=purposes)
        caller = JsonClient(Client(), headers={"A2A-Consent": token})

    statuses, about = Counter(), []
    for address in FAMILY_B:
        for agent in PROMPTED if "agent" in address.route else [""]:
            path = path_of(address.route, {**parts, "agent": agent})
            for body in [{}] if address.method == "GET" else bodies_of(address):
                if address.route.startswith("profile/"):
                    answer = getattr(caller.client, address.method.lower())(path, body, headers=caller.headers)
                else:
                    answer = caller.send(address.method, path, json.dumps(body).encode() if body else b"")
                statuses[answer.status_code] += 1
                text = answer.content.decode(errors="replace")
                if CANARY in text or (not body and any(own in text for own in ("ana@example.org", NUMBER))):
                    about.append((address.name, body))
    assert about == []
    assert {200, 400, 403, 404} <= statuses.keys()
    assert all("ana@example.org" not in json.dumps(request) for _, request in agents.requests[len(ORDER) :])


def test_a_masked_number_of_an_earlier_release_is_nobodys(zoe: User) -> None:
    from common import encryption

    PhoneNumber.objects.filter(user=zoe).update(number=encryption.sealed("+49 … 78"))

    assert verified_by(zoe.pk).all == ("zoe@example.org",)
    assert "+49 … 78" in signed_in(zoe).client.get("/profile/numbers/").content.decode()


def test_a_consent_without_a_person_behind_it_is_not_needed(settings: Any, agents: Agents) -> None:
    settings.A2A_REQUIRE_CONSENT = False

    assert JsonClient(Client()).post("/api/a2a/core", {"text": "ana@example.org"}).status_code == 200
    assert consents.are_required() is False
