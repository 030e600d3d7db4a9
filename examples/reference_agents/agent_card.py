"""The A2A agent card of each reference agent: one document that clients of 0.3 and of 1.0 both read."""

from typing import Any

WELL_KNOWN = ".well-known/agent-card.json"
# whoever knows the server's address alone gets the agent that takes a description in plain words
DEFAULT_AGENT = "core-profile"

_DOES = {
    "public": "Looks up what is public about a person.",
    "second": "Looks again at what is public about a person, for what is still missing.",
    "core-profile": "Makes a profile of a description.",
    "core-profile-update": "Changes a profile as an instruction says.",
    "core": "Looks for the profile of a person.",
    "brand": "Finds what a person likes, dislikes and buys.",
}
_JSON_RPC = "JSONRPC"


def agent_of_card(path: str) -> str | None:
    """The agent whose card is at `path`; None where there is none."""
    agent, _, name = path.strip("/").rpartition(WELL_KNOWN)
    if name or not path.endswith("/" + WELL_KNOWN):
        return None
    agent = agent.strip("/") or DEFAULT_AGENT
    return agent if agent in _DOES else None


def agent_card(agent: str, base: str) -> dict[str, Any]:
    """The card of `agent`, called at `base`/`agent`. 1.0 reads `supportedInterfaces`, 0.3 the members after it."""
    address = f"{base}/{agent}"
    skill = {"id": agent, "name": agent, "description": _DOES[agent], "tags": ["profile"]}
    return {
        "name": f"Reference agent {agent}",
        "description": f"{_DOES[agent]} It answers with one JSON object as text.",
        "version": "1.0.0",
        "capabilities": {"streaming": False, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [skill],
        "supportedInterfaces": [
            {"url": address, "protocolBinding": _JSON_RPC, "protocolVersion": version} for version in ("1.0", "0.3")
        ],
        "url": address,
        "preferredTransport": _JSON_RPC,
        "protocolVersion": "0.3.0",
    }
