"""The agents that there are, what each is for, and where this deployment reaches them."""

from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings

from agents_proxy.states import Purpose


class Protocol(StrEnum):
    """How an upstream wants to be spoken to: the specification's envelope, or A2A 0.3 or 1.0."""

    TASKS_SEND = "tasks/send"
    MESSAGE_SEND = "message/send"
    SEND_MESSAGE = "SendMessage"


@dataclass(frozen=True)
class Upstream:
    """Where an agent is. `timeout` is for its whole answer, in seconds. Nothing of this ever reaches a caller."""

    url: str
    token: str
    timeout: float
    protocol: Protocol


# contract 4.2: which consent a call to each agent needs
PURPOSES: dict[str, Purpose] = {
    "public": Purpose.ENRICHMENT,
    "second": Purpose.ENRICHMENT,
    "core-profile": Purpose.PROFILE,
    "core-profile-update": Purpose.PROFILE,
    "core": Purpose.PROFILE,
    "brand": Purpose.BRAND_AFFINITY,
    "messaging": Purpose.MESSAGING,
}


def upstream_of(agent: str) -> Upstream | None:
    """Where this deployment reaches `agent`; None where it does not."""
    given = settings.AGENTS[agent]
    if not given["url"]:
        return None
    return Upstream(given["url"], given["token"], given["timeout"], Protocol(given["protocol"]))
