"""Consent to processing: given in words that are kept, enforced at every call, withdrawn at once; and other sites."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose, Reach
from common import limits
from developers.models import App
from tests.agents_proxy.proxy_calls import CALL, SITE, configure, consenting, refusal, site_client
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, PersonFactory, ProcessingConsentFactory
from tests.fakes.agents import Agent, agent, answers

CONSENTS = "/api/a2a/consents"
BRAND = "/api/a2a/brand"
AGREED = {"purposes": ["brand_affinity", "profile"], "agreed": True}
REQUIRED = (403, -32050, "consent_required")


@pytest.fixture
def upstream(settings: Any) -> Iterator[Agent]:
    with agent(answers()) as running:
        configure(settings, url=running.url)
        yield running


def test_agreeing_answers_what_it_covers(owner: JsonClient, person: User) -> None:
    answer = owner.post(CONSENTS, AGREED)

    kept = person.processing_consents.get()
    assert answer.status_code == 201
    assert answer.json() == {
        "consentId": kept.consent_id,
        "purposes": ["profile", "brand_affinity"],
        "expiresAt": kept.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    assert (kept.reach, kept.origin, kept.token_digest) == (Reach.OWN, "http://localhost:8000", None)
    assert kept.expires_at - kept.given_at == timedelta(hours=24)
    assert kept.statement == (
        "This service may have the following done with your personal details:\n"
        "- Your profile: Profile agents may create, update and look up a profile from what you enter or have entered.\n"
        "- Likes and brands: An agent may work out what you like, dislike and buy from the details you give it.\n"
        "The agents may be services of other companies; they receive the details that are sent to them.\n"
        "This holds for 24 hours. You can withdraw it at any time, with effect from then on."
    )


@pytest.mark.parametrize(
    "body",
    [
        {}, {"purposes": ["profile"]}, {"purposes": ["profile"], "agreed": False}, {"purposes": [], "agreed": True},
        {"purposes": ["everything"], "agreed": True}, {"purposes": ["profile", "profile"], "agreed": True},
        {"purposes": "profile", "agreed": True}, {"purposes": ["profile"], "agreed": 1}, [],
        {**AGREED, "user": "usr_x"}, {**AGREED, "purposes": None}, {**AGREED, "agreed": "true"},
    ],
)  # fmt: skip
def test_what_is_no_agreement(body: Any, owner: JsonClient) -> None:
    answer = owner.send("POST", CONSENTS, orjson.dumps(body))

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert ProcessingConsent.objects.count() == 0


def test_a_purpose_that_is_named_twice_is_said_to_be(owner: JsonClient) -> None:
    refused = owner.post(CONSENTS, {"purposes": ["profile", "profile"], "agreed": True}).json()

    assert refused["detail"] == "These members do not fit: purposes."
    assert refused["errors"] == [{"field": "purposes", "code": "value_error", "message": "name each purpose once"}]


def test_listing_tells_what_was_agreed_to_and_to_nobody_else(owner: JsonClient, person: User) -> None:
    ProcessingConsentFactory()
    consent = consents.give(by=person, purposes=[Purpose.PROFILE])
    consents.withdraw(consent_id=consent.consent_id, by=person)

    (listed,) = owner.get(CONSENTS).json()["consents"]

    assert listed["withdrawnAt"]
    del listed["statement"], listed["withdrawnAt"], listed["givenAt"], listed["expiresAt"], listed["statementVersion"]
    assert listed == {
        "consentId": consent.consent_id,
        "status": "withdrawn",
        "renewedAt": None,
        "purposes": ["profile"],
        "destinations": [],
        "covers": "own",
        "origin": "http://localhost:8000",
        "subject": {"emails": ["ana@example.org"], "phone_numbers": []},
        "endReason": None,
    }


def test_so_many_hold_of_a_person_and_more_once_one_is_withdrawn(owner: JsonClient, person: User) -> None:
    first, *_others = ProcessingConsentFactory.create_batch(consents.MOST_LASTING, user=person)
    ProcessingConsentFactory(user=person, reach=Reach.RUN)

    refused = owner.post(CONSENTS, AGREED)
    elsewhere = consents.give_to_site(by=person, purposes=[Purpose.PROFILE], app=AppFactory(), origin=SITE)
    withdrawn = owner.delete(f"{CONSENTS}/{first.consent_id}")

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
    assert 0 < int(refused["Retry-After"]) <= 86_400  # until the first ends
    assert (elsewhere.consent.reach, withdrawn.status_code) == (Reach.SITE, 204)
    assert [owner.post(CONSENTS, AGREED).status_code for _ in range(2)] == [201, 429]


def test_so_many_are_given_in_an_hour_whatever_was_withdrawn(owner: JsonClient, person: User) -> None:
    limits.count(consents.PER_PERSON, str(person.pk), amount=consents.PER_PERSON.allowed - 1)
    given = owner.post(CONSENTS, AGREED)
    owner.delete(f"{CONSENTS}/{given.json()['consentId']}")
    refused = owner.post(CONSENTS, AGREED)

    assert (given.status_code, refused.status_code, refused.json()["code"]) == (201, 429, "too_many_requests")
    assert ProcessingConsent.objects.count() == 1
    assert signed_in(PersonFactory()).post(CONSENTS, AGREED).status_code == 201


def test_all_that_are_live_are_listed_and_the_newest_that_ended(
    owner: JsonClient, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consents, "LISTED_ENDED", 1)
    now = timezone.now()
    kinds: list[dict[str, Any]] = [{}, {"reach": Reach.RUN}, {"withdrawn_at": now}, {"withdrawn_at": now}, {}]
    made = [
        ProcessingConsentFactory(user=person, given_at=now - timedelta(hours=5 - number), **kind)
        for number, kind in enumerate(kinds)
    ]

    listed = [consent["consentId"] for consent in owner.get(CONSENTS).json()["consents"]]
    assert listed == [made[number].consent_id for number in (4, 3, 1, 0)]


def test_withdrawing_ends_the_very_next_call(owner: JsonClient, upstream: Agent) -> None:
    consent_id = owner.post(CONSENTS, AGREED).json()["consentId"]

    assert owner.post(BRAND, CALL).status_code == 200
    assert [owner.delete(f"{CONSENTS}/{consent_id}").status_code for _ in range(2)] == [204, 204]
    assert refusal(owner.post(BRAND, CALL)) == REQUIRED
    assert len(upstream.calls) == 1


def test_an_expired_consent_covers_nothing(person: User, upstream: Agent) -> None:
    ProcessingConsentFactory(
        user=person, given_at=timezone.now() - timedelta(days=2), expires_at=timezone.now() - timedelta(seconds=1)
    )

    assert refusal(signed_in(person).post(BRAND, CALL)) == REQUIRED


def test_the_consent_to_one_analysis_or_one_site_covers_no_call_of_ones_own(person: User, upstream: Agent) -> None:
    ProcessingConsentFactory(user=person, reach=Reach.RUN)
    ProcessingConsentFactory(user=person, site=True)

    assert refusal(signed_in(person).post(BRAND, CALL)) == REQUIRED


def test_another_persons_consent_covers_nothing(owner: JsonClient, upstream: Agent) -> None:
    consenting(PersonFactory())

    assert refusal(owner.post(BRAND, CALL)) == REQUIRED


def test_is_live_reads_the_row_as_it_is_now(person: User) -> None:
    consent = consents.give(by=person, purposes=[Purpose.PROFILE], reach=Reach.RUN, lasts=timedelta(days=30))

    assert consents.is_live(consent)
    assert not consents.is_live(consent, Purpose.ENRICHMENT)
    consents.withdraw(consent_id=consent.consent_id, by=person)
    assert not consents.is_live(consent)


def test_a_site_calls_with_its_token(db: None, upstream: Agent) -> None:
    page = site_client()

    answer = page.post(BRAND, CALL)

    assert answer.status_code == 200
    assert answer["Access-Control-Allow-Origin"] == SITE
    assert answer["Access-Control-Expose-Headers"] == "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
    assert "Origin" in answer["Vary"]
    assert "Access-Control-Allow-Credentials" not in answer
    kept = ProcessingConsent.objects.get()
    assert kept.token_digest == hashlib.sha256(page.headers["A2A-Consent"].encode()).hexdigest()


def test_a_backend_calls_with_the_token_alone(db: None, upstream: Agent) -> None:
    answer = site_client(origin=None).post(BRAND, CALL)

    assert answer.status_code == 200
    assert "Access-Control-Allow-Origin" not in answer


def test_a_refusal_can_be_read_by_the_page_too(db: None, upstream: Agent) -> None:
    answer = site_client(purposes=[Purpose.PROFILE]).post(BRAND, CALL)

    assert refusal(answer) == REQUIRED
    assert answer["Access-Control-Allow-Origin"] == SITE
    assert answer.json()["error"]["data"]["consent_url"] == (
        "http://localhost:8000/profile/consent/?origin=https%3A%2F%2Fshop.example&purposes=brand_affinity"
    )


def test_a_token_is_bound_to_its_origin(db: None, upstream: Agent) -> None:
    AppFactory(origins=["https://other.example"])
    page = site_client()

    for origin in ("https://other.example", "http://testserver"):
        assert refusal(page.post(BRAND, CALL, headers={"Origin": origin})) == REQUIRED
    assert upstream.calls == []


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "a" * 5000])
def test_a_token_that_nobody_gave(token: str, upstream: Agent, person: User) -> None:
    """A wrong token does not fall back to the session beside it."""
    page = signed_in(consenting(person))

    assert refusal(page.post(BRAND, CALL, headers={"A2A-Consent": token})) == REQUIRED


@pytest.mark.parametrize("change", [{"status": "suspended"}, {"origins": []}])
def test_a_token_ends_with_its_app(change: dict[str, Any], db: None, upstream: Agent) -> None:
    page, backend = site_client(), None
    backend = JsonClient(Client(), headers={"A2A-Consent": page.headers["A2A-Consent"]})
    App.objects.update(**change)

    assert refusal(page.post(BRAND, CALL)) == (403, -32051, "origin_refused")
    assert refusal(backend.post(BRAND, CALL)) == REQUIRED


def test_a_token_ends_with_its_persons_account(db: None, upstream: Agent) -> None:
    page = site_client()
    assert page.post(BRAND, CALL).status_code == 200
    User.objects.update(is_active=False)

    assert refusal(page.post(BRAND, CALL)) == REQUIRED
    assert not consents.is_live(ProcessingConsent.objects.get())


def test_a_page_of_another_site_never_acts_with_a_session(person: User, upstream: Agent) -> None:
    AppFactory(origins=[SITE])

    answer = signed_in(consenting(person)).post(BRAND, CALL, headers={"Origin": SITE})

    assert refusal(answer) == REQUIRED


def test_preflight_of_a_registered_origin(db: None) -> None:
    AppFactory(origins=[SITE])
    asks = {"Origin": SITE, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "a2a-consent"}

    answer = JsonClient(Client()).send("OPTIONS", BRAND, headers=asks)

    assert (answer.status_code, answer.content) == (204, b"")
    assert "Content-Type" not in answer
    assert answer["Access-Control-Allow-Origin"] == SITE
    assert answer["Access-Control-Allow-Methods"] == "POST"
    assert "A2A-Consent" in answer["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer
    refused = JsonClient(Client()).send("OPTIONS", BRAND, headers={**asks, "Origin": "https://evil.example"})
    assert refusal(refused) == (403, -32051, "origin_refused")


def test_without_required_consent_every_call_is_loudly_logged(
    db: None, upstream: Agent, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.A2A_REQUIRE_CONSENT = False
    stranger = JsonClient(Client())

    assert stranger.post(BRAND, CALL).status_code == 200
    assert "WITHOUT ANYBODY'S CONSENT" in caplog.text
    evil = stranger.post(BRAND, CALL, headers={"Origin": "https://evil.example"})
    assert refusal(evil) == (403, -32051, "origin_refused")
