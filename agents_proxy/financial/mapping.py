"""From purchases to the brand-affinity fields of the specification's 2.6, by the rules of docs/financial.md (pure)."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from agents_proxy.financial.categories import FOCUSES, LIKES, WINDOW
from agents_proxy.financial.transactions import Entry

LOYAL_DAYS = 3  # different days with purchases that make a brand one's own
LIKED_PURCHASES = 4
RETURNED_PURCHASES = 3  # from so many on, more than half of them returned is a dislike
FOCUS_SHARE = 0.10
STORE_PURCHASES = 10  # fewer say nothing of the price
CHANNEL_PURCHASES = 5
_MOST_BRANDS, _MOST_LIKES, _MOST_FOCUSES = 10, 8, 5

_THRIFTY = frozenset({"GENERAL_MERCHANDISE_DISCOUNT_STORES", "GENERAL_MERCHANDISE_SUPERSTORES"})


@dataclass(frozen=True)
class _Merchant:
    """One brand under the spelling that it has most often."""

    name: str
    bought: int
    days: int
    returned: int


def mapped(entries: Iterable[Entry], today: date) -> dict[str, Any]:
    """`likes`, `dislikes`, `brand_affinities`, `shopping_preferences`, `confidence`; empty where nothing counts.

    Counts purchases, never sums, so that a currency or a rent makes no difference.
    """
    counted = _counted(entries, today)
    bought = [entry for entry in counted if not entry.refund]
    if not bought:
        return {}
    merchants = _merchants(counted)
    returned = {merchant.name for merchant in merchants if _is_returned(merchant)}
    return {
        "likes": _likes(bought),
        "dislikes": sorted(returned)[:_MOST_BRANDS],
        "brand_affinities": _brands([merchant for merchant in merchants if merchant.name not in returned]),
        "shopping_preferences": _preferences(bought),
        "confidence": _confidence(bought),
    }


def purchases(entries: Iterable[Entry], today: date) -> int:
    """How many purchases count."""
    return sum(not entry.refund for entry in _counted(entries, today))


def by_category(entries: Iterable[Entry], today: date) -> list[tuple[str, int]]:
    """What was bought and how often, by the names of docs/financial.md, the most frequent first."""
    counts = Counter(LIKES[entry.category] for entry in _counted(entries, today) if not entry.refund)
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))


def _counted(entries: Iterable[Entry], today: date) -> list[Entry]:
    oldest = (today - timedelta(days=WINDOW)).isoformat()
    return [entry for entry in entries if not entry.pending and entry.day >= oldest and entry.category in LIKES]


def _merchants(counted: list[Entry]) -> list[_Merchant]:
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in counted:
        if entry.merchant:
            groups[entry.merchant.casefold()].append(entry)
    return [_merchant(group) for group in groups.values()]


def _merchant(group: list[Entry]) -> _Merchant:
    spellings = Counter(entry.merchant for entry in group)
    bought = [entry for entry in group if not entry.refund]
    name = min(spellings, key=lambda spelling: (-spellings[spelling], spelling))
    return _Merchant(name, len(bought), len({entry.day for entry in bought}), len(group) - len(bought))


def _is_returned(merchant: _Merchant) -> bool:
    return merchant.bought >= RETURNED_PURCHASES and merchant.returned * 2 > merchant.bought


def _brands(merchants: list[_Merchant]) -> list[str]:
    loyal = [merchant for merchant in merchants if merchant.days >= LOYAL_DAYS]
    ordered = sorted(loyal, key=lambda merchant: (-merchant.days, -merchant.bought, merchant.name))
    return [merchant.name for merchant in ordered[:_MOST_BRANDS]]


def _likes(bought: list[Entry]) -> list[str]:
    counts = Counter(entry.category for entry in bought)
    often = [category for category, count in counts.items() if count >= LIKED_PURCHASES]
    ordered = sorted(often, key=lambda category: (-counts[category], category))
    return [LIKES[category] for category in ordered[:_MOST_LIKES]]


def _preferences(bought: list[Entry]) -> dict[str, Any]:
    found: dict[str, Any] = {"category_focus": _focus(bought)}
    price, channel = _price_sensitivity(bought), _channel(bought)
    return found | ({"price_sensitivity": price} if price else {}) | ({"channel": channel} if channel else {})


def _focus(bought: list[Entry]) -> list[str]:
    counts = Counter(_primary(entry.category) for entry in bought)
    large = [primary for primary, count in counts.items() if count / len(bought) >= FOCUS_SHARE]
    ordered = sorted(large, key=lambda primary: (-counts[primary], primary))
    return [FOCUSES[primary] for primary in ordered[:_MOST_FOCUSES]]


def _primary(detailed: str) -> str:
    return next(primary for primary in FOCUSES if detailed.startswith(f"{primary}_"))


def _price_sensitivity(bought: list[Entry]) -> str | None:
    """How many of the purchases in stores were at those that live by low prices."""
    stores = [entry for entry in bought if entry.category.startswith("GENERAL_MERCHANDISE_")]
    stores += [entry for entry in bought if entry.category == "FOOD_AND_DRINK_GROCERIES"]
    if len(stores) < STORE_PURCHASES:
        return None
    share = sum(entry.category in _THRIFTY for entry in stores) / len(stores)
    return "high" if share >= 0.5 else "medium" if share >= 0.2 else "low"


def _channel(bought: list[Entry]) -> str | None:
    channels = [entry.channel for entry in bought if entry.channel in ("online", "in store")]
    if len(channels) < CHANNEL_PURCHASES:
        return None
    share = channels.count("online") / len(channels)
    return "online" if share >= 0.65 else "in store" if share <= 0.35 else "both"


def _confidence(bought: list[Entry]) -> float:
    """More purchases, and more of them with a known merchant, are surer; 0.9 at most, since money is not taste."""
    named = sum(bool(entry.merchant) for entry in bought) / len(bought)
    return round(0.9 * named * min(1.0, len(bought) / 60), 2)
