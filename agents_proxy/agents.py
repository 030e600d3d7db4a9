"""The agents that there are, and where this deployment reaches them.

`AGENTS` is the one place that lists them. An entry is all that the server needs for another agent: its address, the
variables that config/settings.py reads, its place in an analysis and its name on pages follow from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import Purpose

TITLES: dict[Purpose, Promise] = {
    Purpose.PROFILE: _("Your profile"),
    Purpose.ENRICHMENT: _("Public information"),
    Purpose.BRAND_AFFINITY: _("Likes and brands"),
    Purpose.MESSAGING: _("Messages"),
    Purpose.FINANCIAL: _("Purchases"),
    Purpose.IDENTITY: _("Identity at your bank"),
    Purpose.ACTIVATION: _("Sending it on"),
}


class Protocol(StrEnum):
    """How an upstream wants to be spoken to: the specification's envelope, A2A as its card says, chat completions."""

    TASKS_SEND = "tasks-send"
    A2A = "a2a"
    OPENAI = "openai"


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One agent, called at `/api/a2a/<name>` with a consent to `purpose` (contract 4.2).

    `protocol` is what it speaks unless the environment says otherwise. `by_model`: a model can stand in for it, as the
    server has a template for what it does. `in_analysis`: an analysis of the profile asks it. `reads_purchases`: an
    analysis hands it what the person's purchases say, where they agreed to that.
    `label` and `description` are its own words on the pages of an analysis; without them `title` and `summary` are
    made out of its name and its purpose.
    """

    name: str  # lower case and dashes, at most 32 characters
    purpose: Purpose
    protocol: Protocol = Protocol.TASKS_SEND
    by_model: bool = False
    in_analysis: bool = False
    reads_purchases: bool = False
    label: Promise | None = None
    description: Promise | None = None

    @property
    def variable_prefix(self) -> str:
        """What its environment variables begin with."""
        return f"AGENT_{self.name.upper().replace('-', '_')}"

    @property
    def protocols(self) -> list[Protocol]:
        """What an upstream of it may speak."""
        return [protocol for protocol in Protocol if protocol is not Protocol.OPENAI or self.by_model]

    @property
    def title(self) -> str:
        named = settings.AGENTS[self.name].get("name") if self.name in settings.AGENTS else ""
        return str(
            named or self.label or gettext("%(name)s agent") % {"name": self.name.replace("-", " ").capitalize()}
        )

    @property
    def summary(self) -> str:
        """What pages say that it does."""
        return str(self.description or TITLES[self.purpose])


# an analysis asks its agents in this order, and the values of the later one win
AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent(
            name="brand",
            purpose=Purpose.BRAND_AFFINITY,
            by_model=True,
            in_analysis=True,
            reads_purchases=True,
            label=_("Brand agent"),
            description=_("Finds what you like, dislike and buy."),
        ),
        Agent(
            name="core",
            purpose=Purpose.PROFILE,
            in_analysis=True,
            label=_("Profile agent"),
            description=_("Looks for a profile that exists already."),
        ),
        Agent(
            name="public",
            purpose=Purpose.ENRICHMENT,
            in_analysis=True,
            label=_("Public-data agent"),
            description=_("Looks at what is public about you."),
        ),
        Agent(
            name="second",
            purpose=Purpose.ENRICHMENT,
            in_analysis=True,
            label=_("Second public-data agent"),
            description=_("Looks again, for what is still missing."),
        ),
        Agent(name="core-profile", purpose=Purpose.PROFILE, by_model=True, label=_("Core profile agent")),
        Agent(name="core-profile-update", purpose=Purpose.PROFILE, label=_("Core profile update agent")),
        Agent(name="messaging", purpose=Purpose.MESSAGING, label=_("Messaging agent")),
    )
}
ANALYSIS_AGENTS = tuple(name for name, agent in AGENTS.items() if agent.in_analysis)
# what an analysis needs consent to
ANALYSIS_PURPOSES = tuple(
    purpose for purpose in Purpose if any(AGENTS[name].purpose is purpose for name in ANALYSIS_AGENTS)
)


@dataclass(frozen=True)
class ClientCredentials:
    """What a token is had for (RFC 6749, 4.4)."""

    url: str
    client_id: str
    secret: str
    scope: str = ""


@dataclass(frozen=True)
class Upstream:
    """Where an agent is. `timeout` is for its whole answer, in seconds. Nothing of this ever reaches a caller."""

    url: str
    token: str
    timeout: float
    protocol: Protocol
    delete_url: str = ""  # where it takes signed requests to delete; empty: nowhere
    contact: str = ""  # of whoever runs it, for people
    token_header: str = ""  # that has the token by itself; empty: Authorization, with Bearer before it
    credentials: ClientCredentials | None = None  # for a token, in place of one
    model: str = ""  # of a chat completions endpoint
    agent: str = ""  # its name, by which a template is found

    @property
    def token_headers(self) -> dict[str, str]:
        """What lets a request in by the configured token."""
        if not self.token:
            return {}
        return {self.token_header: self.token} if self.token_header else {"Authorization": f"Bearer {self.token}"}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no log may hold."""
        secrets = (self.token, self.credentials.secret if self.credentials else "")
        return tuple(secret for secret in secrets if secret)


def upstream_of(agent: str) -> Upstream | None:
    """Where this deployment reaches `agent`; None where it does not."""
    configured = settings.AGENTS[agent]
    if not configured["url"]:
        return None
    return Upstream(
        configured["url"],
        configured["token"],
        configured["timeout"],
        Protocol(configured["protocol"]),
        configured.get("delete_url", ""),
        configured.get("contact", ""),
        configured.get("token_header", ""),
        _credentials(configured),
        configured.get("model", ""),
        agent,
    )


def _credentials(configured: dict[str, Any]) -> ClientCredentials | None:
    if not configured.get("token_url"):
        return None
    values = (configured[name] for name in ("token_url", "client_id", "client_secret", "scope"))
    return ClientCredentials(*values)


@dataclass(frozen=True)
class Receiver:
    """An agent as people are told of it before they agree; empty is what this deployment does not say."""

    name: str
    operator: str
    country: str
    privacy_notice: str  # an address

    def __str__(self) -> str:
        """`name (operator, country)`"""
        who = ", ".join(filter(None, (self.operator, self.country)))
        return f"{self.name} ({who})" if who else self.name


def receivers_for(purpose: Purpose) -> list[Receiver]:
    """The agents that get something of a person for this purpose here."""
    found = []
    for agent in AGENTS.values():
        configured = settings.AGENTS[agent.name]
        reads = agent.purpose is purpose or (agent.reads_purchases and purpose is Purpose.FINANCIAL)
        if reads and configured["url"]:
            details = (configured.get(name, "") for name in ("operator", "country", "privacy_notice"))
            found.append(Receiver(agent.title, *details))
    return found


def unchecked(purposes: Iterable[Purpose] = Purpose) -> list[str]:
    """The titles of the agents for these purposes that are there and check no assertion of consent."""
    wanted = set(purposes)
    return [
        agent.title
        for agent in AGENTS.values()
        if agent.purpose in wanted
        and settings.AGENTS[agent.name]["url"]
        and not settings.AGENTS[agent.name].get("checks_consent")
    ]


def title_of(agent: str) -> str:
    """What pages call `agent`; its bare name where it is none of ours any more."""
    return AGENTS[agent].title if agent in AGENTS else agent
