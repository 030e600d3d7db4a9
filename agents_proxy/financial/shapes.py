"""The parts of the aggregator's answers that are read. It adds members at will, so unknown ones are passed over."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents_proxy.states import History

Token = Annotated[str, Field(min_length=1, max_length=4096, repr=False)]
Name = Annotated[str, Field(min_length=1, max_length=512)]


class Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class LinkToken(Shape):
    """`/link/token/create` with `hosted_link`."""

    link_token: Token
    hosted_link_url: Annotated[str, Field(max_length=2048)]


class ItemAdded(Shape):
    public_token: Token


class LinkResults(Shape):
    item_add_results: list[ItemAdded] = []


class LinkVisit(Shape):
    """One time that the page was open; `exit` is how it was left without having done what it is for."""

    finished_at: str | None = None
    exit: dict[str, Any] | None = None
    results: LinkResults | None = None


class LinkState(Shape):
    """`/link/token/get`"""

    link_sessions: list[LinkVisit] = []

    @property
    def public_token(self) -> str | None:
        """Of the first institution that was added; one visit links one."""
        added = [result for visit in self.link_sessions if visit.results for result in visit.results.item_add_results]
        return added[0].public_token if added else None

    @property
    def is_done(self) -> bool:
        """Whether one visit came to its end; that of an update hands over no token."""
        return any(visit.finished_at and visit.exit is None for visit in self.link_sessions)


class Exchanged(Shape):
    """`/item/public_token/exchange`"""

    access_token: Token
    item_id: Annotated[str, Field(min_length=1, max_length=128)]


class ItemAbout(Shape):
    institution_id: str | None = None
    institution_name: str | None = None


class Account(Shape):
    """Neither balance nor full number is ever read."""

    account_id: Name
    name: str = ""
    mask: str | None = None
    type: str = ""
    subtype: str | None = None


class Accounts(Shape):
    """`/accounts/get`"""

    accounts: list[Account]
    item: ItemAbout = ItemAbout()


class Category(Shape):
    primary: str
    detailed: str
    confidence_level: str | None = None


class Counterparty(Shape):
    name: str = ""
    type: str = ""


class Transaction(Shape):
    """Money out is positive. Neither the description nor the place of a purchase is read: they can name people."""

    transaction_id: Name
    amount: float
    date: date
    merchant_name: str | None = None
    counterparties: list[Counterparty] = []
    payment_channel: str = "other"
    pending: bool = False
    personal_finance_category: Category | None = None

    @property
    def merchant(self) -> str | None:
        """The shop itself rather than the market place that it sells on."""
        named = self.merchant_name or next((who.name for who in self.counterparties if who.type == "merchant"), "")
        return " ".join(named.split())[:120] or None


class Removed(Shape):
    transaction_id: Name


_FETCHED = {"NOT_READY": History.NOT_READY, "INITIAL_UPDATE_COMPLETE": History.INITIAL}


class Page(Shape):
    """`/transactions/sync`"""

    added: list[Transaction]
    modified: list[Transaction]
    removed: list[Removed]
    next_cursor: Annotated[str, Field(max_length=4096)]
    has_more: bool
    transactions_update_status: str = "HISTORICAL_UPDATE_COMPLETE"

    @property
    def history(self) -> History | None:
        """None where the aggregator itself does not know; an empty cursor is another word for nothing yet."""
        if not self.next_cursor:
            return History.NOT_READY
        status = self.transactions_update_status
        return None if status == "TRANSACTIONS_UPDATE_STATUS_UNKNOWN" else _FETCHED.get(status, History.COMPLETE)


class Address(Shape):
    data: dict[str, str | None] = {}
    primary: bool | None = None


class Contact(Shape):
    data: str
    primary: bool | None = None


class Owner(Shape):
    names: list[str] = []
    addresses: list[Address] = []
    emails: list[Contact] = []
    phone_numbers: list[Contact] = []


class Owned(Shape):
    owners: list[Owner] = []


class Identity(Shape):
    """`/identity/get`"""

    accounts: list[Owned]


class PublicKey(Shape):
    """A JWK; one that has expired signs nothing any more."""

    kty: Literal["EC"]
    crv: Literal["P-256"]
    x: Annotated[str, Field(max_length=64)]
    y: Annotated[str, Field(max_length=64)]
    expired_at: int | None = None


class VerificationKey(Shape):
    """`/webhook_verification_key/get`"""

    key: PublicKey


class WebhookError(Shape):
    error_type: str = ""
    error_code: str = ""


class Webhook(Shape):
    """What the aggregator tells by itself. The two times are those of a warning; its members differ by its code."""

    webhook_type: str
    webhook_code: str
    item_id: str = ""
    error: WebhookError | None = None
    consent_expiration_time: datetime | None = None
    disconnect_time: datetime | None = None


class Done(Shape):
    """`/item/remove`"""

    request_id: str = ""
