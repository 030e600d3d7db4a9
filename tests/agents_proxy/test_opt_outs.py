"""STOP and START: what people write back is kept, answered, and holds for whoever has the number."""

from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, transaction

from accounts.models import User
from agents_proxy.financial import webhooks
from agents_proxy.messaging import opt_outs, phone_numbers
from agents_proxy.messaging.models import OptOut, OutboundMessage
from common import limits
from common.limits import Limit
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.phone_owners import ADDRESS, CALL, OTHER, TO, verified
from tests.agents_proxy.test_messaging_reports import SECRET, report
from tests.callers import JsonClient, signed_in
from tests.factories import PersonFactory

INBOUND = f"{ADDRESS}/inbound"
STOPPED = {"optedOut": True, "reply": "You will get no more messages from us. Reply START to get them again."}
STARTED = {"optedOut": False, "reply": "You will get messages from us again. Reply STOP to end them."}


@pytest.fixture(autouse=True)
def _taken(settings: Any, db: None) -> None:
    settings.MESSAGING_REPORT_SECRET = SECRET


def write(client_json: JsonClient, text: str, *, number: str = TO, **headers: str) -> Any:
    return report(client_json, {"from": number, "text": text}, address=INBOUND, **headers)


def test_after_stop_nothing_is_sent_until_start(carrier: Agents, client_json: JsonClient, person: User) -> None:
    owner = signed_in(verified(person))

    stopped = write(client_json, "Stop")
    refused = owner.post(ADDRESS, CALL)
    shown = owner.client.post("/profile/messages/", page_of(owner)).content.decode()
    started = write(client_json, "START")
    sent = owner.post(ADDRESS, CALL)

    assert (stopped.json(), started.json()) == (STOPPED, STARTED)
    assert (refused.status_code, refused.json()["error"]["data"]["errors"][0]["code"]) == (400, "opted_out")
    assert "Send START from it to get them again." in shown
    assert (sent.status_code, len(carrier.requests), OutboundMessage.objects.count()) == (200, 1, 1)


def page_of(owner: Any) -> dict[str, str]:
    form = owner.client.get("/profile/messages/").context["form"]
    return {"to": TO, "text": "Hello", "task": form["task"].value(), "do": "send"}


def test_a_number_stays_opted_out_whoever_adds_it(carrier: Agents, client_json: JsonClient) -> None:
    write(client_json, "STOP")
    stranger = signed_in(PersonFactory())

    refused = stranger.post("/api/a2a/numbers", {"to": TO})
    shown = stranger.client.post("/profile/numbers/", {"to": TO}).content.decode()

    assert (refused.status_code, refused.json()["code"]) == (409, "number_opted_out")
    assert "Whoever has this number asked for no more messages." in shown
    assert carrier.requests == []
    assert phone_numbers.numbers_of(PersonFactory()) == []


@pytest.mark.parametrize(
    "word", ["STOP", " stop! ", "Stopp.", "END", "Ende", "ARRET", "Arrêt", "quit", "UNSUBSCRIBE", "cancel", "Abmelden"]
)
def test_words_that_stop(client_json: JsonClient, word: str) -> None:
    assert write(client_json, word).json()["optedOut"] is True
    assert opt_outs.is_opted_out(TO)
    assert TO not in str(OptOut.objects.values().get())


@pytest.mark.parametrize("words", ["Please stop by at eight", "stop it", "", "ok", "stop" * 30, "weekend", "🛑"])
def test_words_that_mean_nothing(client_json: JsonClient, words: str) -> None:
    assert write(client_json, words).json() == {"optedOut": False, "reply": None}
    write(client_json, "STOP")
    assert write(client_json, words).json() == {"optedOut": True, "reply": None}


def test_the_answer_speaks_the_language_of_the_word(client_json: JsonClient) -> None:
    assert "START" in write(client_json, "Stopp").json()["reply"]
    assert write(client_json, "Stopp").json()["reply"] != STOPPED["reply"]


def test_a_stop_that_comes_once_more_does_not_undo_a_start(client_json: JsonClient) -> None:
    first = write(client_json, "STOP")
    again = dict(first.wsgi_request.headers)
    kept = {name: again[name.title()] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
    write(client_json, "START")

    write(client_json, "STOP", **kept)

    assert not opt_outs.is_opted_out(TO)


@pytest.mark.django_db(transaction=True)
def test_a_stop_that_could_not_be_kept_counts_when_it_comes_again(
    client_json: JsonClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**_columns: Any) -> None:
        raise OperationalError("the database went away")

    with monkeypatch.context() as broken:
        broken.setattr(OptOut.objects, "create", away)
        first = write(client_json, "STOP")
    sent = first.wsgi_request.headers
    kept = {name: sent[name.title()] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}

    again = write(client_json, "STOP", **kept)

    assert (first.status_code, again.json(), opt_outs.is_opted_out(TO)) == (503, STOPPED, True)


def test_strangers_and_others(client_json: JsonClient) -> None:
    assert write(client_json, "STOP", **{"webhook-id": "another"}).status_code == 401
    assert client_json.post(INBOUND, {"from": TO, "text": "STOP"}).status_code == 401
    assert report(client_json, {"from": "me", "text": "STOP"}, address=INBOUND).status_code == 400
    write(client_json, "STOP", number=OTHER)
    assert (opt_outs.is_opted_out(TO), opt_outs.is_opted_out(OTHER)) == (False, True)


@pytest.mark.parametrize("once", [opt_outs.ONCE, webhooks.ONCE], ids=lambda once: once.name)
def test_a_message_counts_only_with_what_was_written_for_it(db: None, once: Limit) -> None:
    assert once.in_database  # where a transaction that comes to nothing takes the count along, however it ends
    with suppress(KeyboardInterrupt), transaction.atomic():
        limits.count(once, "msg_1")
        raise KeyboardInterrupt

    assert limits.peek(once, "msg_1").used == 0
