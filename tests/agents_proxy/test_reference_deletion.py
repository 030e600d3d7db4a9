"""The reference agents and the neighbourhood's CRM delete what a signed request names, once, and nothing for others."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from joserfc import jws

from accounts.erasure.actions import erase, order_erasure
from accounts.models import User
from agents_proxy import signing
from agents_proxy.activations.actions import agree_and_activate
from agents_proxy.analyses.models import Run
from agents_proxy.deletions import messages
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.sealing import Subject
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers
from agents_proxy.processing_consent.models import ProcessingConsent
from common.outbound.client import Client
from developers.models import App
from examples.neighbourhood.crm import Crm
from examples.neighbourhood.serving import Server
from examples.neighbourhood.store import Store
from examples.reference_agents.prompts import Call
from examples.reference_agents.store import kept
from tests.agents_proxy.forgetting import attempt, states, withdraw
from tests.agents_proxy.proxy_calls import consenting, owning
from tests.agents_proxy.receivers import deliver
from tests.callers import JsonClient, signed_in
from tests.factories import DeletionFactory, PersonFactory
from tests.fakes.serving import serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_store")]
HANDBOOK = Path(__file__).resolve().parents[2] / "docs" / "agents.md"
ANA = {"email": "ana@example.org"}


@pytest.fixture
def ana(person: User, reference: str, settings: Any) -> JsonClient:
    """Ana, whose `core-profile` and `core` are reference agents."""
    nowhere = {"url": "", "token": "", "timeout": 20.0, "protocol": "tasks-send"}
    there = {
        name: {**nowhere, "url": f"{reference}/{name}", "delete_url": f"{reference}/{name}/delete"}
        for name in ("core-profile", "core", "core-profile-update")
    }
    settings.AGENTS = {**dict.fromkeys(settings.AGENTS, nowhere), **there}
    return signed_in(consenting(person))


def tells(caller: JsonClient, text: str) -> None:
    answer = caller.post("/api/a2a/core-profile", {"text": f"ana@example.org\n{text}"}).json()
    assert "result" in answer, answer


def test_what_came_under_a_consent_goes_with_it_and_the_rest_stays(ana: JsonClient, person: User) -> None:
    tells(ana, "City: Porto\nDiet: vegan")
    first = ProcessingConsent.objects.get()
    consenting(person)
    tells(ana, "City: Porto\nLikes: tea")
    consents.withdraw(consent_id=first.consent_id, by=person)
    attempt()

    assert kept().find(ANA) == {"email": "ana@example.org", "city": "Porto", "likes": ["tea"]}
    [row] = Deletion.objects.filter(status="confirmed")
    assert re.fullmatch(r'\{"jti": "[\w-]+", "deleted": 1\}', row.confirmation)


def test_of_somebody_who_is_erased_nothing_stays(ana: JsonClient, person: User) -> None:
    tells(ana, "City: Porto\nDiet: vegan")
    zoe = {"email": "zoe@example.org"}
    kept().change(zoe, {**zoe, "city": "Bonn"}, by=Call(""))
    assert erase(erasure_pk=order_erasure(of=person).pk)
    attempt()

    assert kept().find(ANA) is None
    assert kept().find(zoe) is not None


def request_of(person: User, **changes: Any) -> str:
    """A genuine request to delete, but for these claims."""
    row = Deletion.objects.select_related("consent").get()
    made = messages.message(row, Subject(Identifiers(("ana@example.org",))))
    claims = orjson.loads(jws.extract_compact(made.body).payload) | changes
    return signing.signed(changes.pop("typ", messages.JWS_TYPE), claims)


def sent(reference: str, request: str) -> int:
    client = Client(may_reach=lambda _: True)
    headers = {"Content-Type": "application/jwt"}
    return client.post(f"{reference}/core/delete", request.encode(), headers=headers, seconds=10, limit=1000).status


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://elsewhere.example"}, {"iss": "https://elsewhere.example"}, {"exp": 1}, {"iat": 2**40},
        {"typ": "processing-consent+jwt"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_meant_for_the_agent_deletes_nothing(
    changes: dict[str, Any], ana: JsonClient, person: User, reference: str
) -> None:
    tells(ana, "City: Porto")
    withdraw(person)
    assert sent(reference, request_of(person, **changes)) == 401
    assert kept().find(ANA) is not None


def test_a_request_counts_once_and_a_forged_one_never(ana: JsonClient, person: User, reference: str) -> None:
    tells(ana, "City: Porto")
    withdraw(person)
    good = request_of(person)
    head, payload, signature = good.split(".")
    assert sent(reference, f"{head}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}") == 401
    assert sent(reference, "delete ana@example.org") == 401
    assert kept().find(ANA) is not None
    assert [sent(reference, good) for _ in range(2)] == [200, 401]
    assert kept().find(ANA) is None


def test_the_crm_forgets_what_was_sent_to_it(liking: Run, person: User, shop: App, settings: Any) -> None:
    settings.WEBHOOK_INTERNAL_ADDRESSES = True
    store = Store()
    server = Server(0, Crm(store))
    with serving(server):
        destination, secret = destination_actions.add_destination(
            app=shop, name="CRM", url=f"{server.address}/activations", by=None
        )
        store.add("secret", secret, {"secret": secret})
        for number in range(2):
            agree_and_activate(
                by=person, analysis_id=liking.analysis_id, destination_id=destination.destination_id, number=number
            )
        deliver()
        assert len(store.newest("activation")) == 2
        first = Deletion.objects.filter(destination=destination).order_by("pk")[0].consent
        assert first is not None
        consents.withdraw(consent_id=first.consent_id, by=person)
        attempt()
        assert len(store.newest("activation")) == 1
        assert erase(erasure_pk=order_erasure(of=person).pk)
        attempt()
        assert store.newest("activation") == []
    assert states()["CRM"] == ("confirmed", "")


def test_the_ten_lines_of_the_documentation_check_the_same(person: User, service: str) -> None:
    found: dict[str, Any] = {}
    exec(re.search(r"^```python\n(import base64.*?)^```$", HANDBOOK.read_text(), re.DOTALL | re.M)[1], found)  # type: ignore[index]
    DeletionFactory(consent__user=person)
    good, taken = request_of(person), set[str]()
    named = {
        "typ": "processing-deletion+jwt", "issuer": service, "origin": "https://agents.example", "taken": taken,
    }  # fmt: skip

    claims = found["claims_of"](good, **named)
    assert claims["subject"] == {"emails": ["ana@example.org"], "phone_numbers": []}
    other = request_of(person, aud="https://elsewhere.example")
    for request in (good, other, request_of(person, exp=1), request_of(person, typ="processing-consent+jwt")):
        with pytest.raises(AssertionError):
            found["claims_of"](request, **named)


def test_what_another_person_gave_stays_when_somebody_is_erased(ana: JsonClient, person: User) -> None:
    number = "+351912345678"
    consenting(owning(person, number))
    tells(ana, f"{number}\nCity: Porto\nDiet: vegan")
    PhoneNumber.objects.filter(user=person).delete()
    owning(PersonFactory(email="zoe@example.org"), number)
    kept().change({"phone": number}, {"likes": ["tea"]}, by=Call("", "pcn_of_zoe", 1.0, "zoe"))
    assert erase(erasure_pk=order_erasure(of=person).pk)
    attempt()

    left = kept().find({"phone": number})
    assert left is not None
    assert (left.get("likes"), left.get("city"), left.get("diet")) == (["tea"], None, None)
