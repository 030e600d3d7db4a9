"""An address or a number that is somebody's no more: what they agreed to about it ends, at once and for good."""

import importlib
import json
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.db import connection

from accounts.models import SecurityChange, User, WayChange
from agents_proxy.activations.models import Activation
from agents_proxy.analyses import steps
from agents_proxy.analyses.models import Run
from agents_proxy.destinations.models import Destination
from agents_proxy.digests import digest
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.states import Purpose
from common import encryption
from common.clock import database_now
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import OTHER, TO
from tests.agents_proxy.proxy_calls import SITE, consenting, owning, refusal
from tests.agents_proxy.receivers import ENTERPRISE, backend, token_of
from tests.agents_proxy.runs import BODY
from tests.callers import signed_in
from tests.factories import AppFactory, PersonFactory, ProcessingConsentFactory

SECOND = "ana@work.example"
POSTGRESQL = connection.vendor == "postgresql"
pytestmark = pytest.mark.django_db


@pytest.fixture
def agents(agents: Agents, settings: Any) -> Agents:
    """The messaging agent among the others."""
    settings.AGENTS = {
        **settings.AGENTS, "messaging": {**settings.AGENTS["core"], "url": f"{agents.address}/messaging"},
    }  # fmt: skip
    return agents


@pytest.fixture
def ana(person: User) -> User:
    return consenting(owning(person, TO))


@pytest.fixture
def heir(db: None) -> User:
    return consenting(owning(PersonFactory(email="zoe@example.org"), OTHER))


def verify(user: User, number: str, carrier: Agents) -> None:
    phone_numbers.send_code(by=user, number=number)
    phone_numbers.verify_code(by=user, number=number, code=code_of(carrier))


def code_of(carrier: Agents) -> str:
    """The code in the message that was sent last."""
    text = carrier.requests[-1][1]["params"]["message"]["parts"][0]["text"]
    return str(json.loads(text)["text"][:6])


def stands(user: User) -> list[tuple[str, str, str]]:
    """A person's consents as the address lists them: status, reason and what is named."""
    listed = signed_in(user).get("/api/a2a/consents").json()["consents"]
    return [
        (one["status"], one["endReason"] or "", ",".join([*one["subject"]["emails"], *one["subject"]["phone_numbers"]]))
        for one in listed
    ]


def test_whoever_verifies_a_number_ends_what_others_agreed_to_about_it(ana: User, heir: User, agents: Agents) -> None:
    without = consents.give(by=ana, purposes=[Purpose.PROFILE], named=Identifiers(("ana@example.org",)))
    site = backend(token_of(ana, AppFactory(origins=[SITE]), purposes=[Purpose.PROFILE, Purpose.MESSAGING]))
    run = _run_about(ana, TO)
    verify(heir, TO, agents)

    gone = ("withdrawn", "number_verified_by_another", "ana@example.org")
    assert stands(ana) == [gone, gone, ("live", "", "ana@example.org"), gone]
    assert consents.own(ana, Purpose.PROFILE) == without.pk
    assert consents.own(ana, Purpose.MESSAGING) is None
    assert stands(heir) == [("live", "", f"zoe@example.org,{OTHER}")]
    assert refusal(site.post("/api/a2a/core", {"text": "Who am I?"})) == (403, -32050, "consent_required")
    assert site.get("/api/a2a/subject").status_code == 403
    assert Run.objects.get(pk=run.pk).status == "cancelled"
    change = SecurityChange.objects.get()
    assert (change.user, change.kind, change.detail, change.address) == (
        ana, WayChange.PHONE_NUMBER_TAKEN, "+49 … 78", "ana@example.org",
    )  # fmt: skip
    page = signed_in(ana).client.get("/profile/consent/given/").content.decode()
    assert page.count("Ended: somebody else verified the number") == 3


def _run_about(user: User, number: str) -> Run:
    body = {**BODY, "email": user.email, "countryCode": number[:3], "phoneNumber": number[3:]}
    answer = signed_in(user).post("/api/a2a/analyses", body)
    return Run.objects.get(analysis_id=answer.json()["analysisId"])


def test_a_number_that_comes_back_brings_no_consent_with_it(ana: User, heir: User, agents: Agents) -> None:
    verify(heir, TO, agents)
    consents.give(by=heir, purposes=[Purpose.MESSAGING])  # names it: it is the newest of theirs
    verify(ana, TO, agents)
    assert stands(heir)[0] == ("withdrawn", "number_verified_by_another", "")
    verify(heir, TO, agents)

    for user in (ana, heir):
        assert consents.own(user, Purpose.MESSAGING) is None or stands(user)[-1][0] == "live"
        refused = signed_in(user).post("/api/a2a/messaging", {"to": TO, "text": "Hello"})
        assert refusal(refused) == (403, -32050, "consent_required")
    assert stands(ana) == [("withdrawn", "number_verified_by_another", "ana@example.org")]
    assert [change.user for change in SecurityChange.objects.order_by("pk")] == [ana, heir, ana]


def test_who_verifies_their_own_number_again_loses_nothing(ana: User, agents: Agents) -> None:
    verify(ana, TO, agents)

    assert stands(ana) == [("live", "", f"ana@example.org,{TO}")]
    assert not SecurityChange.objects.exists()


def test_a_wrong_code_takes_nothing_from_anybody(ana: User, heir: User, agents: Agents) -> None:
    phone_numbers.send_code(by=heir, number=TO)
    with pytest.raises(phone_numbers.WrongCode):
        phone_numbers.verify_code(by=heir, number=TO, code=f"{(int(code_of(agents)) + 1) % 10**6:06d}")

    assert stands(ana) == [("live", "", f"ana@example.org,{TO}")]


def test_all_of_it_happens_or_nothing(ana: User, heir: User, agents: Agents, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(phone_numbers, "note_change", fails)
    phone_numbers.send_code(by=heir, number=TO)
    with pytest.raises(RuntimeError):
        phone_numbers.verify_code(by=heir, number=TO, code=code_of(agents))

    assert stands(ana) == [("live", "", f"ana@example.org,{TO}")]
    assert PhoneNumber.objects.get(digest=digest("number", TO), verified_at__isnull=False).user == ana


def test_a_number_that_is_removed_ends_them_too(ana: User, heir: User) -> None:
    number = PhoneNumber.objects.get(user=ana)
    assert signed_in(heir).delete(f"/api/a2a/numbers/{number.pk}").status_code == 404
    assert stands(ana)[0][0] == "live"
    signed_in(ana).delete(f"/api/a2a/numbers/{number.pk}")

    assert stands(ana) == [("withdrawn", "number_removed", "ana@example.org")]
    assert "Ended: you removed the number" in signed_in(ana).client.get("/profile/consent/given/").content.decode()


def test_an_address_that_is_removed_ends_what_names_it(ana: User, heir: User) -> None:
    second = EmailAddress.objects.create(user=ana, email=SECOND, verified=True)
    EmailAddress.objects.create(user=heir, email="other@example.org", verified=True).delete()
    consents.give(by=ana, purposes=[Purpose.PROFILE], named=Identifiers((SECOND,)))
    second.remove()

    assert [status for status, *_ in stands(ana)] == ["withdrawn", "live"]
    assert [status for status, *_ in stands(heir)] == ["live"]
    EmailAddress.objects.create(user=ana, email=SECOND, verified=True)
    assert stands(ana)[0] == ("withdrawn", "email_removed", SECOND)  # it brings no consent back


def test_an_address_that_another_replaces_ends_what_names_it(ana: User) -> None:
    old = EmailAddress.objects.get(user=ana)
    new = EmailAddress.objects.create(user=ana, email=SECOND, verified=True)
    new.set_as_primary()
    assert stands(ana)[0][0] == "live"  # a second one beside it ends nothing
    old.remove()

    assert stands(ana)[0][:2] == ("withdrawn", "email_removed")


def test_what_agents_are_asked_by_is_never_more_than_what_is_verified_now(ana: User, agents: Agents) -> None:
    EmailAddress.objects.filter(user=ana).update(verified=False)
    PhoneNumber.objects.filter(user=ana).update(verified_at=None)

    assert refusal(signed_in(ana).post("/api/a2a/core", {"text": "Who am I?"})) == (403, -32060, "subject_not_verified")
    assert signed_in(ana).get("/api/a2a/subject").json() == {"emails": [], "phone_numbers": []}


MOVES = {
    "number taken": lambda ana, heir, agents: verify(heir, TO, agents),
    "number removed": lambda ana, heir, agents: PhoneNumber.objects.filter(user=ana).delete(),
    "address removed": lambda ana, heir, agents: EmailAddress.objects.filter(user=ana).delete(),
    "address not verified": lambda ana, heir, agents: EmailAddress.objects.filter(user=ana).update(verified=False),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_an_analysis_about_it_is_neither_tried_again_nor_sent(
    move: Any, ana: User, heir: User, agents: Agents, destination: Destination
) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}, "second": "nonsense"}
    run = _run_about(ana, TO)
    steps.run_through(run.pk)
    assert run.steps.get(agent="second").status == "failed"
    owner, here = signed_in(ana), f"/api/a2a/analyses/{run.analysis_id}"
    sent = {"by": ana, "purposes": [Purpose.ACTIVATION], "destinations": [destination]}
    calls_before = len(agents.requests)
    move(ana, heir, agents)
    named = Identifiers(("ana@example.org",)) if EmailAddress.objects.filter(user=ana, verified=True) else Identifiers()
    consents.give(**sent, named=named)

    agreed = {"destinationId": destination.destination_id}
    for answer in (owner.post(f"{here}/activations", agreed), owner.post(f"{here}/steps/second/retry", {})):
        assert (answer.status_code, answer.json()["code"]) == (403, "subject_not_verified")
        assert answer.json()["data"]["verify_url"].startswith("http://localhost:8000/")
    page = f"/profile/analyses/{run.analysis_id}/send/?destination={destination.destination_id}"
    assert "not verified as yours any more" in owner.client.get(page).content.decode()
    form = {"destination": destination.destination_id, "agreed": "yes", "sending": "0"}
    assert "not verified as yours any more" in owner.client.post(page, form, follow=True).content.decode()
    assert not Activation.objects.exists()
    assert [path for path, _ in agents.requests[calls_before:] if "messaging" not in path] == []
    assert owner.get(here).status_code == 200  # what is there already is still theirs to see and to delete
    assert owner.delete(here).status_code == 204


def test_a_site_sends_nothing_of_it_either(
    ana: User, heir: User, agents: Agents, destination: Destination, shop: Any
) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}}
    token = token_of(ana, shop, destination, purposes=ENTERPRISE)
    site = backend(token)
    answer = site.post("/api/a2a/analyses", {**BODY, "email": "ana@example.org"})
    steps.run_through(Run.objects.get().pk)
    verify(heir, TO, agents)
    sending = f"{answer.json()['statusUrl']}/activations"
    refused = site.post(sending, {"destinationId": destination.destination_id})

    assert (refused.status_code, refused.json()["code"]) == (403, "consent_required")
    assert not Activation.objects.exists()


def test_a_sending_tells_what_its_own_consent_names(ana: User, agents: Agents, destination: Destination) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}, "core": {"email": "ana@example.org", "phone": TO}}
    run = _run_about(ana, TO)
    steps.run_through(run.pk)
    sending = f"/api/a2a/analyses/{run.analysis_id}/activations"
    agreed = {"destinationId": destination.destination_id}
    sent = {"by": ana, "purposes": [Purpose.ACTIVATION], "destinations": [destination]}
    EmailAddress.objects.create(user=ana, email=SECOND, verified=True)
    consents.give(**sent, named=Identifiers((SECOND,)))
    refused = signed_in(ana).post(sending, agreed)
    assert (refused.status_code, refused.json()["code"]) == (403, "consent_required")
    consents.give(**sent, named=Identifiers(("ana@example.org",)))

    assert signed_in(ana).post(sending, agreed).status_code == 202
    profile = json.loads(encryption.opened(Activation.objects.get().body))["data"]["profile"]
    assert (profile["email"], "phone" in profile) == ("ana@example.org", False)


def test_who_agreed_before_consents_named_anything_agreed_for_the_primary_address(ana: User, heir: User) -> None:
    ProcessingConsent.objects.all().delete()
    EmailAddress.objects.create(user=ana, email=SECOND, verified=True)
    old = ProcessingConsentFactory(user=ana, email="")
    messages = ProcessingConsentFactory(user=ana, email="", purposes=["messaging", "financial"])
    over = ProcessingConsentFactory(user=ana, email="", withdrawn_at=database_now())
    nobody = ProcessingConsentFactory(user=PersonFactory(), email="")
    EmailAddress.objects.filter(user=nobody.user).update(verified=False)
    migration = importlib.import_module("agents_proxy.migrations.0002_consents_name_their_subject")
    with connection.cursor() as cursor:  # as before the columns were frozen
        cursor.execute(f"DROP TRIGGER processing_consents_frozen{' ON processing_consents' if POSTGRESQL else ''}")
    migration.name_primary_addresses(apps, SimpleNamespace(connection=connection))

    named = {one.pk: (one.email, one.number_digest) for one in ProcessingConsent.objects.all()}
    assert named == {old.pk: ("ana@example.org", ""), messages.pk: ("", ""), over.pk: ("", ""), nobody.pk: ("", "")}
