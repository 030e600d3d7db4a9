"""Who gets something of a person: an agent where this deployment reaches it, or a destination of an app."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext

from agents_proxy.agents import AGENTS, Upstream, title_of, upstream_of
from agents_proxy.deletions.models import Deletion
from agents_proxy.destinations.models import Destination
from agents_proxy.signing import origin_of
from developers.apps.models import AppStatus

# receivers that are spoken to in a way of their own: the name that their rows have for an agent → what ends an access
# there, whose token it is given; it raises `common.problems.Problem`. Who is above this registers here
ENDS_ACCESS: dict[str, Callable[[str], None]] = {}
_LONGEST = timedelta(seconds=60)  # of a sending, and of a call to an agent that is not configured any more


@dataclass(frozen=True)
class Receiver:
    """`origin` is where it is: what an agent at another one got, this one did not."""

    origin: str
    agent: str = ""
    destination_pk: int | None = None

    @property
    def columns(self) -> dict[str, Any]:
        return {"origin": self.origin, "agent": self.agent, "destination_id": self.destination_pk}

    @property
    def condition(self) -> dict[str, Any]:
        """What finds its rows: a destination never moves."""
        if self.destination_pk is None:
            return {"agent": self.agent, "origin": self.origin, "destination": None}
        return {"destination": self.destination_pk}


def agent_at(agent: str, upstream: Upstream) -> Receiver:
    """The agent where it is configured to be now."""
    return Receiver(origin_of(upstream.url), agent=agent)


def receiver_of(destination: Destination) -> Receiver:
    return Receiver(origin_of(destination.url), destination_pk=destination.pk)


def address_of(row: Deletion) -> str:
    """Where requests to delete go; empty where there is no such address. `destination__app` must be loaded.

    A disabled destination and a suspended app still have what they got; one that is removed has no secret any more, and
    nobody knows whose a closed app's address is.
    """
    if row.agent in ENDS_ACCESS:
        return row.origin
    if row.destination is not None:
        gone = row.destination.removed_at is not None or row.destination.app.status == AppStatus.CLOSED
        return "" if gone else row.destination.url
    upstream = _same(row)
    return upstream.delete_url if upstream else ""


def token_headers_of(row: Deletion) -> dict[str, str]:
    """The token that the agent is called with, for its own origin alone; one had for credentials is not sent along."""
    upstream = _same(row)
    return upstream.token_headers if upstream and origin_of(upstream.delete_url) == row.origin else {}


def described(row: Deletion) -> str:
    """What people call it. `destination__app` must be loaded."""
    if row.agent in ENDS_ACCESS:
        return gettext("Access to a bank account")
    return row.destination.described if row.destination else title_of(row.agent)


def contact_of(row: Deletion) -> str:
    """Whom to ask by hand, as far as that is known. `destination__app__application` must be loaded."""
    if row.destination is not None:
        return row.destination.app.contact_email
    upstream = _configured(row)
    return upstream.contact if upstream else ""


def longest_call(row: Deletion) -> timedelta:
    """How long after its start a call or a sending may still arrive."""
    upstream = _configured(row)
    return timedelta(seconds=upstream.timeout) if upstream else _LONGEST


def _configured(row: Deletion) -> Upstream | None:
    return upstream_of(row.agent) if row.agent in AGENTS else None


def _same(row: Deletion) -> Upstream | None:
    """The agent's upstream, unless it is another one by now than that which got something."""
    upstream = _configured(row)
    return upstream if upstream and origin_of(upstream.url) == row.origin else None
