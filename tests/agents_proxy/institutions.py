"""Linked institutions as the tests make them."""

from datetime import date, timedelta
from typing import Any

from accounts.models import User
from agents_proxy.financial import refreshes
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.processing_consent import actions as consents
from agents_proxy.states import Purpose
from common import encryption
from tests.fakes.aggregator import Aggregator, transaction


def agreed(user: User, *purposes: Purpose) -> Any:
    return consents.give(by=user, purposes=purposes or (Purpose.FINANCIAL,))


def linked(user: User, bank: Aggregator, *transactions: dict[str, Any]) -> Item:
    """An item that `user` agreed to and linked, not refreshed yet."""
    token, there = bank.item(*transactions)
    return Item.objects.create(
        user=user, consent=agreed(user), upstream_id=there.item_id, access_token=encryption.sealed(token)
    )


def there(bank: Aggregator, item: Item) -> Any:
    """The aggregator's side of an item."""
    return next(other for other in bank.items.values() if other.item_id == item.upstream_id)


def refreshed(item: Item) -> RefreshRun:
    """A refresh that a worker did."""
    run = refreshes.start_refresh(item)
    refreshes.run_refresh(run.pk)
    return RefreshRun.objects.get(pk=run.pk)


def outcome(run: RefreshRun) -> tuple[str, str, int, int, int, int]:
    return run.status, run.error_code, run.pages, run.added, run.modified, run.removed


def ago(days: int) -> str:
    return (date.today() - timedelta(days=days)).isoformat()  # noqa: DTZ011  # the aggregator's days have no zone


def coffees(count: int, *, first: int = 1, merchant: str = "Blue Bottle") -> list[dict[str, Any]]:
    return [
        transaction(f"t-{merchant}-{day}", merchant, "FOOD_AND_DRINK_COFFEE", ago(day))
        for day in range(first, first + count)
    ]
