"""What the addresses of linked institutions answer."""

from typing import Annotated, Any

from pydantic import Field

from agents_proxy.states import History
from common.shapes import Shape, Time, literal_of


class FinancialLink(Shape):
    """A visit to the aggregator's own page."""

    linkId: Annotated[str, Field(examples=["fln_5z3q7k2m4x"])]
    url: Annotated[str, Field(examples=["https://link.aggregator.example/5z3q7k2m4x"])]
    expiresAt: Time


class FinancialRefresh(Shape):
    """How a refresh stands."""

    status: Annotated[str, Field(examples=["completed"])]
    pages: int
    added: Annotated[int, Field(examples=[40])]
    modified: Annotated[int, Field(examples=[0])]
    removed: Annotated[int, Field(examples=[0])]
    errorCode: str | None
    startedAt: Time | None
    finishedAt: Time | None


class FinancialItem(Shape):
    """A linked institution."""

    itemId: Annotated[str, Field(examples=["fit_7x3k5m2q4z"])]
    institution: Annotated[str | None, Field(examples=["First Bank"])]
    status: Annotated[str, Field(examples=["active"])]
    history: Annotated[
        literal_of(History),  # type: ignore[valid-type]  # made of the states
        Field(description="Whether all of its purchases are here: older ones come later.", examples=["complete"]),
    ]
    endsAt: Annotated[Time | None, Field(description="When the institution ends the access.")]
    linkedAt: Time
    accounts: Annotated[list[dict[str, Any]], Field(examples=[[]])]
    transactions: Annotated[int, Field(examples=[40])]
    refresh: FinancialRefresh | None


class FinancialItems(Shape):
    items: list[FinancialItem]


class FinancialIdentity(Shape):
    """Who the institution says this person is; kept nowhere."""

    names: Annotated[list[str], Field(examples=[["Ada Example"]])]
    emails: Annotated[list[str], Field(examples=[["ada@example.org"]])]
    phoneNumbers: Annotated[list[str], Field(examples=[["+4915123456789"]])]
    addresses: list[Any]


class FinancialSignals(Shape):
    """What purchases say, in the brand-affinity fields."""

    signals: Annotated[dict[str, Any], Field(examples=[{"shopping.merchants": ["First Shop"]}])]
