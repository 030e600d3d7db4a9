"""Erasing an account tells everybody who ever got something of the person, after the person is gone."""

import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client

from accounts.erasure.actions import erase, order_erasure, request_erasure
from accounts.models import User
from agents_proxy.activations.actions import agree_and_activate
from agents_proxy.analyses.models import Run
from agents_proxy.deletions import deliveries
from agents_proxy.deletions.actions import KEPT
from agents_proxy.deletions.messages import RECEIPT_TYPE
from agents_proxy.deletions.models import Deletion
from agents_proxy.deletions.receivers import receiver_of
from agents_proxy.destinations.models import Destination
from agents_proxy.financial.models import Item
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy import upstream
from agents_proxy.proxy.envelope import Reply
from agents_proxy.proxy.models import Call
from common.clock import database_now
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.forgetting import Forgetting, as_if_requested, attempt, claims_of, states, withdraw
from tests.agents_proxy.institutions import linked
from tests.agents_proxy.proxy_calls import CALL, consenting, owning
from tests.agents_proxy.receivers import deliver
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory, StaffFactory
from tests.fakes.aggregator import Aggregator
from tests.fakes.crm import Crm
from tests.least_rights import least_rights
from tests.outbox import send_mails
from tests.staff import at_the_admin

pytestmark = pytest.mark.django_db
NUMBER = "+351912345678"


def erased(person: User) -> None:
    assert erase(erasure_pk=order_erasure(of=person).pk)


def test_each_receiver_is_told_once_of_everything(
    caller: JsonClient, person: User, there: Forgetting, agents: Agents
) -> None:
    caller.post("/api/a2a/brand", CALL)
    owning(person, NUMBER)
    consenting(person)
    caller.post("/api/a2a/brand", {"text": NUMBER})
    finished(person)
    erased(person)
    assert not ProcessingConsent.objects.exists()
    attempt()

    assert sorted(there.names) == ["brand", "core", "public", "second"]
    [brand] = [claims for agent, claims in zip(there.names, there.claims, strict=True) if agent == "brand"]
    assert brand["subject"] == {"emails": ["ana@example.org"], "phone_numbers": [NUMBER]}
    assert "consent_id" not in brand
    assert set(states().values()) == {("confirmed", "")}
    assert set(Deletion.objects.values_list("subject", "consent")) == {(None, None)}


def test_a_call_under_way_meanwhile_is_noted_of_nobody(
    caller: JsonClient, person: User, agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone_meanwhile(*args: Any) -> Reply:
        erased(person)
        return ask(*args)

    ask = upstream.call
    monkeypatch.setattr(upstream, "call", gone_meanwhile)

    assert caller.post("/api/a2a/brand", CALL).status_code == 403
    assert list(Call.objects.values_list("agent", "outcome", "consent")) == [("brand", "answered", None)]


def test_it_is_the_same_name_as_with_a_withdrawal(caller: JsonClient, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    attempt()
    consenting(person)
    caller.post("/api/a2a/brand", CALL)
    erased(person)
    attempt()

    assert len({claims["sub"] for claims in there.claims}) == 1


def test_what_was_withdrawn_and_confirmed_is_not_asked_again_and_the_rest_is(
    caller: JsonClient, person: User, there: Forgetting
) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    attempt()
    consenting(person)
    caller.post("/api/a2a/core", CALL)
    there.reply = (503, b"")
    withdraw(person)
    attempt()
    there.got.clear()
    erased(person)
    there.reply = (200, b"")
    attempt()

    assert there.names == ["core"]


def test_a_delivery_that_an_erasure_overtook_records_nothing(
    caller: JsonClient, person: User, there: Forgetting
) -> None:
    caller.post("/api/a2a/brand", CALL)
    withdraw(person)
    Deletion.objects.update(next_attempt_at=database_now() - timedelta(seconds=3))
    claimed = deliveries._claim(Deletion.objects.get().pk)
    assert claimed is not None
    erased(person)
    deliveries._record(claimed, *deliveries._posted(claimed))
    assert states() == {"brand": ("queued", "")}
    attempt()

    first, second = there.claims
    assert (first["sub"], "consent_id" in first, "consent_id" in second) == (second["sub"], True, False)


def test_a_destination_is_told_every_sending(
    liking: Run, person: User, destination: Destination, crm: type[Crm]
) -> None:
    for number in range(3):
        agree_and_activate(
            by=person, analysis_id=liking.analysis_id, destination_id=destination.destination_id, number=number
        )
    deliver()
    sent = list(crm.ids)
    erased(person)
    attempt()

    assert sorted(crm.got[3]["data"]["activationIds"]) == sorted(sent)
    assert crm.got[3]["data"]["subject"] == {"emails": [], "phone_numbers": []}  # none was in what was sent
    assert len(crm.got) == 4


def test_a_bank_whose_aggregator_was_away_is_unlinked_later(person: User, bank: Aggregator) -> None:
    items = [linked(person, bank) for _ in range(2)]
    bank.fails["/item/remove"] = [503, 503, 503]
    erased(person)
    assert not Item.objects.exists()
    assert [item.removed for item in bank.items.values()] == [False, False]
    attempt()
    assert sorted(item.removed for item in bank.items.values()) == [False, True]
    attempt()

    assert [item.removed for item in bank.items.values()] == [True, True]
    rows = Deletion.objects.order_by("pk")
    assert [(row.status, row.subject, row.attempts) for row in rows] == [("confirmed", None, 2), ("confirmed", None, 1)]
    assert [row.origin.rpartition("#")[2] for row in rows] == [item.item_id for item in items]


def test_before_it_the_page_says_who_will_be_asked(
    caller: JsonClient, person: User, there: Forgetting, agents: Agents, settings: Any
) -> None:
    there.reached_by(settings, agents, "brand")
    settings.AGENTS["core"]["contact"] = "privacy@core.example"
    other = owning(PersonFactory())
    signed_in(consenting(other)).post("/api/a2a/public", CALL)
    caller.post("/api/a2a/brand", CALL)
    caller.post("/api/a2a/core", CALL)
    browser = Client()
    browser.force_login(person)
    page = browser.get("/account/delete/").content.decode()

    assert "These are asked to delete what they got of you, for 30 days at most: Brand agent." in page
    assert "ask them yourself: Profile agent, privacy@core.example." in page
    assert "Public-data" not in page


@pytest.mark.django_db(transaction=True)  # the roles are made by another connection
@pytest.mark.own_process("psql makes the roles of a deployment")
def test_what_is_left_of_it_goes_after_thirty_days(caller: JsonClient, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    there.reply = (503, b"")
    erased(person)
    attempt()
    assert (states(), deliveries.forget_deletions()) == ({"brand": ("queued", "refused")}, 0)
    as_if_requested(KEPT)
    with least_rights():  # those of the server's own role
        attempt()
        assert states() == {"brand": ("unconfirmed", "refused")}
        assert (deliveries.forget_deletions(), Deletion.objects.count()) == (1, 0)


def test_staff_see_who_confirmed_and_not_whom_it_is_about(caller: JsonClient, person: User, there: Forgetting) -> None:
    caller.post("/api/a2a/brand", CALL)
    erased(person)
    attempt()
    staff = at_the_admin(StaffFactory(is_superuser=True))
    row = Deletion.objects.get()
    page = staff.get("/admin/agents_proxy/deletion/").content.decode()
    details = staff.get(f"/admin/agents_proxy/deletion/{row.pk}/change/").content.decode()

    assert f"/admin/agents_proxy/deletion/{row.pk}/change/" in page
    assert row.deletion_id in details
    for shown in (page, details):
        assert "Confirmed" in shown
        assert "ana@example.org" not in shown


def test_whoever_was_erased_sees_who_confirmed_by_the_link_of_the_mail(
    person: User, caller: JsonClient, there: Forgetting, liking: Run, destination: Destination, crm: type[Crm],
    settings: Any,
) -> None:  # fmt: skip
    agree_and_activate(by=person, analysis_id=liking.analysis_id, destination_id=destination.destination_id, number=0)
    deliver()
    settings.ERASURE_WAIT_DAYS = 0
    erasure = request_erasure(by=person)
    send_mails()
    link = re.search(r"https?://[^/]+(/account/delete/undo/)#(\S+)", mail.outbox[-1].body)
    assert link is not None
    assert erase(erasure_pk=erasure.pk)
    there.reply = lambda agent, _claims: (200, b'{"deleted": 3}') if agent != "core" else (503, b"")
    attempt()
    visitor = Client()
    page = visitor.post(link[1], {"code": link[2]})
    text = page.content.decode()
    receipts = [claims_of(found, kind=RECEIPT_TYPE) for found in re.findall(r"<code>(\S+)</code>", text)]

    assert (page.status_code, "Your account is deleted" in text, "ana@" in text) == (200, True, False)
    assert {one["receiver"] for one in receipts} == {"brand", "public", "second", receiver_of(destination).origin}
    assert {one["deletion_id"] for one in receipts} == set(
        Deletion.objects.filter(status="confirmed").values_list("deletion_id", flat=True)
    )
    assert [one["answer"] for one in receipts if one["receiver"] == "brand"] == ['{"deleted": 3}']
    assert (text.count("Not confirmed yet"), "Profile agent" in text) == (1, True)
    assert visitor.post(link[1], {"code": f"{link[2]}x"}).status_code == 404


def test_an_account_that_an_operator_erased_has_no_such_page(person: User) -> None:
    erased(person)

    assert Client().post("/account/delete/undo/", {"code": ""}).status_code == 404


@pytest.mark.parametrize("withdrawn", [False, True], ids=["never withdrawn", "withdrawn and not confirmed"])
def test_what_somebody_else_has_by_now_is_asked_for_under_each_consent_alone(
    withdrawn: bool, caller: JsonClient, person: User, there: Forgetting
) -> None:
    owning(person, NUMBER)
    consents = [consenting(person) and ProcessingConsent.objects.latest("pk") for _ in range(2)]
    caller.post("/api/a2a/brand", {"text": NUMBER})
    caller.post("/api/a2a/core", {"text": "ana@example.org"})
    there.reply = (503, b"")
    if withdrawn:
        withdraw(person)
        attempt()
    there.got.clear()
    PhoneNumber.objects.filter(user=person).delete()
    owning(PersonFactory(), NUMBER)
    erased(person)
    there.reply = (200, b"")
    attempt()

    requests = [(agent, c.get("consent_id"), c["subject"]) for agent, c in zip(there.names, there.claims, strict=True)]
    mine, theirs = {"emails": ["ana@example.org"], "phone_numbers": []}, {"emails": [], "phone_numbers": [NUMBER]}
    nobody = {"emails": [], "phone_numbers": []}
    under = [consent.consent_id for consent in consents if ("brand", consent.consent_id, theirs) in requests]
    assert len(under) == 1
    assert sorted(requests, key=str) == sorted(
        [("brand", None, nobody), ("brand", under[0], theirs), ("core", None, mine)], key=str
    )
    assert len({claims["sub"] for claims in there.claims}) == 1


def test_an_address_of_somebody_else_is_not_theirs_in_another_spelling(
    caller: JsonClient, person: User, there: Forgetting
) -> None:
    caller.post("/api/a2a/brand", CALL)
    EmailAddress.objects.filter(user=person).delete()
    EmailAddress.objects.create(user=PersonFactory(), email="Ana@Example.org", verified=True)
    erased(person)
    attempt()

    emails = {claims.get("consent_id", ""): claims["subject"]["emails"] for claims in there.claims}
    assert (len(emails), emails[""]) == (2, [])
    assert ["ana@example.org"] in emails.values()


@pytest.mark.parametrize("lost", ["ended", "unreadable"])
def test_a_receiver_whose_row_is_no_more_readable_is_told_no_more_than_it_got(
    lost: str, caller: JsonClient, person: User, there: Forgetting
) -> None:
    owning(person, NUMBER)
    consenting(person)
    caller.post("/api/a2a/brand", {"text": NUMBER})
    caller.post("/api/a2a/core", {"text": "ana@example.org"})
    if lost == "ended":
        there.reply = (503, b"")
        withdraw(person)
        as_if_requested(KEPT)
        attempt()
        assert set(states().values()) == {("unconfirmed", "")}
    else:
        Deletion.objects.update(subject="lost")
    erased(person)
    there.reply = (200, b"")
    attempt()

    assert dict(zip(there.names, (claims["subject"] for claims in there.claims), strict=True)) == {
        "brand": {"emails": [], "phone_numbers": [NUMBER]},
        "core": {"emails": ["ana@example.org"], "phone_numbers": []},
    }
