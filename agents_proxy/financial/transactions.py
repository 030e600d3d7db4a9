"""What is kept of transactions: of those that the mapping counts, as little as it needs (pure).

One entry per transaction: day, merchant, detailed category, channel, whether it was a purchase or a refund, and
whether it is still pending. No amount, description, place, account or person. Health, gambling, rent, income and
whatever else the mapping does not look at leave nothing here.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import date, timedelta
from typing import Any

from agents_proxy.financial.categories import LIKES, WINDOW
from agents_proxy.financial.shapes import Page, Transaction

_MOST = 5_000  # entries; the newest are kept
_SURE = frozenset({"VERY_HIGH", "HIGH", "MEDIUM"})


@dataclass(frozen=True)
class Entry:
    """One transaction. `category` is empty where the aggregator is not sure of it."""

    day: str
    merchant: str
    category: str
    channel: str
    refund: bool
    pending: bool


Ledger = dict[str, Entry]


def read(kept: dict[str, list[Any]]) -> Ledger:
    return {name: Entry(*columns) for name, columns in kept.items()}


def written(ledger: Ledger) -> dict[str, list[Any]]:
    return {name: list(astuple(entry)) for name, entry in ledger.items()}


def applied(ledger: Ledger, pages: Iterable[Page]) -> Ledger:
    """`ledger` after all pages, in their order; a removal of something that is not kept is nothing.

    A modified transaction comes as a whole, so it enters or leaves with the category that it has now.
    """
    after = dict(ledger)
    for page in pages:
        for transaction in (*page.added, *page.modified):
            entry = _entry(transaction)
            after.pop(transaction.transaction_id, None)
            if entry.category in LIKES:
                after[transaction.transaction_id] = entry
        for removed in page.removed:
            after.pop(removed.transaction_id, None)
    return after


def trimmed(ledger: Ledger, today: date) -> Ledger:
    """Without what does not count: too old for the mapping, or kept from before it was left out."""
    oldest = (today - timedelta(days=WINDOW)).isoformat()
    counting = ((name, entry) for name, entry in ledger.items() if entry.day >= oldest and entry.category in LIKES)
    return dict(sorted(counting, key=lambda pair: (pair[1].day, pair[0]))[-_MOST:])


def _entry(transaction: Transaction) -> Entry:
    category = transaction.personal_finance_category
    # unknown denies: a guessed category might hide one that is nobody's business
    sure = category is not None and (category.confidence_level or "HIGH") in _SURE
    return Entry(
        day=transaction.date.isoformat(),
        merchant=transaction.merchant or "",
        category=category.detailed if category and sure else "",
        channel=transaction.payment_channel,
        refund=transaction.amount < 0,
        pending=transaction.pending,
    )
