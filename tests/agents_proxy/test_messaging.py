"""Messages through the proxy: whom they may go to, once for each task, and what is kept of them."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.test import Client

from accounts.models import User
from agents_proxy.budgets import Budget, usage
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.models import OutboundMessage, PhoneNumber
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import Purpose
from common.clock import database_now
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import ADDRESS, CALL, OTHER, TO, verified
from tests.agents_proxy.proxy_calls import SITE, configure, owning, refusal
from tests.callers import JsonClient, signed_in
from tests.factories import AppFactory, MessageTemplateFactory, PersonFactory
from tests.fakes.agents import Speech, agent, answers_with, with_card


def messages_sent(carrier: Agents) -> list[Any]:
    """What the texts of the envelopes hold."""
    return [json.loads(request["params"]["message"]["parts"][0]["text"]) for _, request in carrier.requests]


def code_of(carrier: Agents) -> str:
    found = re.match(r"[0-9]{6}", messages_sent(carrier)[-1]["text"])
    assert found
    return found.group()


def test_a_message_is_one_text_part_that_holds_its_json(carrier: Agents, person: User) -> None:
    carrier.replies["messaging"] = {"status": "delivered", "messageId": "SM-1"}

    answer = signed_in(verified(person)).post(ADDRESS, CALL)

    assert answer.status_code == 200
    assert answer.json()["result"]["status"]["state"] == "completed"
    [(_, sent)] = carrier.requests
    assert (sent["id"], sent["method"], sent["params"]["sessionId"]) == ("task-table", "tasks/send", "session-7")
    assert sent["params"]["message"]["parts"] == [{"type": "text", "text": f'{{"text":"{CALL["text"]}","to":"{TO}"}}'}]
    kept = OutboundMessage.objects.get()
    assert (kept.status, kept.upstream_id, kept.error_code) == ("delivered", "SM-1", "")
    assert TO not in str(vars(kept))
    assert signed_in(person).get("/api/a2a/messages").json()["messages"][0]["status"] == "delivered"


def test_a_message_whose_answer_is_about_somebody_else_went_out_all_the_same(carrier: Agents, person: User) -> None:
    carrier.replies["messaging"] = {"status": "sent", "phone": "+447911123456"}
    owner = signed_in(verified(person))

    answers = [owner.post(ADDRESS, CALL) for _ in range(2)]

    assert "+447911123456" not in "".join(answer.content.decode() for answer in answers)
    assert answers[0].status_code == 403
    assert OutboundMessage.objects.get().status == "unknown"
    assert len(carrier.requests) == 1


def test_an_approved_template(carrier: Agents, person: User) -> None:
    MessageTemplateFactory(name="offer", agreed=True)
    template = {"name": "offer", "language": "en", "parameters": {"name": "Zoë"}}

    answer = signed_in(verified(person)).post(ADDRESS, {"to": TO, "template": template})

    assert answer.status_code == 200
    assert messages_sent(carrier) == [{"to": TO, "template": template}]
    kept = OutboundMessage.objects.get()
    assert (kept.template.name, kept.status) == ("offer", "sent")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"to": "0151 123"}, "to"),
        ({"to": "+49000000000"}, "to"),
        ({"text": None}, ""),
        ({"text": " "}, "text"),
        ({"template": {"name": "offer", "language": "en", "parameters": {}}}, ""),
        ({"text": None, "template": {"name": "nobody", "language": "en", "parameters": {}}}, "template"),
        ({"text": None, "template": {"name": "waiting", "language": "en", "parameters": {"name": "Z"}}}, "template"),
        ({"text": None, "template": {"name": "offer", "language": "en", "parameters": {}}}, "template.parameters"),
        ({"cc": TO}, "cc"),
        ({"id": "task"}, "id"),
    ],
)
def test_bodies_that_do_not_fit(carrier: Agents, person: User, body: dict[str, Any], field: str) -> None:
    MessageTemplateFactory(name="offer", agreed=True)
    MessageTemplateFactory(name="waiting")

    answer = signed_in(verified(person)).post(ADDRESS, {**CALL, **body})

    assert refusal(answer) == (400, -32602, "invalid_params")
    assert answer.json()["error"]["data"]["errors"][0]["field"] == field
    assert carrier.requests == []


@pytest.mark.parametrize("other", ["nobody", "another person", "unverified"])
def test_only_to_a_number_of_ones_own(carrier: Agents, person: User, other: str) -> None:
    verified(person)
    if other == "another person":
        verified(PersonFactory(), OTHER)
    if other == "unverified":
        digest = phone_numbers.digest("number", OTHER)
        PhoneNumber.objects.create(user=person, number="sealed", digest=digest)

    answer = signed_in(person).post(ADDRESS, {**CALL, "to": OTHER})

    assert refusal(answer) == (403, -32050, "consent_required")
    assert answer.json()["error"]["data"]["consent_url"].endswith("/profile/numbers/")
    assert carrier.requests == []


def test_a_withdrawn_consent_ends_messages(carrier: Agents, person: User) -> None:
    verified(person)
    consents.ProcessingConsent.objects.update(withdrawn_at=database_now())

    assert refusal(signed_in(person).post(ADDRESS, CALL)) == (403, -32050, "consent_required")


def test_the_same_task_is_sent_once(carrier: Agents, person: User) -> None:
    owner = signed_in(verified(person))
    owner.post(ADDRESS, CALL)
    consents.give(by=person, purposes=[Purpose.MESSAGING])  # a renewed consent makes no new message

    again = owner.post(ADDRESS, CALL)
    other = owner.post(ADDRESS, {**CALL, "text": "Something else"})

    assert len(carrier.requests) == OutboundMessage.objects.count() == 1
    assert again.status_code == 200
    body = json.loads(again.json()["result"]["status"]["message"]["parts"][0]["text"])
    assert body == {"messageId": OutboundMessage.objects.get().message_id, "status": "sent", "repeated": True}
    assert other.json()["error"]["data"]["errors"][0]["code"] == "task_reused"
    signed_in(verified(PersonFactory(), OTHER)).post(ADDRESS, {**CALL, "to": OTHER})
    assert len(carrier.requests) == 2  # another person's task of the same name is another one


def test_a_person_is_sent_so_many_an_hour_and_a_repeated_task_costs_nothing(
    carrier: Agents, person: User, settings: Any
) -> None:
    settings.A2A_BUDGETS = {**settings.A2A_BUDGETS, "MESSAGES_PER_PERSON_PER_HOUR": 2}
    owner = signed_in(verified(person))
    answers = [owner.post(ADDRESS, {**CALL, "id": f"task-{name}"}) for name in ("a", "a", "a", "b", "c", "b")]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429, 200]
    assert refusal(answers[4]) == (429, -32052, "too_many_requests")
    assert 3000 < int(answers[4]["Retry-After"]) <= 3600
    assert len(carrier.requests) == OutboundMessage.objects.count() == 2
    assert signed_in(verified(PersonFactory(), OTHER)).post(ADDRESS, {**CALL, "to": OTHER}).status_code == 200


def test_an_app_has_a_budget_of_messages_for_all_its_people(db: None, carrier: Agents, settings: Any) -> None:
    settings.A2A_BUDGETS = {**settings.A2A_BUDGETS, "MESSAGES_PER_APP_PER_HOUR": 1}
    shop = AppFactory(origins=[SITE])
    people = [(owning(PersonFactory(), number), number) for number in (TO, OTHER)]
    answers = []
    for somebody, number in people:
        given = consents.give_to_site(by=somebody, purposes=[Purpose.MESSAGING], app=shop, origin=SITE)
        site = JsonClient(Client(), headers={"A2A-Consent": given.secret})
        answers.append(site.post(ADDRESS, {**CALL, "to": number}))

    assert [answer.status_code for answer in answers] == [200, 429]
    assert len(carrier.requests) == 1
    refused, _ = people[1]
    of_person, _ = usage(Budget.MESSAGES, person_pk=refused.pk, app_pk=shop.pk)
    assert of_person.used == 0  # what one app may not send costs its people nothing elsewhere


def test_a_message_whose_answer_never_came_is_not_sent_again(carrier: Agents, person: User, settings: Any) -> None:
    owner = signed_in(verified(person))
    configure(settings, "messaging", url="http://127.0.0.1:9/")

    first = owner.post(ADDRESS, CALL)
    configure(settings, "messaging", url=f"{carrier.address}/messaging")
    again = owner.post(ADDRESS, CALL)

    assert refusal(first) == (502, -32053, "upstream_unavailable")
    assert again.json()["result"]["status"]["state"] == "unknown"
    assert carrier.requests == []


@pytest.mark.parametrize("status", ["429 Too Many Requests", "401 Unauthorized"])
def test_a_message_that_the_agent_would_not_take_may_be_sent_again(
    status: str, carrier: Agents, person: User, settings: Any
) -> None:
    owner = signed_in(verified(person))
    with agent(answers_with(lambda _: b"", status=status)) as refusing:
        configure(settings, "messaging", url=refusing.url)
        first = owner.post(ADDRESS, CALL)
    configure(settings, "messaging", url=f"{carrier.address}/messaging")
    again = owner.post(ADDRESS, CALL)

    assert first.status_code == (429 if status.startswith("429") else 502)
    assert "result" in again.json()
    assert OutboundMessage.objects.get().status == "sent"


def test_an_a2a_agent_reports_of_a_message_by_its_own_name_for_the_task(person: User, settings: Any) -> None:
    done = {"id": "task-of-the-agent", "contextId": "c", "status": {"state": "completed"}}
    answers = answers_with(lambda call: {"jsonrpc": "2.0", "id": call.body["id"], "result": done})
    with agent(with_card(answers, Speech.A2A_0_3)) as running:
        configure(settings, "messaging", url=running.url, protocol="a2a")
        signed_in(verified(person)).post(ADDRESS, CALL)

    assert OutboundMessage.objects.get().upstream_id == "task-of-the-agent"


def test_a_message_whose_process_died_is_unknown(carrier: Agents, person: User) -> None:
    owner = signed_in(verified(person))
    owner.post(ADDRESS, CALL)
    row = OutboundMessage.objects.get()
    row.delete()
    row.status = "sending"
    row.save(force_insert=True)

    early = owner.post(ADDRESS, CALL).json()["result"]["status"]["state"]
    OutboundMessage.objects.update(created_at=database_now() - timedelta(minutes=12))
    late = owner.post(ADDRESS, CALL).json()["result"]["status"]["state"]

    assert (early, late, OutboundMessage.objects.get().status) == ("working", "unknown", "unknown")
    assert len(carrier.requests) == 1


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        ({"error": {"code": -32000, "message": "secret", "data": "secret"}}, "failed", "agent_error"),
        ({"result": {"id": "x", "status": {"state": "rejected"}}}, "failed", "delivery_failed"),
        ({"result": {"id": "x", "status": {"state": "working"}}}, "sent", ""),
        ("not JSON", "sent", ""),
    ],
)
def test_what_the_agent_says(carrier: Agents, person: User, answer: Any, status: str, code: str) -> None:
    carrier.replies["messaging"] = answer

    response = signed_in(verified(person)).post(ADDRESS, CALL)

    kept = OutboundMessage.objects.get()
    assert (kept.status, kept.error_code) == (status, code)
    assert b"secret" not in response.content


def test_a_number_is_verified_by_the_code_that_comes_to_it(carrier: Agents, person: User) -> None:
    owner = signed_in(person)
    answer = owner.post("/api/a2a/numbers", {"to": TO})
    code = code_of(carrier)
    wrong = "000000" if code != "000000" else "000001"

    assert (answer.status_code, answer.json()) == (202, {"status": "code_sent", "expiresIn": 600})
    assert owner.post("/api/a2a/numbers/codes", {"to": TO, "code": wrong}).json()["code"] == "wrong_code"
    assert owner.post("/api/a2a/numbers/codes", {"to": TO, "code": code}).json() == {"status": "verified"}
    assert owner.post("/api/a2a/numbers/codes", {"to": TO, "code": code}).status_code == 400  # once
    [listed] = owner.get("/api/a2a/numbers").json()["numbers"]
    assert (listed["number"], listed["verifiedAt"] is not None) == ("+49 … 78", True)
    kept = OutboundMessage.objects.values_list("template__text", "status", "upstream_id", "error_code")
    assert code not in str(kept)  # all else is random or a keyed digest, which may spell it
    assert owner.delete(f"/api/a2a/numbers/{listed['numberId']}").status_code == 204
    assert owner.get("/api/a2a/numbers").json() == {"numbers": []}


def test_five_guesses_and_ten_minutes(carrier: Agents, person: User) -> None:
    phone_numbers.send_code(by=person, number=TO)
    code = code_of(carrier)
    for guess in range(5):
        with pytest.raises(phone_numbers.WrongCode):
            phone_numbers.verify_code(by=person, number=TO, code=f"{(int(code) + guess + 1) % 10**6:06d}")
    with pytest.raises(phone_numbers.WrongCode):
        phone_numbers.verify_code(by=person, number=TO, code=code)

    phone_numbers.send_code(by=person, number=TO)
    PhoneNumber.objects.update(code_expires_at=database_now() - timedelta(seconds=1))
    with pytest.raises(phone_numbers.WrongCode):
        phone_numbers.verify_code(by=person, number=TO, code=code_of(carrier))


def test_a_number_that_changed_hands_is_only_the_last_ones(carrier: Agents, person: User) -> None:
    verified(person)
    heir = PersonFactory()
    phone_numbers.send_code(by=heir, number=TO)
    with pytest.raises(phone_numbers.WrongCode):  # another's code is nobody's
        phone_numbers.verify_code(by=person, number=TO, code=code_of(carrier))

    phone_numbers.verify_code(by=heir, number=TO, code=code_of(carrier))

    assert list(PhoneNumber.objects.filter(verified_at__isnull=False).values_list("user", flat=True)) == [heir.pk]


def test_nobody_is_flooded_with_codes(carrier: Agents, person: User) -> None:
    for _ in range(3):
        phone_numbers.send_code(by=PersonFactory(), number=TO)

    answer = signed_in(person).post("/api/a2a/numbers", {"to": TO})

    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (429, "too_many_codes", "3600")
    assert len(carrier.requests) == 3


def test_a_person_asks_for_six_codes_an_hour_and_is_told_what_is_left(carrier: Agents, person: User) -> None:
    caller = signed_in(person)
    numbers = [f"+49151234567{last:02d}" for last in range(8)]

    answers = [caller.post("/api/a2a/numbers", {"to": number}) for number in numbers[:6]]
    refused, unfit = caller.post("/api/a2a/numbers", {"to": numbers[6]}), caller.post("/api/a2a/numbers", {})
    page = caller.client.post("/profile/numbers/", {"to": numbers[7]})

    assert [answer.status_code for answer in answers] == [202] * 6
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_codes")
    assert 3500 <= int(refused["Retry-After"]) <= 3600
    assert (unfit.status_code, page.status_code) == (400, 400)
    everything = [*answers, refused, unfit, page]
    assert {answer["RateLimit-Policy"] for answer in everything} == {'"codes-per-person";q=6;w=3600'}
    assert [answer["RateLimit"].split(";")[1] for answer in everything] == [
        "r=5", "r=4", "r=3", "r=2", "r=1", "r=0", "r=0", "r=0", "r=0",
    ]  # fmt: skip
    assert len(carrier.requests) == 6


@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("/api/a2a/numbers", {"to": "12"}),
        ("/api/a2a/numbers", {"to": TO, "name": "x"}),
        ("/api/a2a/numbers", {"to": "+49000000000"}),
        ("/api/a2a/numbers/codes", {"to": TO, "code": "12345"}),
        ("/api/a2a/numbers/codes", {"to": TO}),
    ],
)
def test_own_addresses_take_no_other_bodies(carrier: Agents, person: User, address: str, body: Any) -> None:
    assert signed_in(person).post(address, body).status_code == 400


OWN = ["/api/a2a/numbers", "/api/a2a/numbers/codes", "/api/a2a/numbers/1", "/api/a2a/messages"]


def test_the_page_of_numbers(carrier: Agents, person: User) -> None:
    page = signed_in(person).client

    assert "Add a number" in page.get("/profile/numbers/").content.decode()
    assert page.post("/profile/numbers/", {"to": "12"}).status_code == 400
    assert "+49 … 78" in page.post("/profile/numbers/", {"to": "+49 151 1234-5678"}, follow=True).content.decode()
    here = f"/profile/numbers/{PhoneNumber.objects.get().pk}/code/"
    assert f'href="{here}"' in page.get("/profile/numbers/").content.decode()  # it can be left and found again
    entering = page.get(here).content.decode()
    assert "Enter the code" in entering
    assert '<a href="/profile/numbers/" aria-current="page">' in entering
    assert page.put(here).status_code == 405
    assert page.post(here, {"code": "12"}).status_code == 400
    shown = page.post(here, {"code": code_of(carrier)}, follow=True).content.decode()
    assert "Verified" in shown
    assert here not in shown
    page.post(f"/profile/numbers/{PhoneNumber.objects.get().pk}/forget/")
    assert PhoneNumber.objects.count() == 0


def test_only_who_asked_for_a_code_may_enter_it(carrier: Agents, person: User, client: Client) -> None:
    phone_numbers.send_code(by=PersonFactory(), number=TO)
    here = f"/profile/numbers/{PhoneNumber.objects.get().pk}/code/"

    assert client.get(here)["Location"].startswith("/accounts/login/")
    stranger = signed_in(person).client
    for answer in (stranger.get(here, follow=True), stranger.post(here, {"code": code_of(carrier)}, follow=True)):
        assert "No code is awaited for this number any more." in answer.content.decode()
    assert PhoneNumber.objects.get().verified_at is None


def test_a_number_is_verified_and_taken_over_across_keys(carrier: Agents, person: User, settings: Any) -> None:
    before = PersonFactory()
    verified(before)
    settings.DATA_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.DATA_ENCRYPTION_KEYS]
    carrier.requests.clear()

    phone_numbers.send_code(by=person, number=TO)
    phone_numbers.verify_code(by=person, number=TO, code=code_of(carrier))

    assert list(PhoneNumber.objects.filter(verified_at__isnull=False).values_list("user", flat=True)) == [person.pk]


def test_the_page_of_numbers_when_nobody_brings_codes(settings: Any, person: User) -> None:
    configure(settings)

    answer = signed_in(person).client.post("/profile/numbers/", {"to": TO})

    assert (answer.status_code, "could not be sent" in answer.content.decode()) == (400, True)
