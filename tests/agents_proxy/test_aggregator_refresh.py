"""Refreshes against a stand-in over HTTP: pages, cursors, errors, changes meanwhile, workers that die."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.financial import items as linked_items
from agents_proxy.financial import refreshes
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.financial.tasks import maintain_institutions
from agents_proxy.processing_consent import actions as consents
from common import encryption
from common.clock import database_now
from tests.agents_proxy.institutions import ago, coffees, linked, outcome, refreshed, there
from tests.callers import signed_in
from tests.fakes.aggregator import Aggregator, transaction

ROUND_FOR_EVER = b'{"added":[],"modified":[],"removed":[],"next_cursor":"","has_more":true}'


def ledger(item: Item) -> list[str]:
    return sorted(linked_items.content_of(Item.objects.get(pk=item.pk)).ledger)


def test_all_pages_then_only_what_changed(bank: Aggregator, person: User) -> None:
    bank.page_size = 4
    item = linked(person, bank, *coffees(10))

    first = refreshed(item)
    cursors = [body.get("cursor") for path, body in bank.calls if path == "/transactions/sync"]
    there(bank, item).history += [
        ("modified", transaction("t-Blue Bottle-1", "Peet's", "FOOD_AND_DRINK_COFFEE", ago(1))),
        ("removed", "t-Blue Bottle-2"),
        ("removed", "never-known"),
        ("added", transaction("t-new", "Uber", "TRANSPORTATION_TAXIS_AND_RIDE_SHARES", ago(0))),
    ]
    second = refreshed(item)

    assert outcome(first) == ("completed", "", 3, 10, 0, 0)
    assert cursors == [None, "at-4", "at-8"]
    assert outcome(second) == ("completed", "", 1, 1, 1, 2)
    kept = Item.objects.get(pk=item.pk)
    assert (kept.cursor, kept.status, kept.institution) == ("at-14", "active", "First Bank of Tests")
    assert ledger(item) == sorted(["t-new", "t-Blue Bottle-1", *(f"t-Blue Bottle-{day}" for day in range(3, 11))])
    assert linked_items.content_of(kept).ledger["t-Blue Bottle-1"].merchant == "Peet's"


def test_a_change_between_pages_starts_again_where_the_refresh_began(bank: Aggregator, person: User) -> None:
    bank.page_size = 4
    item = linked(person, bank, *coffees(6))
    bank.fails["/transactions/sync"] = [None, "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"]

    run = refreshed(item)

    cursors = [body.get("cursor") for path, body in bank.calls if path == "/transactions/sync"]
    assert cursors == [None, "at-4", None, "at-4"]
    assert outcome(run) == ("completed", "", 2, 6, 0, 0)


def test_changes_without_end_leave_everything_as_it_was(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(2))
    bank.fails["/transactions/sync"] = ["TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"] * 9

    run = refreshed(item)

    assert outcome(run) == ("failed", "changed_meanwhile", 0, 0, 0, 0)
    assert (Item.objects.get(pk=item.pk).cursor, ledger(item)) == ("", [])


@pytest.mark.parametrize(
    ("faults", "ends"),
    [
        (["INTERNAL_SERVER_ERROR", 503], ("completed", "")),
        (["RATE_LIMIT_EXCEEDED"], ("completed", "")),
        (["INSTITUTION_DOWN"] * 3, ("failed", "aggregator_unavailable")),
        ([500] * 3, ("failed", "aggregator_unavailable")),
        (["RATE_LIMIT_EXCEEDED"] * 3, ("failed", "aggregator_busy")),
        (["INVALID_API_KEYS"], ("failed", "aggregator_refused")),
        ([b"<html>"], ("failed", "aggregator_refused")),
        ([b'{"added": 1}'], ("failed", "aggregator_refused")),
        ([ROUND_FOR_EVER], ("failed", "aggregator_refused")),
        ([b" " * (5 * 1024 * 1024)], ("failed", "aggregator_refused")),
        ([307], ("failed", "aggregator_refused")),
        (["PRODUCT_NOT_READY"], ("failed", "not_ready")),
    ],
)  # fmt: skip
def test_errors(bank: Aggregator, person: User, faults: list[Any], ends: tuple[str, str]) -> None:
    item = linked(person, bank, *coffees(2))
    bank.fails["/transactions/sync"] = faults

    run = refreshed(item)

    assert (run.status, run.error_code) == ends
    assert run.lease_until is None


def test_an_aggregator_that_hangs(bank: Aggregator, person: User, settings: Any) -> None:
    settings.AGGREGATOR = bank.settings(timeout=0.2)
    item = linked(person, bank)
    bank.fails["/accounts/get"] = [5.0, 5.0, 5.0]

    assert outcome(refreshed(item))[:2] == ("failed", "aggregator_timeout")


def test_nobody_there(bank: Aggregator, person: User, settings: Any) -> None:
    settings.AGGREGATOR = bank.settings(url="http://127.0.0.1:9")
    item = linked(person, bank)

    assert outcome(refreshed(item))[:2] == ("failed", "aggregator_unavailable")


def test_an_institution_that_wants_a_sign_in_keeps_what_is_known(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(3))
    refreshed(item)
    bank.fails["/transactions/sync"] = ["ITEM_LOGIN_REQUIRED"]

    run = refreshed(item)

    assert outcome(run)[:2] == ("failed", "item_login_required")
    assert (Item.objects.get(pk=item.pk).status, len(ledger(item))) == ("login_required", 3)
    shown = signed_in(person).client.get("/profile/financial/").content.decode()
    assert ("wants you to sign in there again" in shown, "item_login_required" in shown) == (True, False)


@pytest.mark.parametrize("code", ["USER_PERMISSION_REVOKED", "ITEM_NOT_FOUND"])
def test_a_revoked_item_is_forgotten(bank: Aggregator, person: User, code: str) -> None:
    item = linked(person, bank, *coffees(3))
    refreshed(item)
    bank.fails["/transactions/sync"] = [code]

    run = refreshed(item)

    kept = Item.objects.get(pk=item.pk)
    assert outcome(run)[:2] == ("failed", "item_revoked")
    assert (kept.status, kept.access_token, kept.signals, kept.cursor) == ("removed", None, None, "")
    assert linked_items.financial_signals(person) == {}


def test_transactions_that_are_not_there_yet_are_asked_for_again(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(3))
    there(bank, item).ready = False

    assert outcome(refreshed(item))[:2] == ("failed", "not_ready")
    assert refreshes.due_items() == []
    RefreshRun.objects.update(finished_at=database_now() - timedelta(minutes=2))
    there(bank, item).ready = True
    assert refreshes.due_items() == [item]
    assert outcome(refreshed(item)) == ("completed", "", 1, 3, 0, 0)


def test_without_consent_nothing_is_asked_and_the_access_ends(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(5))
    refreshed(item)
    consents.withdraw(consent_id=item.consent.consent_id, by=person)
    bank.calls.clear()

    assert outcome(refreshed(item))[:2] == ("failed", "consent_withdrawn")
    assert (bank.calls, linked_items.financial_signals(person)) == ([], {})
    maintain_institutions()
    kept = Item.objects.get(pk=item.pk)
    assert (bank.paths, there(bank, item).removed) == (["/item/remove"], True)
    assert (kept.status, kept.access_token, kept.signals) == ("removed", None, None)


def test_a_withdrawal_while_pages_are_read_is_the_last_word(
    bank: Aggregator, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.page_size = 3
    item = linked(person, bank, *coffees(5))

    def withdraw(_claimed: Any) -> None:
        consents.withdraw(consent_id=item.consent.consent_id, by=person)

    monkeypatch.setattr(refreshes, "_keep_lease", withdraw)  # called before each page
    run = refreshed(item)

    assert outcome(run)[:2] == ("failed", "consent_withdrawn")
    assert ledger(item) == []


def test_a_withdrawal_counts_on_the_last_attempt_too(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(2))
    run = refreshes.start_refresh(item)
    for _ in range(refreshes.MAX_ATTEMPTS):
        claimed = refreshes._claim(run.pk)
        RefreshRun.objects.update(lease_until=database_now() - timedelta(seconds=1))
    assert claimed is not None
    about, taken = refreshes.client.accounts(claimed.token), refreshes._pages(claimed)
    consents.withdraw(consent_id=item.consent.consent_id, by=person)

    refreshes._record(claimed, about, taken)

    assert outcome(RefreshRun.objects.get(pk=run.pk))[:2] == ("failed", "consent_withdrawn")
    assert ledger(item) == []


def test_the_last_attempt_that_succeeds_counts(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(2))
    RefreshRun.objects.filter(pk=refreshes.start_refresh(item).pk).update(attempt=refreshes.MAX_ATTEMPTS - 1)

    assert outcome(refreshed(item))[:2] == ("completed", "")


def test_the_lease_is_new_before_every_read_of_pages(
    bank: Aggregator, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank.page_size = 2
    item = linked(person, bank, *coffees(3))
    bank.fails["/transactions/sync"] = [None, "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"]
    left, read = [], refreshes.client.transactions_page

    def slow(*given: Any) -> Any:
        lease = RefreshRun.objects.get().lease_until
        assert lease is not None
        left.append(lease - database_now())
        # as if this read had taken as long as it may
        RefreshRun.objects.update(lease_until=database_now() + timedelta(seconds=1))
        return read(*given)

    monkeypatch.setattr(refreshes.client, "transactions_page", slow)
    monkeypatch.setattr(refreshes.client, "accounts", _slow_accounts(refreshes.client.accounts))

    assert outcome(refreshed(item))[:2] == ("completed", "")
    assert len(left) == 4
    assert min(left) > refreshes.LEASE - timedelta(seconds=5)


def _slow_accounts(read: Any) -> Any:
    def slow(token: str) -> Any:
        RefreshRun.objects.update(lease_until=database_now() + timedelta(seconds=1))
        return read(token)

    return slow


def test_what_does_not_count_is_not_kept(bank: Aggregator, person: User) -> None:
    item = linked(
        person, bank, *coffees(2),
        transaction("t-clinic", "City Clinic", "MEDICAL_PRIMARY_CARE", ago(1)),
        transaction("t-casino", "Lucky", "ENTERTAINMENT_CASINOS_AND_GAMBLING", ago(2)),
        transaction("t-rent", "Landlord", "RENT_AND_UTILITIES_RENT", ago(3)),
        transaction("t-old", "Old Shop", "FOOD_AND_DRINK_COFFEE", ago(181)),
        transaction("t-pending", "Blue Bottle", "FOOD_AND_DRINK_COFFEE", ago(0), pending=True),
    )  # fmt: skip

    run = refreshed(item)

    assert outcome(run) == ("completed", "", 1, 7, 0, 0)
    assert ledger(item) == ["t-Blue Bottle-1", "t-Blue Bottle-2", "t-pending"]
    assert linked_items.item_of(item.user, item.item_id)["transactions"] == 2


def test_a_refresh_that_is_told_as_completed_has_its_purchases_there(
    bank: Aggregator, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = linked(person, bank, *coffees(3))
    read = linked_items.own_item

    def completed_right_after(user: User, item_id: str) -> Item:
        found = read(user, item_id)
        refreshed(found)
        return found

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(linked_items, "own_item", completed_right_after)
        shown = linked_items.item_of(person, item.item_id)

    assert (shown["refresh"], shown["institution"], shown["transactions"]) == (None, None, 0)
    shown = linked_items.item_of(person, item.item_id)
    assert (shown["refresh"]["status"], shown["institution"], shown["transactions"]) == (
        "completed",
        "First Bank of Tests",
        3,
    )


def test_an_access_that_cannot_be_ended_is_tried_again(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(5))
    refreshed(item)
    consents.withdraw(consent_id=item.consent.consent_id, by=person)
    bank.fails["/item/remove"] = [500]

    maintain_institutions()
    kept = Item.objects.get(pk=item.pk)
    assert (kept.status, kept.signals, kept.access_token is not None) == ("active", None, True)
    maintain_institutions()
    assert bank.paths.count("/item/remove") == 1  # not at once
    Item.objects.update(updated_at=database_now() - timedelta(minutes=2))
    maintain_institutions()
    assert Item.objects.get(pk=item.pk).status == "removed"


def test_a_run_of_a_worker_that_died_is_done_by_another_once(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(2))
    run = refreshes.start_refresh(item)
    lost = refreshes._claim(run.pk)
    assert lost is not None

    assert refreshes._claim(run.pk) is None  # it is held
    RefreshRun.objects.update(lease_until=database_now() - timedelta(seconds=1))
    assert refreshes.abandoned_runs() == [run.pk]
    maintain_institutions()

    assert outcome(RefreshRun.objects.get(pk=run.pk)) == ("completed", "", 1, 2, 0, 0)
    with pytest.raises(refreshes.LeaseLost):
        refreshes._keep_lease(lost)


def test_a_run_that_ends_every_worker_is_given_up(bank: Aggregator, person: User) -> None:
    item = linked(person, bank)
    run = refreshes.start_refresh(item)
    for _ in range(refreshes.MAX_ATTEMPTS):
        assert refreshes._claim(run.pk) is not None
        RefreshRun.objects.update(lease_until=database_now() - timedelta(seconds=1))

    assert refreshes._claim(run.pk) is None
    assert outcome(RefreshRun.objects.get(pk=run.pk))[:2] == ("failed", "worker_lost")


def test_one_refresh_at_a_time_and_one_a_day(bank: Aggregator, person: User) -> None:
    item = linked(person, bank, *coffees(1))
    first = refreshes.start_refresh(item)

    assert refreshes.start_refresh(item) == first
    refreshes.run_refresh(first.pk)
    assert refreshes.due_items() == []
    RefreshRun.objects.update(finished_at=database_now() - timedelta(hours=25))
    assert refreshes.due_items() == [item]


def test_tokens_reach_neither_columns_nor_logs(bank: Aggregator, person: User, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    item = linked(person, bank, *coffees(2))
    bank.fails["/transactions/sync"] = ["INVALID_ACCESS_TOKEN", b'{"added": "access-sandbox-leak"}']

    refreshed(item)
    refreshed(item)
    refreshed(item)

    kept = Item.objects.get(pk=item.pk)
    assert kept.access_token is not None
    token = encryption.opened(kept.access_token)
    assert "access-sandbox" not in caplog.text
    assert "access-sandbox" not in "".join(str(value) for value in vars(kept).values())
    assert token not in repr(refreshes._claim(refreshes.start_refresh(item).pk))
    assert "Blue Bottle" not in str(kept.signals)
