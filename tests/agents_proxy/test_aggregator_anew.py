"""Institutions that were linked anew: nothing is counted twice, and the older access ends."""

from datetime import timedelta

import pytest

from accounts.models import User
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.models import Item
from agents_proxy.financial.tasks import maintain_institutions
from common.clock import database_now
from tests.agents_proxy.institutions import agreed, coffees, linked, refreshed
from tests.factories import PersonFactory
from tests.fakes.aggregator import Aggregator

pytestmark = pytest.mark.django_db


@pytest.fixture
def anew(bank: Aggregator, person: User) -> tuple[Item, Item]:
    """The link that wants a sign-in, and the later one to the same accounts."""
    older = linked(person, bank, *coffees(6))
    refreshed(older)
    bank.fails["/transactions/sync"] = ["ITEM_LOGIN_REQUIRED"]
    refreshed(older)
    newer = linked(person, bank, *coffees(6))
    refreshed(newer)
    Item.objects.update(updated_at=database_now() - timedelta(minutes=2))
    return older, newer


def test_what_was_bought_counts_once(anew: tuple[Item, Item], bank: Aggregator, person: User) -> None:
    other = PersonFactory()
    refreshed(linked(other, bank, *coffees(6)))

    assert linked_items.financial_signals(person) == linked_items.financial_signals(other) != {}


def test_the_older_access_ends(anew: tuple[Item, Item], bank: Aggregator, person: User) -> None:
    maintain_institutions()

    older, newer = anew
    assert dict(Item.objects.values_list("pk", "status")) == {older.pk: "removed", newer.pk: "active"}
    assert bank.paths.count("/item/remove") == 1


def test_an_access_that_cannot_be_ended_now_is_ended_later(
    anew: tuple[Item, Item], bank: Aggregator, person: User
) -> None:
    bank.fails["/item/remove"] = ["INTERNAL_SERVER_ERROR"]
    maintain_institutions()
    maintain_institutions()
    assert Item.objects.get(pk=anew[0].pk).status == "login_required"
    assert bank.paths.count("/item/remove") == 1  # not at once

    Item.objects.update(updated_at=database_now() - timedelta(minutes=2))
    maintain_institutions()
    assert Item.objects.get(pk=anew[0].pk).status == "removed"


@pytest.mark.parametrize("differs", ["institution", "accounts", "person"])
def test_links_to_other_accounts_stay(anew: tuple[Item, Item], person: User, differs: str) -> None:
    older, newer = anew
    if differs == "institution":
        Item.objects.filter(pk=newer.pk).update(institution="Second Bank of Tests")
    elif differs == "person":
        Item.objects.filter(pk=newer.pk).update(user=linked_stranger(newer))
    else:
        known = linked_items.content_of(Item.objects.get(pk=newer.pk))
        others = [{**account, "mask": "9999"} for account in known.accounts]
        Item.objects.filter(pk=newer.pk).update(signals=linked_items.ItemContent(known.ledger, others).sealed())
    maintain_institutions()

    assert Item.objects.get(pk=older.pk).status == "login_required"


def linked_stranger(item: Item) -> User:
    """Somebody else with a consent of their own, to whom the item goes."""
    stranger: User = PersonFactory()
    agreed(stranger)
    return stranger
