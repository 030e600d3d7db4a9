"""A consent names one verified address and one number at most: nothing else is asked by, told, shown or sent."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.models import User
from agents_proxy.agents import ANALYSIS_PURPOSES
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers, named_by, verified_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import ADDRESS, OTHER, TO
from tests.agents_proxy.proxy_calls import AGREED, SITE, configure, consenting, owning, refusal
from tests.agents_proxy.receivers import backend, token_of
from tests.agents_proxy.runs import BODY
from tests.agents_proxy.test_assertions import claims_of
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory
from tests.fakes.agents import agent, answers

SUBJECT, CONSENTS, PAGE = "/api/a2a/subject", "/api/a2a/consents", "/profile/consent/"
FIRST, SECOND = "ana@example.org", "ana@work.example"
QUERY = {"origin": SITE, "purposes": "profile", "return_url": f"{SITE}/back"}
MISMATCH = (403, -32058, "subject_mismatch")


@pytest.fixture
def ana(person: User) -> User:
    """Ana, with two verified addresses and two verified numbers; the newest number is `OTHER`."""
    EmailAddress.objects.create(user=owning(person, TO), email=SECOND, verified=True)
    EmailAddress.objects.create(user=person, email="ana@unverified.example", verified=False)
    return owning(person, OTHER)


@pytest.fixture
def zoe(db: None) -> User:
    return owning(PersonFactory(email="zoe@example.org"), "+351912345678")


@pytest.fixture
def shop(db: None) -> Any:
    return AppFactory(origins=[SITE])


def kept() -> Identifiers:
    """What the one consent that there is names."""
    consent = ProcessingConsent.objects.get()
    return named_by(consent, verified_by(consent.user_id))


def test_the_page_offers_ones_own_and_keeps_what_is_chosen(ana: User, shop: Any) -> None:
    browser = signed_in(ana).client
    shown = browser.get(PAGE, QUERY).content.decode()
    for value in (FIRST, SECOND, TO, OTHER):
        assert shown.count(f'value="{value}"') == 1
    assert "unverified.example" not in shown
    checked = re.findall(r"<input type=\"radio\"[^>]*value=\"([^\"]*)\"[^>]* checked", shown)
    assert checked == ["day", FIRST, OTHER]

    chosen = {**AGREED, "email": SECOND, "number": TO}
    assert browser.post(PAGE, chosen, query_params=QUERY).status_code == 303

    assert kept() == Identifiers((SECOND,), (TO,))
    assert f"About {SECOND}, {TO}" in browser.get(f"{PAGE}given/").content.decode()


def test_where_there_is_one_of_each_they_are_named_without_a_question(zoe: User, shop: Any) -> None:
    browser = signed_in(zoe).client
    shown = browser.get(PAGE, QUERY).content.decode()
    assert "zoe@example.org" in shown
    assert "+351912345678" in shown
    assert set(re.findall(r'type="radio" name="(\w+)"', shown)) == {"duration"}

    browser.post(PAGE, AGREED, query_params=QUERY)
    assert kept() == Identifiers(("zoe@example.org",), ("+351912345678",))


def test_one_kind_can_be_left_out_and_not_both(ana: User) -> None:
    browser = signed_in(ana).client
    query = {"purposes": "profile"}
    nothing = browser.post(PAGE, {**AGREED, "email": "none", "number": "none"}, query_params=query)
    assert nothing.status_code == 400
    browser.post(PAGE, {**AGREED, "email": FIRST, "number": "none"}, query_params=query)

    assert kept() == Identifiers((FIRST,))


FORGED = [
    {"email": "zoe@example.org", "number": "none"}, {"email": "ana@unverified.example", "number": "none"},
    {"email": "none", "number": "+351912345678"}, {"email": [FIRST, "zoe@example.org"], "number": "none"},
    {"email": f"{FIRST},zoe@example.org", "number": "none"}, {"email": FIRST}, {},
]  # fmt: skip


@pytest.mark.parametrize("form", FORGED, ids=str)
def test_a_forged_choice_is_none(form: dict[str, Any], ana: User, zoe: User, shop: Any) -> None:
    answer = signed_in(ana).client.post(PAGE, {**AGREED, **form}, query_params=QUERY)

    assert answer.status_code == 400
    assert not ProcessingConsent.objects.exists()


@pytest.mark.parametrize("form", [{"email": "ana@example.org"}, {"number": TO}], ids=str)
def test_a_field_that_the_page_did_not_have_changes_nothing(form: dict[str, str], ana: User, zoe: User) -> None:
    signed_in(zoe).client.post(PAGE, {**AGREED, **form}, query_params={"purposes": "profile"})

    assert kept() == Identifiers(("zoe@example.org",), ("+351912345678",))


def test_what_was_offered_has_to_be_what_is_there_still(zoe: User) -> None:
    browser = signed_in(zoe).client
    shown = browser.get(PAGE, {"purposes": "profile"}).context["shown"]
    EmailAddress.objects.create(user=zoe, email="zoe@work.example", verified=True)
    answer = browser.post(PAGE, {**AGREED, "shown": shown}, query_params={"purposes": "profile"})

    assert "has changed since you read it" in answer.content.decode()
    assert not ProcessingConsent.objects.exists()


def test_a_program_of_ours_names_them_or_takes_the_first(ana: User, zoe: User) -> None:
    owner = signed_in(ana)
    for named in ({"email": "zoe@example.org"}, {"email": "ana@unverified.example"}, {"phoneNumber": "+351912345678"}):
        answer = owner.post(CONSENTS, {"purposes": ["profile"], "agreed": True, **named})
        assert (answer.status_code, answer.json()["code"]) == (403, "subject_not_verified")
        assert answer.json()["data"]["verify_url"].startswith("http://localhost:8000/")
    assert (
        owner.post(CONSENTS, {"purposes": ["profile"], "agreed": True, "email": "Ana@Work.example"}).status_code == 201
    )

    assert kept() == Identifiers((SECOND,), (OTHER,))


def test_no_action_keeps_somebody_elses(ana: User, zoe: User) -> None:
    with pytest.raises(Exception, match="verified"):
        consents.give(by=ana, purposes=[Purpose.PROFILE], named=Identifiers(("zoe@example.org",)))


USED = {
    "profile": Identifiers((FIRST,), (OTHER,)), "messaging": Identifiers((), (OTHER,)), "financial": Identifiers(),
    "identity": Identifiers(), "messaging,brand_affinity": Identifiers((FIRST,), (OTHER,)),
}  # fmt: skip


@pytest.mark.parametrize(("purposes", "named"), USED.items(), ids=USED)
def test_a_token_is_told_what_its_purposes_use(purposes: str, named: Identifiers, ana: User, shop: Any) -> None:
    site = backend(token_of(ana, shop, purposes=[Purpose(one) for one in purposes.split(",")]))

    assert site.get(SUBJECT).json() == named.body()


def test_a_page_elsewhere_may_read_it_and_nobody_without_a_consent(ana: User, shop: Any) -> None:
    token = token_of(ana, shop, purposes=[Purpose.PROFILE])
    page = JsonClient(Client(), headers={"A2A-Consent": token, "Origin": SITE})
    answer = page.get(SUBJECT)
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (200, SITE)
    assert "Access-Control-Allow-Credentials" not in answer

    headers = {"Origin": SITE, "Access-Control-Request-Method": "GET"}
    preflight = JsonClient(Client(), headers=headers).send("OPTIONS", SUBJECT, b"")
    assert (preflight.status_code, preflight["Access-Control-Allow-Methods"]) == (204, "GET, HEAD")
    assert JsonClient(Client()).get(SUBJECT).status_code == 401
    assert JsonClient(Client(), headers={"Origin": "https://evil.example"}).get(SUBJECT).status_code == 403
    assert JsonClient(Client(), headers={"A2A-Consent": "x" * 43}).get(SUBJECT).status_code == 403
    consents.withdraw(consent_id=ProcessingConsent.objects.get().consent_id, by=ana)
    assert page.get(SUBJECT).json()["code"] == "consent_required"


def test_in_a_session_it_is_what_ones_own_consents_name(ana: User, zoe: User, shop: Any) -> None:
    owner = signed_in(ana)
    token_of(ana, shop, purposes=[Purpose.PROFILE])  # a site's is not one's own
    assert owner.get(SUBJECT).json() == {"emails": [], "phone_numbers": []}

    consents.give(by=ana, purposes=[Purpose.PROFILE], named=Identifiers((SECOND,)))
    consents.give(by=ana, purposes=[Purpose.MESSAGING])
    consenting(zoe)
    assert owner.get(SUBJECT).json() == {"emails": [SECOND], "phone_numbers": [OTHER]}
    assert owner.get(f"{SUBJECT}?person=zoe").status_code == 400


def test_prompt_and_assertion_hold_no_other_of_ones_own(ana: User, settings: Any) -> None:
    consents.give(by=ana, purposes=[Purpose.BRAND_AFFINITY], named=Identifiers((SECOND,), (TO,)))
    owner = signed_in(ana)
    with agent(answers()) as running:
        configure(settings, url=running.url)
        for text in (FIRST, OTHER, f"{SECOND}, {FIRST}"):
            assert refusal(owner.post("/api/a2a/brand", {"text": text})) == MISMATCH
        for text in ("What do I like?", f"I am {SECOND}, {TO}."):
            assert owner.post("/api/a2a/brand", {"text": text}).status_code == 200
    shown = [claims_of(call.headers["x-processing-consent"])["subject"] for call in running.calls]
    assert shown == [{"emails": [SECOND], "phone_numbers": []}, {"emails": [SECOND], "phone_numbers": [TO]}]


def test_who_agrees_again_may_choose_another_one(ana: User, settings: Any) -> None:
    for email in (FIRST, SECOND):
        consents.give(by=ana, purposes=[Purpose.BRAND_AFFINITY], named=Identifiers((email,)))
    with agent(answers()) as running:
        configure(settings, url=running.url)
        assert signed_in(ana).post("/api/a2a/brand", {"text": SECOND}).status_code == 200
        assert refusal(signed_in(ana).post("/api/a2a/brand", {"text": FIRST})) == MISMATCH


def test_a_reply_about_another_of_ones_own_is_withheld(ana: User, agents: Agents) -> None:
    consents.give(by=ana, purposes=[Purpose.PROFILE], named=Identifiers((SECOND,)))
    agents.replies["core"] = {"email": FIRST, "city": "Porto"}

    assert refusal(signed_in(ana).post("/api/a2a/core", {"text": "Who am I?"})) == MISMATCH


def test_messages_go_to_the_number_that_was_named(carrier: Agents, ana: User, shop: Any) -> None:
    consents.give(by=ana, purposes=[Purpose.MESSAGING], named=Identifiers((), (TO,)))
    message = {"text": "Your table is ready."}
    denied = signed_in(ana).post(ADDRESS, {**message, "to": OTHER})
    assert refusal(denied) == (403, -32050, "consent_required")
    assert denied.json()["error"]["data"]["consent_url"].endswith("/profile/consent/?purposes=messaging")
    # a site cannot tell another number of theirs from anybody's
    site = backend(token_of(ana, shop, purposes=[Purpose.MESSAGING]))
    refused = [
        site.post(ADDRESS, {**message, "to": to, "id": "task-m"}).json()["error"] for to in (TO, "+351912345678")
    ]
    for one in refused:
        one["data"].pop("trace_id")
    assert refused[0] == refused[1]
    assert carrier.requests == []
    assert signed_in(ana).post(ADDRESS, {**message, "to": TO}).status_code == 200


def test_forms_offer_what_was_agreed_to(ana: User, carrier: Agents) -> None:
    consents.give(by=ana, purposes=[Purpose.PROFILE, Purpose.MESSAGING], named=Identifiers((SECOND,), (TO,)))
    page = signed_in(ana).client
    look_up, messages = (page.get(address).content.decode() for address in ("/profile/look-up/", "/profile/messages/"))

    assert [f'value="{one}"' in look_up for one in (FIRST, SECOND, TO, OTHER)] == [False, True, True, False]
    assert [f'value="{one}"' in messages for one in (TO, OTHER)] == [True, False]


def test_a_form_that_takes_the_agreement_names_what_was_chosen_in_it(ana: User, carrier: Agents) -> None:
    page = signed_in(ana).client
    page.post("/profile/look-up/", {"about": SECOND, "agreed": "on"})
    assert kept() == Identifiers((SECOND,), (OTHER,))
    ProcessingConsent.objects.all().delete()

    page.post("/profile/messages/", {"to": TO, "text": "Ready.", "agreed": "on", "do": "send", "task": "task-m"})
    assert kept() == Identifiers((), (TO,))


def test_an_analysis_is_about_the_address_that_it_names(ana: User, shop: Any, agents: Agents) -> None:
    body = {**BODY, "email": SECOND, "countryCode": "+49", "phoneNumber": TO[3:]}
    signed_in(ana).post("/api/a2a/analyses", body)
    run = Run.objects.get()
    assert kept() == Identifiers((SECOND,), (TO,))
    steps.run_through(run.pk)
    assert {step.status for step in run.steps.all()} == {"empty"}

    site = backend(token_of(ana, shop, purposes=ANALYSIS_PURPOSES))
    refused = [site.post("/api/a2a/analyses", {**body, "email": email}).json() for email in (SECOND, "zoe@example.org")]
    for one in refused:
        one.pop("trace_id")
    assert refused[0] == refused[1]  # a site cannot tell another address of theirs from anybody's
    assert refused[0]["code"] == "subject_not_verified"
    assert site.post("/api/a2a/analyses", {**body, "email": FIRST}).status_code == 202
    steps.run_through(Run.objects.latest("pk").pk)
    assert all(TO not in json.dumps(request) for _, request in agents.requests[4:])  # the token names the other number


def test_a_consent_that_was_given_before_anything_was_verified_asks_for_another(ana: User, settings: Any) -> None:
    EmailAddress.objects.filter(user=ana).update(verified=False)
    consents.give(by=ana, purposes=[Purpose.BRAND_AFFINITY], named=Identifiers())
    EmailAddress.objects.filter(user=ana).update(verified=True)
    answer = signed_in(ana).post("/api/a2a/brand", {"text": FIRST})

    assert refusal(answer) == (403, -32050, "consent_required")
    assert answer.json()["error"]["data"]["consent_url"].endswith("/profile/consent/?purposes=brand_affinity")


@pytest.mark.parametrize("decision", ["agree", "refuse"])
@pytest.mark.parametrize("state", ["order 7&error=x#y", "", "é" * 500], ids=["signs", "empty", "long"])
def test_the_callers_state_comes_back_as_it_was(decision: str, state: str, zoe: User, shop: Any) -> None:
    answer = signed_in(zoe).client.post(PAGE, {**AGREED, "decision": decision}, query_params={**QUERY, "state": state})
    returned = parse_qs(urlsplit(answer["Location"]).fragment, keep_blank_values=True, strict_parsing=True)

    assert returned["state"] == [state]
    assert ("consent_token" in returned, returned.get("error")) == (
        (True, None) if decision == "agree" else (False, ["access_denied"])
    )
