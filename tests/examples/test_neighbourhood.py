"""The programs of the neighbourhood over real HTTP, the aggregator as the service's own client sees it."""

import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from standardwebhooks.webhooks import Webhook

from agents_proxy.financial import client, webhooks
from agents_proxy.financial.errors import AggregatorRefused, ItemRevoked, LoginRequired
from agents_proxy.financial.mapping import mapped
from agents_proxy.financial.shapes import LinkToken, Page
from agents_proxy.financial.transactions import applied
from agents_proxy.states import History
from examples.neighbourhood.aggregator import Aggregator
from examples.neighbourhood.crm import Crm
from examples.neighbourhood.gateway import Gateway, Reports
from examples.neighbourhood.link_page import LinkPage
from examples.neighbourhood.overview import Overview, Part, answers_calls, answers_get, process_lives
from examples.neighbourhood.serving import Request, Response
from examples.neighbourhood.store import Store
from tests.fakes.neighbourhood import served
from tests.patience import MOST_SECONDS

SECRET, OTHER = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
CHOICES = {"institution": "ins_harbour", "name": "Mara", "account": ["everyday", "card"]}


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store()
    yield made
    made.close()


@pytest.fixture
def today() -> list[date]:
    """The day that the aggregator lives in."""
    return [datetime.now(UTC).date()]


@pytest.fixture
def bank(store: Store, today: list[date], settings: Any) -> Iterator[str]:
    """An aggregator that the settings name."""
    program = Aggregator(store, "neighbourhood", "its secret", lambda: today[0])
    program.hosted = LinkPage(store)
    with served(program) as address:
        settings.AGGREGATOR = {
            "url": address, "client_id": "neighbourhood", "secret": "its secret", "name": "Tests",
            "countries": ["US"], "days": 365, "timeout": 10,
        }  # fmt: skip
        yield address


def opened(*, identity: bool = False, webhook: str = "", access_token: str = "") -> LinkToken:
    return client.create_link_token(
        person="usr_x", language="de", redirect_url="http://localhost/back?state=s", webhook=webhook, identity=identity,
        seconds=600, access_token=access_token,
    )  # fmt: skip


def linked(*, identity: bool = False, webhook: str = "", institution: str = "ins_harbour") -> str:
    """An access token, made by a person on the hosted page."""
    link, chosen = opened(identity=identity, webhook=webhook), {**CHOICES, "institution": institution}
    assert requests.post(f"{link.hosted_link_url}/agree", data=chosen, allow_redirects=False).status_code == 303
    public = client.link_state(link.link_token).public_token
    assert public
    return client.exchange(public).access_token


def read_all(token: str, cursor: str = "") -> tuple[list[Page], str]:
    pages = []
    while not pages or pages[-1].has_more:
        pages.append(client.transactions_page(token, cursor))
        cursor = pages[-1].next_cursor
    return pages, cursor


def test_a_year_of_purchases_becomes_brands(bank: str, today: list[date]) -> None:
    token = linked()

    pages, _ = read_all(token)
    signals = mapped(applied({}, pages).values(), today[0])

    assert len(pages) > 1
    added = [one for page in pages for one in page.added]
    assert len({one.transaction_id for one in added}) == len(added) > 300
    assert (today[0] - min(one.date for one in added)).days > 350
    assert {"Harbour Tea", "Radwerk Nord"} <= set(signals["brand_affinities"])
    assert {"coffee", "groceries"} <= set(signals["likes"])
    assert "Hausverwaltung Sonnental" not in json.dumps(signals)
    accounts = client.accounts(token)
    assert accounts.item.institution_name == "Harbour Mutual (invented)"
    assert [account.mask for account in accounts.accounts] == ["4021", "7710"]


def test_pages_of_any_size_and_days_that_pass_come_to_the_same(bank: str, today: list[date]) -> None:
    token, last = linked(), today[0] + timedelta(days=30)  # within a month something is pending, whatever the day
    known, cursor = read_all(token)
    for day in (1, 2, 30):
        today[0] = last - timedelta(days=30 - day)
        pages, cursor = read_all(token, cursor)
        known += pages

    whole = applied({}, read_all(token)[0])

    assert applied({}, known) == whole
    assert any(page.modified for page in known[-3:])
    assert read_all(token, cursor)[0][0].added == []
    assert {entry.day for entry in whole.values() if entry.pending} <= {last.isoformat()}


def test_the_same_sign_in_buys_the_same(bank: str) -> None:
    one, other = read_all(linked())[0], read_all(linked())[0]

    assert [page.added for page in one] == [page.added for page in other]


def test_identity_needs_agreement_on_the_hosted_page(bank: str) -> None:
    with pytest.raises(LoginRequired):
        client.identity(linked())

    owner = client.identity(linked(identity=True)).accounts[0].owners[0]

    assert (owner.names, owner.emails[0].data) == (["Mara Lindholm"], "mara.lindholm@example.org")


def test_a_public_token_is_good_for_once_and_a_removed_item_is_gone(bank: str) -> None:
    link = opened()
    requests.post(f"{link.hosted_link_url}/agree", data=CHOICES, allow_redirects=False)
    public = client.link_state(link.link_token).public_token
    assert public
    token = client.exchange(public).access_token

    with pytest.raises(AggregatorRefused):
        client.exchange(public)
    client.remove_item(token)
    with pytest.raises(ItemRevoked):
        client.accounts(token)


def test_wrong_credentials_are_refused(bank: str, settings: Any) -> None:
    settings.AGGREGATOR = {**settings.AGGREGATOR, "secret": "another"}

    with pytest.raises(AggregatorRefused):
        opened()


@pytest.mark.parametrize("body", [b"", b"[]", b'{"client_id": 1}', b"[" * 100_000])
def test_a_call_that_is_none_is_refused_in_the_documented_shape(bank: str, body: bytes) -> None:
    answer = requests.post(f"{bank}/accounts/get", data=body)

    assert answer.status_code == 400
    assert {"error_type", "error_code", "error_message"} <= answer.json().keys()


@pytest.mark.parametrize("wrong", [{"access_token": 3}, {"access_token": "x", "cursor": "never"}, {}])
def test_wrong_members_are_refused(bank: str, wrong: dict[str, Any]) -> None:
    keys = {"client_id": "neighbourhood", "secret": "its secret"}

    assert requests.post(f"{bank}/transactions/sync", json={**keys, **wrong}).status_code == 400


def test_the_hosted_page_leads_step_by_step_and_can_be_left(bank: str) -> None:
    link = opened(identity=True)
    page = link.hosted_link_url

    assert "Choose your bank" in requests.get(page).text
    assert requests.post(f"{page}/bank", data={"institution": "none"}).status_code == 400
    assert "Sign in to Harbour" in requests.post(f"{page}/bank", data={"institution": "ins_harbour"}).text
    assert requests.post(f"{page}/sign-in", data={"institution": "ins_harbour"}).status_code == 400
    chosen = requests.post(f"{page}/sign-in", data={"institution": "ins_harbour", "name": "<b>Mara"})
    assert "&lt;b&gt;Mara" in chosen.text
    assert "and who you are" in chosen.text
    assert requests.post(f"{page}/agree", data={**CHOICES, "account": []}).status_code == 400
    left = requests.post(f"{page}/leave", allow_redirects=False)
    assert left.headers["Location"] == "http://localhost/back?state=s"
    assert client.link_state(link.link_token).public_token is None
    assert requests.get(page).status_code == 410


def test_what_was_linked_outlives_the_program(tmp_path: Path) -> None:
    first = Store(tmp_path / "kept.sqlite3")
    first.add("item", "access", {"item_id": "i"})
    first.close()
    second = Store(tmp_path / "kept.sqlite3")

    assert second.get("item", "access") == {"item_id": "i"}
    assert (tmp_path / "kept.sqlite3").stat().st_mode & 0o077 == 0
    second.close()


def signed(secret: str, name: str, body: str) -> dict[str, str]:
    now = datetime.now(UTC)
    return {
        "webhook-id": name,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(name, now, body),
    }


def test_the_crm_takes_what_is_signed_once_and_shows_it(store: Store) -> None:
    body = '{"type": "brand_affinity.activated", "data": {"likes": ["<i>tea"]}}'
    with served(Crm(store, (SECRET,))) as address:
        taken = [requests.post(f"{address}/activations", body, headers=signed(SECRET, "act_1", body)) for _ in range(2)]
        arrived = requests.get(f"{address}/arrived").json()["arrived"]
        shown = requests.get(address).text

    assert [answer.status_code for answer in taken] == [204, 204]
    assert [(one["id"], one["said"]) for one in arrived] == [("act_1", json.loads(body))]
    assert "&lt;i&gt;tea" in shown


def test_the_crm_refuses_other_signatures_until_it_is_told_the_secret(store: Store) -> None:
    with served(Crm(store)) as address:

        def send() -> int:
            return requests.post(f"{address}/activations", "{}", headers=signed(OTHER, "act_2", "{}")).status_code

        before = send()
        assert requests.post(f"{address}/secrets", data={"secret": "whsec_?"}).status_code == 400
        requests.post(f"{address}/secrets", data={"secret": OTHER})
        after = send()
        unsigned = requests.post(f"{address}/activations", "{}").status_code

    assert (before, after, unsigned) == (401, 204, 401)


def call(text: Any, task: str = "task-1", method: str = "tasks/send") -> dict[str, Any]:
    message = {"role": "user", "parts": [{"type": "text", "text": json.dumps(text)}]}
    params = {"id": task, "sessionId": "session-1", "message": message}
    return {"jsonrpc": "2.0", "id": task, "method": method, "params": params}


def test_the_gateway_shows_messages_and_reports_their_delivery(store: Store) -> None:
    reported: list[dict[str, Any]] = []
    came = threading.Event()

    def take(request: Request) -> Response:
        reported.append(Webhook(SECRET).verify(request.body, request.headers))
        came.set()
        return Response(200)

    with served(take) as server, served(Gateway(store, Reports(server, SECRET, after=0.0))) as address:
        answer = requests.post(f"{address}/messages", json=call({"to": "+491760", "text": "<b>Hello"})).json()
        again = requests.post(f"{address}/messages", json=call({"to": "+491760", "text": "<b>Hello"})).json()
        assert came.wait(MOST_SECONDS)
        shown = requests.get(address).text

    body = json.loads(answer["result"]["status"]["message"]["parts"][0]["text"])
    assert body["status"] == "sent"
    assert answer == again
    assert reported == [{"messageId": body["message_id"], "status": "delivered"}]
    assert "&lt;b&gt;Hello" in shown


def test_what_is_written_back_is_passed_on_and_answered(store: Store) -> None:
    passed_on: list[tuple[str, dict[str, Any]]] = []

    def take(request: Request) -> Response:
        passed_on.append((request.path, Webhook(SECRET).verify(request.body, request.headers)))
        reply = json.dumps({"optedOut": True, "reply": "No more."}).encode()
        return Response(200, reply if request.path.endswith("inbound") else b"{}")

    with served(take) as server, served(Gateway(store, Reports(server, SECRET))) as address:
        requests.post(f"{address}/inbound", {"from": "+491760", "text": "STOP"})
        shown = requests.get(address).text

    assert passed_on == [("/api/a2a/messaging/inbound", {"from": "+491760", "text": "STOP"})]
    assert "No more." in shown


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (call({"to": "+491760"}), -32602),
        (call("words"), -32602),
        (call({"to": "+491760", "text": "x"}, method="none"), -32602),
        ([], -32600),
        ({"jsonrpc": "2.0", "id": "a", "method": "tasks/send", "params": None}, -32602),
    ],
)
def test_the_gateway_refuses_what_is_no_message(store: Store, body: Any, code: int) -> None:
    with served(Gateway(store)) as address:
        answer = requests.post(f"{address}/messages", json=body)

    assert answer.json()["error"]["code"] == code
    assert store.newest("message") == []


def test_the_overview_asks_every_part_at_that_moment(store: Store, tmp_path: Path) -> None:
    (tmp_path / "pid").write_text(str(os.getpid()))
    with served(Crm(store)) as crm, served(Gateway(store)) as gateway:
        parts = [
            Part("CRM", "Takes.", crm, answers_get(crm, ready=True)),
            Part("Gateway", "Sends.", "", answers_calls(f"{gateway}/messages")),
            Part("Worker", "Works.", "", process_lives(tmp_path / "pid")),
            Part("Gone", "Does nothing.", "", answers_get("http://127.0.0.1:9/")),
            Part("Ended", "Works no more.", "", process_lives(tmp_path / "none")),
        ]
        with served(Overview(parts)) as address:
            listed = requests.get(f"{address}/status").json()["parts"]
            page = requests.get(address).text

    answers = {part["name"]: part["answers"] for part in listed}
    assert answers == {"CRM": True, "Gateway": True, "Worker": True, "Gone": False, "Ended": False}
    assert "2 of 5 parts do not answer." in page


@pytest.mark.parametrize(
    "headers",
    [{"Host": "rebound.example:80"}, {"Origin": "https://other.example"}, {"Origin": "null"}],
    ids=["name", "origin", "frame"],
)
def test_other_sites_reach_nothing(store: Store, headers: dict[str, str]) -> None:
    with served(Crm(store)) as address:
        answer = requests.post(f"{address}/secrets", data={"secret": OTHER}, headers=headers)

    assert answer.status_code == 403
    assert store.newest("secret") == []


def test_a_body_that_is_too_long_or_has_no_length_is_refused(store: Store) -> None:
    with served(Crm(store)) as address:
        long = requests.post(f"{address}/activations", headers={"Content-Length": str(2**31)}, data=b"")
        chunked = requests.post(f"{address}/activations", data=iter([b"{}"]))

    assert (long.status_code, chunked.status_code) == (413, 413)


def test_a_slow_bank_tells_the_newest_first_and_the_rest_as_well(store: Store, settings: Any) -> None:
    program = Aggregator(store, "neighbourhood", "its secret", second_wave=3600.0)
    program.hosted = LinkPage(store)
    with served(program) as address:
        settings.AGGREGATOR = {
            "url": address, "client_id": "neighbourhood", "secret": "its secret", "name": "Tests", "countries": ["US"],
            "days": 730, "timeout": 10,
        }  # fmt: skip
        token = linked(institution="ins_slow")
        first, cursor = read_all(token)
        [(kept, item)] = store.named("item")
        store.change("item", kept, {**item, "complete_at": 0.0})
        second, after = read_all(token, cursor)
        whole, _ = read_all(token)

    ids = [one.transaction_id for page in (*first, *second) for one in page.added]
    oldest = min(one.date for page in second for one in page.added)
    assert {page.history for page in first} == {History.INITIAL}
    assert second[-1].history == History.COMPLETE
    assert "~" not in after
    assert len(ids) == len(set(ids))
    assert applied(applied({}, first), second) == applied({}, whole)
    assert (datetime.now(UTC).date() - oldest).days > 700


def test_the_buttons_tell_the_service_what_became_of_a_bank(store: Store, settings: Any, db: None) -> None:
    webhooks_sent: list[Request] = []
    came = threading.Semaphore(0)

    def take(request: Request) -> Response:
        webhooks_sent.append(request)
        came.release()
        return Response(200)

    program = Aggregator(store, "neighbourhood", "its secret")
    program.hosted = LinkPage(store)
    with served(take) as server, served(program) as address:
        settings.AGGREGATOR = {
            "url": address, "client_id": "neighbourhood", "secret": "its secret", "name": "Tests", "countries": ["US"],
            "days": 730, "timeout": 10,
        }  # fmt: skip
        token = linked(webhook=f"{server}/webhooks")
        item_id = store.named("item")[0][1]["item_id"]
        for news in ("ends", "login", "revoked"):
            if news == "revoked":
                with pytest.raises(LoginRequired):
                    client.accounts(token)
                again = opened(access_token=token)
                requests.post(f"{again.hosted_link_url}/again", allow_redirects=False)
                assert client.link_state(again.link_token).is_done
                assert client.accounts(token).item.institution_id == "ins_harbour"
            assert requests.post(f"{address}/news/{item_id}", {"news": news}, allow_redirects=False).status_code == 303
            assert came.acquire(timeout=MOST_SECONDS)
        names = {
            webhooks.require_signature(one.body, one.headers[webhooks.HEADER.lower()], network="")
            for one in webhooks_sent
        }

    codes = [(one.json["item_id"], one.json["webhook_code"]) for one in webhooks_sent]
    assert codes == [(item_id, code) for code in ("PENDING_EXPIRATION", "ERROR", "USER_PERMISSION_REVOKED")]
    assert len(names) == 3
