"""The reference agents beside the server: for every profile agent that the environment gives no address."""

import os
import socket

from deploy.local.place import PYTHON, VAR
from examples.reference_agents import NAMES


def addresses() -> dict[str, str]:
    """The variables that lead the server to the reference agents; empty where none of them is wanted."""
    if (os.environ.get("REFERENCE_AGENTS") or "true").strip().lower() in ("false", "0", "no", "off"):
        return {}
    names = {agent: f"AGENT_{agent.upper().replace('-', '_')}_URL" for agent in NAMES}
    missing = {agent: name for agent, name in names.items() if not os.environ.get(name)}
    if not missing:
        return {}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {name: f"http://127.0.0.1:{port}/{agent}" for agent, name in missing.items()}


def command(found: dict[str, str]) -> list[str]:
    """How to start the program that serves these addresses."""
    port = next(iter(found.values())).split(":")[2].split("/")[0]
    started = [str(PYTHON), "-m", "examples.reference_agents", "--port", port]
    return [*started, "--store", str(VAR / "agents.sqlite3")]
