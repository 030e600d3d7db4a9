"""The hosted page of consent: who asks for what, the way back with the token in the fragment, and withdrawing."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from accounts.models import User
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.processing_consent.actions import PER_PERSON
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Reach
from common import limits
from common.clock import database_now
from developers.models import App
from tests.agents_proxy.proxy_calls import CALL, SITE, configure, owning
from tests.agents_proxy.runs import started
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, ProcessingConsentFactory
from tests.fakes.agents import agent, answers

PAGE = "/profile/consent/"
QUERY = {"origin": SITE, "purposes": "brand_affinity,profile", "return_url": f"{SITE}/back?order=7"}


@pytest.fixture
def browser(person: User) -> Client:
    return signed_in(person).client


@pytest.fixture
def shop(db: None) -> App:
    made: App = AppFactory(name="Shop <b>& Co", origins=[SITE])
    return made


def agree(browser: Client, decision: str = "agree", **query: str) -> Any:
    query = query or QUERY
    ticked = dict.fromkeys((f"purpose-{name}" for name in query.get("purposes", "").split(",")), "on")
    return browser.post(PAGE, {"decision": decision, "duration": "day", **ticked}, query_params=query)


def test_page_shows_the_wording_that_is_kept(browser: Client, shop: App) -> None:
    page = browser.get(PAGE, QUERY)
    agree(browser)

    shown = page.content.decode()
    kept = ProcessingConsent.objects.get()
    assert page.status_code == 200
    assert '<h2 class="card-title" id="statement-title">Shop &lt;b&gt;&amp; Co</h2>' in shown
    assert f'<p class="card-sub">{SITE}</p>' in shown
    statement = page.context["statement"]
    assert str(statement).replace("as long as you choose", "24 hours") == kept.statement
    assert all(point.words in shown for point in statement.points)
    assert kept.statement_version in shown
    assert f"form-action 'self' {SITE}" in page["Content-Security-Policy"].split("; ")


def test_both_answers_weigh_the_same(browser: Client, shop: App) -> None:
    shown = browser.get(PAGE, QUERY).content.decode()

    answers = re.findall(r'<button class="([^"]+)" type="submit" name="decision" value="(\w+)"', shown)
    assert answers == [("btn", "agree"), ("btn", "refuse")]


def test_agreeing_returns_with_a_token_in_the_fragment_that_works(browser: Client, shop: App, settings: Any) -> None:
    answer = agree(browser)

    kept = ProcessingConsent.objects.get()
    target = urlsplit(answer["Location"])
    returned = {name: values[0] for name, values in parse_qs(target.fragment).items()}
    assert answer.status_code == 303
    assert (target.netloc, target.path, target.query) == ("shop.example", "/back", "order=7")
    assert returned.keys() == {"consent_token", "consent_id", "purposes", "expires_at"}
    assert returned["consent_id"] == kept.consent_id
    assert (len(returned["consent_token"]), returned["purposes"]) == (43, "profile,brand_affinity")
    assert (kept.reach, kept.origin, kept.app_id, kept.purposes) == (
        Reach.SITE, SITE, shop.pk, ["profile", "brand_affinity"],
    )  # fmt: skip
    with agent(answers()) as running:
        configure(settings, url=running.url)
        page = JsonClient(Client(), headers={"Origin": SITE, "A2A-Consent": returned["consent_token"]})
        assert page.post("/api/a2a/brand", CALL).status_code == 200


def test_each_purpose_is_ticked_by_itself_and_none_beforehand(browser: Client, shop: App) -> None:
    shown = browser.get(PAGE, QUERY).content.decode()
    sent = {"decision": "agree", "duration": "year", "purpose-brand_affinity": "on", "purpose-messaging": "on"}
    nothing = browser.post(PAGE, {"decision": "agree", "duration": "day"}, query_params=QUERY)
    answer = browser.post(PAGE, sent, query_params={**QUERY, "state": "a b&c"})

    kept = ProcessingConsent.objects.get()
    returned = parse_qs(urlsplit(answer["Location"]).fragment)
    boxes = re.findall(r'<input type="checkbox" name="(purpose-\w+)"[^>]*?>', shown)
    assert (boxes, re.findall(r'name="purpose-[^>]*checked', shown)) == (
        ["purpose-profile", "purpose-brand_affinity"], [],
    )  # fmt: skip
    assert (nothing.status_code, kept.purposes, returned["purposes"]) == (400, ["brand_affinity"], ["brand_affinity"])
    assert (kept.expires_at - kept.given_at, returned["state"]) == (timedelta(days=365), ["a b&c"])
    assert "Your profile" not in kept.statement
    assert "This holds for 365 days." in kept.statement


def test_what_is_ticked_needs_an_address_or_a_number_that_it_uses(browser: Client, person: User, shop: App) -> None:
    for number in ("+4915112345678", "+4915112345679"):
        owning(person, number)
    query = {**QUERY, "purposes": "profile,messaging,financial"}

    def answered(*ticked: str) -> int:
        chosen = {"number": "none", **dict.fromkeys((f"purpose-{name}" for name in ticked), "on")}
        sent = {"decision": "agree", "duration": "day", **chosen}
        return int(browser.post(PAGE, sent, query_params=query).status_code)

    assert [answered("messaging"), answered("profile", "messaging"), answered("financial")] == [400, 303, 303]
    assert [consent.email for consent in ProcessingConsent.objects.order_by("pk")] == [person.email, ""]


def test_who_receives_something_is_named_before_and_kept(browser: Client, shop: App, settings: Any) -> None:
    variables = {
        "name": "Affinity <i>", "operator": "Acme Lda", "country": "Portugal",
        "privacy_notice": "https://acme.example/privacy?a=1&b=2",
    }  # fmt: skip
    configure(settings, url="http://127.0.0.1:9/", **variables)
    shown = browser.get(PAGE, QUERY).content.decode()
    agree(browser)

    assert "Received by Affinity &lt;i&gt; (Acme Lda, Portugal)" in shown
    assert 'href="https://acme.example/privacy?a=1&amp;b=2"' in shown
    assert "Received by Affinity <i> (Acme Lda, Portugal)." in ProcessingConsent.objects.get().statement


def test_refusing_returns_without_one(browser: Client, shop: App) -> None:
    answer = agree(browser, "refuse")

    assert answer["Location"] == f"{SITE}/back?order=7#error=access_denied"
    assert ProcessingConsent.objects.count() == 0


BAD_LINKS: dict[str, dict[str, str]] = {
    "unknown origin": {**QUERY, "origin": "https://evil.example", "return_url": "https://evil.example/"},
    "return elsewhere": {**QUERY, "return_url": "https://evil.example/"},
    "return to a lookalike": {**QUERY, "return_url": f"{SITE}.evil.example/"},
    "return past a sign": {**QUERY, "return_url": f"{SITE}@evil.example/"},
    "return to a port": {**QUERY, "return_url": f"{SITE}:444/"},
    "return with a fragment": {**QUERY, "return_url": f"{SITE}/#a"},
    "return with a line break": {**QUERY, "return_url": f"{SITE}/\r\nSet-Cookie: a=b"},
    "no return": {"origin": SITE, "purposes": "profile"},
    "no origin": {"purposes": "profile", "return_url": f"{SITE}/"},
    "script": {**QUERY, "origin": "javascript:", "return_url": "javascript:alert(1)"},
    "no purpose": {"origin": SITE, "return_url": f"{SITE}/"},
    "unknown purpose": {**QUERY, "purposes": "profile,everything"},
    "unknown member": {**QUERY, "scope": "x"},
    "long state": {**QUERY, "state": "x" * 501},
    "state with a line break": {**QUERY, "state": "a\nb"},
    "state for nobody": {"purposes": "profile", "state": "x"},
    "origin with a path": {**QUERY, "origin": f"{SITE}/"},
}


@pytest.mark.parametrize("query", BAD_LINKS.values(), ids=BAD_LINKS)
def test_a_link_that_cannot_be_followed(query: dict[str, str], browser: Client, shop: App) -> None:
    for answer in (browser.get(PAGE, query), agree(browser, **query)):
        assert answer.status_code == 400
        assert "evil.example" not in answer.content.decode()
    assert ProcessingConsent.objects.count() == 0


def test_a_suspended_app_asks_nobody(browser: Client, shop: App) -> None:
    App.objects.update(status="suspended")

    assert browser.get(PAGE, QUERY).status_code == 400


def test_strangers_sign_in_first_and_come_back(db: None, shop: App) -> None:
    answer = Client().get(PAGE, QUERY)

    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/?next=/profile/consent/%3Forigin%3D")


def test_agreeing_needs_the_form_of_the_page(person: User, shop: App) -> None:
    browser = signed_in(person, enforce_csrf=True).client

    assert agree(browser).status_code == 403
    assert ProcessingConsent.objects.count() == 0


def test_agreeing_to_calls_of_ones_own(browser: Client, person: User) -> None:
    shown = browser.get(PAGE, {"purposes": "enrichment"}).content.decode()
    answer = agree(browser, purposes="enrichment")

    kept = person.processing_consents.get()
    assert "Agents may search public sources" in shown
    assert (answer.status_code, answer["Location"]) == (302, "/profile/consent/given/")
    assert (kept.reach, kept.purposes) == (Reach.OWN, ["enrichment"])


def test_what_was_agreed_to_is_listed_and_withdrawn(browser: Client, person: User) -> None:
    own, others = ProcessingConsentFactory(user=person, site=True), ProcessingConsentFactory()

    listed = browser.get(PAGE, follow=True).content.decode()
    assert own.consent_id in listed
    assert others.consent_id not in listed
    assert browser.post(f"{PAGE}{own.consent_id}/withdraw/").status_code == 302
    own.refresh_from_db()
    assert own.withdrawn_at is not None
    assert "Withdrawn by you" in browser.get(f"{PAGE}given/").content.decode()


def test_each_analysis_has_its_own_card_and_all_that_holds_can_be_withdrawn(browser: Client, person: User) -> None:
    run = started(person)
    sent = ProcessingConsentFactory(user=person, reach="run", purposes=["activation"], destinations=["des_x"])
    now = database_now()
    for days in range(1, 61):
        ProcessingConsentFactory(
            user=person, given_at=now - timedelta(days=days), expires_at=now - timedelta(hours=days)
        )
    later = ProcessingConsentFactory(user=person, given_at=now - timedelta(days=90), expires_at=now + timedelta(days=1))

    first, second = (browser.get(f"{PAGE}given/", {"page": number}).content.decode() for number in (1, 2))

    assert f'href="/profile/{run.analysis_id}/"' in first
    assert "This holds for this one analysis" in first
    assert "For one sending, which is done" in first
    assert f"{PAGE}{sent.consent_id}/withdraw/" not in first
    assert f"{PAGE}{later.consent_id}/withdraw/" in first
    assert f"{PAGE}{later.consent_id}/withdraw/" not in second
    assert (first.count("<article"), second.count("<article")) == (3 + 50, 10)

    analysis_actions.delete_analysis(by=person, analysis_id=run.analysis_id)
    assert "For one analysis, which is deleted" in browser.get(f"{PAGE}given/").content.decode()


def test_who_agreed_too_often_stays_on_the_page_and_the_site_is_told_nothing(
    browser: Client, person: User, shop: App
) -> None:
    limits.count(PER_PERSON, str(person.pk), amount=PER_PERSON.allowed)
    answer = agree(browser)

    assert answer.status_code == 429
    assert "You have agreed too often." in answer.content.decode()
    assert not ProcessingConsent.objects.exists()


def test_what_holds_for_one_analysis_is_paged_and_can_be_withdrawn(browser: Client, person: User) -> None:
    made = ProcessingConsentFactory.create_batch(51, user=person, reach="run")

    pages = [browser.get(f"{PAGE}given/", {"page": number}).content.decode() for number in (1, 2)]
    buttons = [{one.consent_id for one in made if f"{PAGE}{one.consent_id}/withdraw/" in page} for page in pages]
    assert [len(found) for found in buttons] == [50, 1]
    assert buttons[0] | buttons[1] == {one.consent_id for one in made}
    assert 'rel="next" href="?page=2"' in pages[0]
