"""Withdrawing a consent tells everybody who got something under it, and nobody else, until they confirm."""

import time
from datetime import timedelta
from typing import Any

import orjson
import pytest

from accounts.models import User
from agents_proxy.analyses.models import Run
from agents_proxy.deletions import deliveries
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.sealing import opened
from agents_proxy.destinations import actions as destination_actions
from agents_proxy.destinations.models import Destination
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.models import Call
from agents_proxy.signing import origin_of
from agents_proxy.states import Purpose
from common.clock import rfc3339
from developers.models import App, AppStatus
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.forgetting import Forgetting, attempt, forgetting, states, unchecked, withdraw
from tests.agents_proxy.proxy_calls import CALL, consenting, owning
from tests.agents_proxy.receivers import deliver
from tests.agents_proxy.runs import finished
from tests.callers import signed_in
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db
NUMBER = "+351912345678"


def test_who_got_something_is_told_and_nobody_else(
    caller: Any, person: User, there: Forgetting, agents: Agents
) -> None:
    caller.post("/api/a2a/brand", CALL)
    caller.post("/api/a2a/core", CALL)
    assert states() == {"brand": ("disclosed", ""), "core": ("disclosed", "")}
    withdraw(person)
    attempt()

    assert states() == {"brand": ("confirmed", ""), "core": ("confirmed", "")}
    assert sorted(there.names) == ["brand", "core"]
    claims = there.claims[0]
    now = int(time.time())
    assert {name: claims[name] for name in ("iss", "aud", "consent_id", "subject")} == {
        "iss": "http://localhost:8000", "aud": origin_of(agents.address),
        "consent_id": ProcessingConsent.objects.get().consent_id,
        "subject": {"emails": ["ana@example.org"], "phone_numbers": []},
    }  # fmt: skip
    assert (claims["exp"] - claims["iat"], now - 60 < claims["before"] <= now + 1) == (300, True)
    assert person.public_id not in str(claims)
    assert there.got[0][2]["content-type"] == "application/jwt"


def test_the_name_of_the_person_is_the_one_that_the_agent_was_told(
    caller: Any, person: User, there: Forgetting, agents: Agents, settings: Any
) -> None:
    from agents_proxy.proxy import calls
    from agents_proxy.proxy.assertions import assertion

    shown: list[dict[str, Any]] = []

    def noted(*given: Any) -> str:
        made = assertion(*given)
        shown.append(unchecked(made))
        return made

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(calls, "assertion", noted)
        caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    attempt()

    assert there.claims[0]["sub"] == shown[0]["sub"]


def test_nothing_is_told_that_the_agent_was_not(caller: Any, person: User, there: Forgetting) -> None:
    owning(person, NUMBER)
    consents.give(by=person, purposes=[Purpose.BRAND_AFFINITY])
    caller.post("/api/a2a/brand", {"text": NUMBER})
    [row] = Deletion.objects.all()
    assert opened(row).identifiers.body() == {"emails": [], "phone_numbers": [NUMBER]}

    caller.post("/api/a2a/brand", {"text": "ana@example.org"})
    caller.post("/api/a2a/core", CALL)
    withdraw(person)
    attempt()
    assert dict(zip(there.names, (claims["subject"] for claims in there.claims), strict=True)) == {
        "brand": {"emails": ["ana@example.org"], "phone_numbers": [NUMBER]},
        "core": {"emails": ["ana@example.org"], "phone_numbers": []},
    }


def test_what_an_agent_is_told_later_counts(caller: Any, person: User, there: Forgetting) -> None:
    owning(person, NUMBER)
    consents.give(by=person, purposes=[Purpose.BRAND_AFFINITY])
    caller.post("/api/a2a/brand", {"text": "ana@example.org"})
    caller.post("/api/a2a/brand", {"text": NUMBER})
    withdraw(person)
    attempt()

    assert there.claims[0]["subject"] == {"emails": ["ana@example.org"], "phone_numbers": [NUMBER]}


@pytest.mark.parametrize("calls_before", [0, 2])
def test_a_deletion_does_not_overtake_what_is_on_its_way(
    calls_before: int, caller: Any, person: User, there: Forgetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents_proxy.proxy import upstream

    for _ in range(calls_before):
        caller.post("/api/a2a/brand", CALL)

    call = upstream.call

    def withdrawn_meanwhile(*given: Any) -> Any:
        withdraw(person)
        return call(*given)

    monkeypatch.setattr(upstream, "call", withdrawn_meanwhile)
    caller.post("/api/a2a/brand", CALL)
    [row] = Deletion.objects.all()

    assert row.next_attempt_at == row.last_at + timedelta(seconds=60)  # the agent's own time-out
    deliveries.send(row.pk)
    assert there.got == []


def test_what_came_back_is_deleted_at_once(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)

    assert set(Deletion.objects.values_list("under_way", flat=True)) == {0}
    assert all(row.next_attempt_at == row.requested_at for row in Deletion.objects.all())


def test_withdrawn_many_times_it_is_one_request(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    for _ in range(30):
        withdraw(person)
    attempt()
    withdraw(person)
    attempt()

    assert there.names == ["brand"]


def test_an_analysis_tells_each_of_its_agents(person: User, there: Forgetting, agents: Agents) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}}
    run = finished(person)
    withdraw(person)
    attempt()

    assert sorted(there.names) == ["brand", "core", "public", "second"]
    assert {claims["consent_id"] for claims in there.claims} == {run.consent.consent_id}


def test_whoever_agrees_again_has_only_what_came_before_deleted(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    before = ProcessingConsent.objects.get().consent_id
    consenting(person)
    assert caller.post("/api/a2a/brand", CALL).status_code == 200
    attempt()

    assert [claims["consent_id"] for claims in there.claims] == [before]
    assert sorted(Deletion.objects.values_list("status", flat=True)) == ["confirmed", "disclosed"]


def test_an_agent_without_an_address_is_asked_once_it_has_one(
    caller: Any, person: User, agents: Agents, settings: Any
) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    attempt()
    row = Deletion.objects.get()
    assert (row.status, row.error_code, row.attempts, row.subject is None) == ("queued", "no_address", 0, False)

    with forgetting() as there:
        there.reached_by(settings, agents)
        attempt()
        assert there.names == ["brand"]


def test_an_agent_that_moved_is_another_one(caller: Any, person: User, there: Forgetting, settings: Any) -> None:
    caller.post("/api/a2a/brand", CALL)
    moved = {**settings.AGENTS["brand"], "url": "https://elsewhere.example/brand"}
    settings.AGENTS = {**settings.AGENTS, "brand": moved}
    withdraw(person)
    attempt()

    assert (there.got, states()) == ([], {"brand": ("queued", "no_address")})


def test_the_agents_token_goes_to_its_own_origin_alone(
    caller: Any, person: User, there: Forgetting, agents: Agents, settings: Any
) -> None:
    settings.AGENTS["brand"]["token"] = settings.AGENTS["core"]["token"] = "secret"
    settings.AGENTS["core"]["url"] = f"{there.address}/core"
    there.reply = (200, orjson.dumps({"jsonrpc": "2.0", "id": "task-one", "result": {"parts": []}}))
    caller.post("/api/a2a/brand", CALL)
    caller.post("/api/a2a/core", CALL)
    there.got.clear()
    withdraw(person)
    attempt()

    sent = {agent: headers.get("authorization") for agent, _, headers in there.got}
    assert sent == {"brand": None, "core": "Bearer secret"}


def test_a_destination_is_told_which_sendings(
    liking: Run, person: User, destination: Destination, crm: type[Crm], there: Forgetting
) -> None:
    body = {"destinationId": destination.destination_id}
    given = {"purposes": ["activation"], "destinations": [destination.destination_id], "agreed": True}
    caller = signed_in(person)
    assert caller.post("/api/a2a/consents", given).status_code == 201
    sent = caller.post(f"/api/a2a/analyses/{liking.analysis_id}/activations", body).json()["activationId"]
    deliver()
    withdraw(person)
    row = Deletion.objects.get(destination=destination)
    assert (row.under_way, row.next_attempt_at) == (0, row.requested_at)
    attempt()

    identifiers = crm.got[1]
    assert (crm.ids[0], identifiers["type"], identifiers["data"]["activationIds"]) == (
        sent,
        "deletion.requested",
        [sent],
    )
    assert (crm.ids[1], identifiers["timestamp"]) == (identifiers["data"]["deletionId"], rfc3339(row.requested_at))
    claims = unchecked(identifiers["data"]["statement"])
    assert claims["aud"] == origin_of(destination.url)
    assert states()["Trips CRM"] == ("confirmed", "")


def test_a_destination_that_takes_everything_has_deleted_nothing(
    liking: Run, person: User, destination: Destination, crm: type[Crm]
) -> None:
    from agents_proxy.activations.actions import agree_and_activate

    agree_and_activate(by=person, analysis_id=liking.analysis_id, destination_id=destination.destination_id, number=0)
    deliver()
    withdraw(person)
    crm.deletes = False
    attempt()
    assert states()["Trips CRM"] == ("queued", "unsaid")
    crm.deletes = True
    attempt()
    assert states()["Trips CRM"] == ("confirmed", "")


@pytest.mark.parametrize(
    ("how", "is_told"), [("disabled", True), ("suspended", True), ("removed", False), ("closed", False)]
)
def test_whoever_takes_nothing_any_more_still_has_what_it_got(
    how: str, is_told: bool, liking: Run, person: User, destination: Destination, shop: App, crm: type[Crm]
) -> None:
    from agents_proxy.activations.actions import agree_and_activate

    agree_and_activate(by=person, analysis_id=liking.analysis_id, destination_id=destination.destination_id, number=0)
    deliver()
    if how == "disabled":
        destination_actions.disable_destination(destination=destination, by=None)
    elif how == "removed":
        destination_actions.remove_destination(destination=destination, by=person)
    else:
        App.objects.filter(pk=shop.pk).update(status=AppStatus(how))
    withdraw(person)
    attempt()

    assert states()["Trips CRM"] == (("confirmed", "") if is_told else ("queued", "no_address"))
    assert len(crm.got) == 1 + is_told


def test_a_sending_that_never_left_is_deleted_nowhere(liking: Run, person: User, destination: Destination) -> None:
    from agents_proxy.activations.actions import agree_and_activate

    agree_and_activate(by=person, analysis_id=liking.analysis_id, destination_id=destination.destination_id, number=0)
    withdraw(person)
    deliver()

    assert "Trips CRM" not in states()


def test_what_an_earlier_release_noted_counts(caller: Any, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    Deletion.objects.all().delete()
    assert Call.objects.count() == 1
    withdraw(person)
    attempt()

    assert there.claims[0]["subject"]["emails"] == ["ana@example.org"]


@pytest.mark.parametrize("agent", ["brand", "core"], ids=["which got something before", "which got nothing yet"])
def test_a_call_that_a_withdrawal_overtook_is_not_made(
    agent: str, caller: Any, person: User, there: Forgetting, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents_proxy.proxy import calls

    kept_apart = calls.kept_apart

    def meanwhile(*given: Any) -> Any:
        withdraw(person)
        return kept_apart(*given)

    caller.post("/api/a2a/brand", CALL)
    monkeypatch.setattr(calls, "kept_apart", meanwhile)
    answer = caller.post(f"/api/a2a/{agent}", CALL)

    assert answer.json()["error"]["data"]["code"] == "consent_required"
    assert agents.names == ["brand"]
    assert not Deletion.objects.filter(status="disclosed").exists()
