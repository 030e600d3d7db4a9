"""What the aggregator tells by itself: signed, fresh, once; and what it means for the item and its person."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import OperationalError

from accounts.models import User
from agents_proxy.financial import items as linked_items
from agents_proxy.financial import refreshes, webhooks
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.financial.tasks import maintain_institutions
from tests.agents_proxy.institutions import coffees, linked, refreshed, there
from tests.callers import JsonClient, signed_in
from tests.fakes.aggregator import Aggregator
from tests.outbox import send_mails

ADDRESS = "/api/a2a/financial/webhooks"
ENDS = "2026-12-04T10:00:00Z"


@pytest.fixture(autouse=True)
def _no_keys_yet() -> None:
    webhooks._keys.clear()


def webhook_body(item: Item, code: str, *, kind: str = "ITEM", **more: Any) -> bytes:
    members = {"webhook_type": kind, "webhook_code": code, "item_id": item.upstream_id, "environment": "sandbox"}
    return json.dumps({**members, **more}, indent=1).encode()


def send(client_json: JsonClient, body: bytes, signature: str) -> Any:
    headers = {webhooks.HEADER: signature} if signature else {}
    return client_json.client.post(ADDRESS, body, content_type="application/json", headers=headers)


def tell(client_json: JsonClient, bank: Aggregator, item: Item, code: str, **more: Any) -> Any:
    body = webhook_body(item, code, **more)
    return send(client_json, body, bank.signature(body))


def more(client_json: JsonClient, bank: Aggregator, item: Item) -> Any:
    return tell(client_json, bank, item, "SYNC_UPDATES_AVAILABLE", kind="TRANSACTIONS")


def test_news_are_read_at_once(
    bank: Aggregator, client_json: JsonClient, person: User, django_capture_on_commit_callbacks: Any
) -> None:
    item = linked(person, bank, *coffees(2))
    refreshed(item)
    there(bank, item).history += [("added", each) for each in coffees(3, merchant="Peet's")]

    with django_capture_on_commit_callbacks(execute=True):
        answer = more(client_json, bank, item)

    assert (answer.status_code, answer.json()) == (200, {})
    assert linked_items.item_of(person, item.item_id)["transactions"] == 5


def test_news_that_come_while_a_refresh_reads_are_read_after_it(
    bank: Aggregator, client_json: JsonClient, person: User
) -> None:
    item = linked(person, bank, *coffees(2))
    run = refreshes.start_refresh(item)
    claimed = refreshes._claim(run.pk)
    assert claimed is not None
    read = refreshes._pages(claimed)
    there(bank, item).history += [("added", each) for each in coffees(3, merchant="Peet's")]

    more(client_json, bank, item)
    refreshes._record(claimed, refreshes.client.accounts(claimed.token), read)
    assert refreshes.due_items() == [item]
    maintain_institutions()
    refreshes.run_refresh(RefreshRun.objects.latest("pk").pk)

    assert linked_items.item_of(person, item.item_id)["transactions"] == 5
    assert refreshes.due_items() == []


def test_a_message_counts_once_whatever_a_stranger_makes_of_its_signature(
    bank: Aggregator, client_json: JsonClient, person: User
) -> None:
    item = linked(person, bank, *coffees(2))
    body = webhook_body(item, "SYNC_UPDATES_AVAILABLE", kind="TRANSACTIONS")
    signature = bank.signature(body)

    answers = []
    for again in (signature, signature, second_signature(signature)):
        answers.append(send(client_json, body, again).status_code)
        RefreshRun.objects.filter(status="queued").update(status="completed", finished_at=datetime.now(UTC))

    assert (answers, RefreshRun.objects.count()) == ([200, 200, 200], 1)


@pytest.mark.django_db(transaction=True)
def test_a_message_that_could_not_be_taken_counts_when_it_comes_again(
    bank: Aggregator, client_json: JsonClient, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = linked(person, bank, *coffees(2))
    body = webhook_body(item, "USER_PERMISSION_REVOKED")
    signature = bank.signature(body)

    def away(*_given: Any) -> None:
        raise OperationalError("the database went away")

    with monkeypatch.context() as broken:
        broken.setattr(linked_items, "forget", away)
        first = send(client_json, body, signature)
    again = send(client_json, body, signature)

    assert (first.status_code, again.status_code, Item.objects.get().status) == (503, 200, "removed")


def second_signature(token: str) -> str:
    """ECDSA: with (r, s) fits (r, n - s) too."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    signed, _, signature = token.rpartition(".")
    octets = base64.urlsafe_b64decode(signature + "==")
    other = octets[:32] + (order - int.from_bytes(octets[32:])).to_bytes(32)
    return f"{signed}.{base64.urlsafe_b64encode(other).decode().rstrip('=')}"


@pytest.mark.parametrize("what", ["unsigned", "no token", "long", "another body", "old", "early", "no key", "expired",
                                  "another key", "HS256", "none", "no hash", "huge time"])  # fmt: skip
def test_strangers(bank: Aggregator, client_json: JsonClient, person: User, what: str) -> None:
    item = linked(person, bank)
    body = webhook_body(item, "USER_PERMISSION_REVOKED")
    signature = forged(bank, body, what)
    if what == "another body":
        body = body.replace(b"ITEM", b"item")

    answer = send(client_json, body, signature)

    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_signature")
    assert Item.objects.get().status == "active"


def forged(bank: Aggregator, body: bytes, what: str) -> str:
    good = bank.signature(body)
    _header, claims, signature = good.split(".")
    if what == "expired":
        bank.keys["key-1"] = bank.keys["key-1"][0], 1_700_000_000
    if what == "another key":
        bank.signature(b"", key_id="key-2")
        bank.keys["key-1"] = bank.keys["key-2"]
    if what == "no key":
        del bank.keys["key-1"]
    return {
        "unsigned": "", "no token": "a.b", "long": f"{good}{'a' * 5000}", "old": bank.signature(body, age=301),
        "early": bank.signature(body, age=-310), "no hash": bank.signature(body, request_body_sha256=None),
        "huge time": bank.signature(body, iat=10**300), "none": f"eyJhbGciOiJub25lIiwia2lkIjoia2V5LTEifQ.{claims}.",
        "HS256": f"eyJhbGciOiJIUzI1NiIsImtpZCI6ImtleS0xIn0.{claims}.{signature}",
    }.get(what, good)  # fmt: skip


def test_a_key_is_looked_up_once_and_unknown_ones_only_so_often(
    bank: Aggregator, client_json: JsonClient, person: User
) -> None:
    item = linked(person, bank, *coffees(2))
    for _ in range(3):
        more(client_json, bank, item)
    body = webhook_body(item, "LOGIN_REPAIRED")
    made_up = [bank.signature(body, key_id=f"key-{number}") for number in range(2, 12)]
    for number in range(2, 12):
        del bank.keys[f"key-{number}"]

    answers = [send(client_json, body, signature) for signature in made_up]

    codes = [answer.status_code for answer in answers]
    assert codes == [401] * 5 + [429] * 5
    assert bank.paths.count("/webhook_verification_key/get") == 6
    assert int(answers[-1]["Retry-After"]) > 0
    assert more(client_json, bank, item).status_code == 200


def test_a_key_that_cannot_be_looked_up_now_is_no_refusal_for_good(
    bank: Aggregator, client_json: JsonClient, person: User
) -> None:
    item = linked(person, bank)
    bank.fails["/webhook_verification_key/get"] = [500]

    assert more(client_json, bank, item).status_code == 502
    assert more(client_json, bank, item).status_code == 200


def test_a_body_that_is_too_large_is_not_read(bank: Aggregator, client_json: JsonClient, db: None) -> None:
    assert send(client_json, b" " * 70_000, "a.b.c").status_code == 413
    assert bank.calls == []


def test_without_an_aggregator_nothing_is_taken(client_json: JsonClient, db: None) -> None:
    assert send(client_json, b"{}", "a.b.c").json()["detail"] == "No reports are taken here."


@pytest.mark.parametrize(
    ("code", "more", "status", "subject"),
    [
        ("ERROR", {"error": {"error_type": "ITEM_ERROR", "error_code": "ITEM_LOGIN_REQUIRED"}}, "login_required",
         "First Bank of Tests wants you to sign in there again"),
        ("USER_PERMISSION_REVOKED", {"error": None}, "removed",
         "First Bank of Tests ended the access; what was read of your purchases is deleted"),
        ("PENDING_EXPIRATION", {"consent_expiration_time": ENDS}, "active",
         "First Bank of Tests ends the access on Dec. 4, 2026, unless you sign in there again"),
        ("PENDING_DISCONNECT", {"disconnect_time": ENDS, "reason": "INSTITUTION_MIGRATION"}, "active",
         "First Bank of Tests ends the access on Dec. 4, 2026, unless you sign in there again"),
    ],
)  # fmt: skip
def test_the_person_is_told_once(
    bank: Aggregator, client_json: JsonClient, person: User, code: str, more: Any, status: str, subject: str
) -> None:
    item = linked(person, bank, *coffees(3))
    refreshed(item)

    for number in range(2):
        assert tell(client_json, bank, item, code, **more, request_id=str(number)).status_code == 200
        send_mails()

    kept = Item.objects.get()
    assert (kept.status, kept.signals is None) == (status, status == "removed")
    assert [one.subject for one in mail.outbox] == [subject]


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("NEW_ACCOUNTS_AVAILABLE", {}),
        ("ERROR", {"error": {"error_type": "ITEM_ERROR", "error_code": "NO_ACCOUNTS"}}),
        ("ERROR", {"error": None}),
        ("WEBHOOK_UPDATE_ACKNOWLEDGED", {"new_webhook_url": "https://a.example"}),
        ("SOMETHING_NEW", {"with": [{"members": 1}]}),
        ("USER_PERMISSION_REVOKED", {"item_id": "item-of-nobody"}),
    ],
)
def test_what_is_of_no_use_here_is_taken_and_nothing(
    bank: Aggregator, client_json: JsonClient, person: User, code: str, more: Any
) -> None:
    item = linked(person, bank, *coffees(3))

    assert tell(client_json, bank, item, code, **more).status_code == 200
    assert (Item.objects.get().status, RefreshRun.objects.count(), send_mails()) == ("active", 0, 0)


def test_a_sign_in_elsewhere_repairs_it(bank: Aggregator, client_json: JsonClient, person: User) -> None:
    item = linked(person, bank, *coffees(3))
    Item.objects.update(status="login_required", ends_at=datetime.now(UTC) + timedelta(days=2))

    tell(client_json, bank, item, "LOGIN_REPAIRED")

    kept = Item.objects.get()
    assert (kept.status, kept.ends_at, RefreshRun.objects.count()) == ("active", None, 1)


def test_of_an_account_that_was_revoked_nothing_stays(bank: Aggregator, client_json: JsonClient, person: User) -> None:
    item = linked(person, bank, *coffees(3))
    refreshed(item)
    there(bank, item).history = [("added", each) for each in coffees(2, merchant="Peet's")]

    tell(client_json, bank, item, "USER_ACCOUNT_REVOKED", account_id="acc-1")
    assert linked_items.financial_signals(person) == {}
    refreshes.run_refresh(RefreshRun.objects.latest("pk").pk)

    assert sorted(linked_items.content_of(Item.objects.get()).ledger) == ["t-Peet's-1", "t-Peet's-2"]


def test_what_was_read_before_an_account_was_revoked_is_not_kept_after_it(
    bank: Aggregator, client_json: JsonClient, person: User
) -> None:
    item = linked(person, bank, *coffees(3))
    claimed = refreshes._claim(refreshes.start_refresh(item).pk)
    assert claimed is not None
    read = refreshes._pages(claimed)

    tell(client_json, bank, item, "USER_ACCOUNT_REVOKED", account_id="acc-1")
    refreshes._record(claimed, refreshes.client.accounts(claimed.token), read)

    kept = Item.objects.get()
    assert (kept.signals, kept.cursor) == (None, "")
    assert list(RefreshRun.objects.order_by("pk").values_list("status", flat=True)) == ["failed", "queued"]


def test_the_page_says_when_it_ends_and_leads_to_a_sign_in(
    bank: Aggregator, client_json: JsonClient, person: User
) -> None:
    item = linked(person, bank, *coffees(3))
    refreshed(item)
    tell(client_json, bank, item, "PENDING_EXPIRATION", consent_expiration_time=ENDS)

    shown = signed_in(person).client.get("/profile/financial/").content.decode()

    assert "The institution ends the access on Dec. 4, 2026, unless you sign in there again." in shown
    assert f"/profile/financial/{item.item_id}/link/" in shown
