"""Invented banks, their invented customers, and what each of these likes to buy. None of them exists."""

import hashlib
from dataclasses import dataclass

INSTITUTIONS = {
    "ins_lindenau": "Lindenau Savings Bank (invented)",
    "ins_harbour": "Harbour Mutual (invented)",
    "ins_slow": "Slow and Steady Bank (invented)",
    "ins_northway": "Northway Online Bank (invented)",
}


SLOW = "ins_slow"  # whose customers get the newest month first, and the rest a little later


@dataclass(frozen=True)
class Account:
    """One account: its end names it, as everywhere."""

    key: str
    name: str
    kind: str
    subtype: str
    mask: str

    @property
    def shown(self) -> dict[str, object]:
        """In the shape of `/accounts/get`, whose `account_id` the item adds."""
        return {
            "name": self.name, "official_name": self.name, "mask": self.mask, "type": self.kind,
            "subtype": self.subtype, "balances": {"available": None, "current": None, "iso_currency_code": "EUR"},
        }  # fmt: skip


@dataclass(frozen=True)
class Customer:
    """Who a bank says somebody is, and `tastes`: how often (a week) they buy of which kind of shop."""

    name: str
    email: str
    phone: str
    street: str
    city: str
    tastes: dict[str, float]


ACCOUNTS = (
    Account("everyday", "Everyday account", "depository", "checking", "4021"),
    Account("card", "Credit card", "credit", "credit card", "7710"),
)
CUSTOMERS = {
    "mara": Customer(
        "Mara Lindholm", "mara.lindholm@example.org", "+4917604069042", "Kastanienhof 4", "Leipzig",
        {"tea": 1.2, "groceries": 2.2, "outdoor": 0.5, "bicycle": 0.5, "books": 0.5, "trains": 0.9, "concerts": 0.3,
         "fast_fashion": 0.14},
    ),
    "jonas": Customer(
        "Jonas Aaltonen", "jonas.aaltonen@example.net", "+4917604069051", "Mole 12", "Kiel",
        {"coffee": 2.5, "restaurants": 1.4, "electronics": 0.4, "games": 0.6, "groceries": 1.5, "rides": 0.7},
    ),
    "selin": Customer(
        "Selin Aydemir", "selin.aydemir@example.net", "+4917604069063", "Am Anger 30", "Erfurt",
        {"discount": 2.4, "groceries": 1.4, "pets": 0.5, "toys": 0.4, "gym": 0.3, "fast_fashion": 0.3},
    ),
    "pavel": Customer(
        "Pavel Okonjo", "pavel.okonjo@example.net", "+4917604069074", "Weinbergweg 7", "Dresden",
        {"flights": 0.2, "hotels": 0.4, "restaurants": 2.0, "coffee": 1.5, "groceries": 1.0, "books": 0.3},
    ),
}  # fmt: skip


def customer_of(name: str) -> str:
    """The key of the customer that signs in under this name; one of them, always the same, for any other name."""
    wanted = name.strip().casefold()
    if wanted in CUSTOMERS:
        return wanted
    return sorted(CUSTOMERS)[hashlib.sha256(wanted.encode()).digest()[0] % len(CUSTOMERS)]
