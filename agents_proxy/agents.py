"""The agents that there are, and where this deployment reaches them.

`AGENTS` is the one place that lists them. An entry is all that the server needs for another agent: its address, the
variables that config/settings.py reads, its place in an analysis and its name on pages follow from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents_proxy.statements import TITLES
from agents_proxy.states import Purpose


class Protocol(StrEnum):
    """How an upstream wants to be spoken to: the specification's envelope, or A2A 0.3 or 1.0."""

    TASKS_SEND = "tasks-send"
    A2A_0_3 = "a2a-0.3"
    A2A_1_0 = "a2a-1.0"

    @property
    def method(self) -> str:
        """The JSON-RPC method that puts a prompt."""
        return _METHODS[self]


_METHODS = {
    Protocol.TASKS_SEND: "tasks/send",
    Protocol.A2A_0_3: "message/send",
    Protocol.A2A_1_0: "SendMessage",
}


@dataclass(frozen=True, kw_only=True)
class Agent:
    """One agent, called at `/api/a2a/<name>` with a consent to `purpose` (contract 4.2).

    `protocol` is what it speaks unless the environment says otherwise. `in_analysis`: an analysis of the profile asks
    it. `reads_purchases`: an analysis hands it what the person's purchases say, where they agreed to that.
    `label` and `description` are its own words on the pages of an analysis; without them `title` and `summary` are
    made out of its name and its purpose.
    """

    name: str  # lower case and dashes, at most 32 characters
    purpose: Purpose
    protocol: Protocol = Protocol.TASKS_SEND
    in_analysis: bool = False
    reads_purchases: bool = False
    label: Promise | None = None
    description: Promise | None = None

    @property
    def variable_prefix(self) -> str:
        """What its environment variables begin with."""
        return f"AGENT_{self.name.upper().replace('-', '_')}"

    @property
    def title(self) -> str:
        """What pages call it."""
        return str(self.label or gettext("%(name)s agent") % {"name": self.name.replace("-", " ").capitalize()})

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
        Agent(name="core-profile", purpose=Purpose.PROFILE),
        Agent(name="core-profile-update", purpose=Purpose.PROFILE),
        Agent(name="messaging", purpose=Purpose.MESSAGING),
    )
}
ANALYSIS_AGENTS = tuple(name for name, agent in AGENTS.items() if agent.in_analysis)
# what an analysis needs consent to
ANALYSIS_PURPOSES = tuple(
    purpose for purpose in Purpose if any(AGENTS[name].purpose is purpose for name in ANALYSIS_AGENTS)
)


@dataclass(frozen=True)
class Upstream:
    """Where an agent is. `timeout` is for its whole answer, in seconds. Nothing of this ever reaches a caller."""

    url: str
    token: str
    timeout: float
    protocol: Protocol
    delete_url: str = ""  # where it takes signed requests to delete; empty: nowhere
    contact: str = ""  # of whoever runs it, for people


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
    )


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
