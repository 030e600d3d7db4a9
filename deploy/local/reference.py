"""The reference agents beside the server: for every profile agent that the environment gives no address."""

import os
from pathlib import Path

from deploy.local.place import PYTHON, is_wanted
from examples.reference_agents import NAMES

VARIABLES = {name: f"AGENT_{name.upper().replace('-', '_')}_URL" for name in NAMES}


def addresses(port: int) -> dict[str, str]:
    """The variables that lead the server to reference agents on `port`; empty where none of them is wanted."""
    if not is_wanted("REFERENCE_AGENTS"):
        return {}
    missing = {agent: name for agent, name in VARIABLES.items() if not os.environ.get(name)}
    return {name: f"http://127.0.0.1:{port}/{agent}" for agent, name in missing.items()}


def environment(found: dict[str, str]) -> dict[str, str]:
    """What the server is told of agents at these addresses: where they are, that they check consent, and delete."""
    checking = {name.replace("_URL", "_CHECKS_CONSENT"): "true" for name in found}
    deleting = {name.replace("_URL", "_DELETE_URL"): f"{url}/delete" for name, url in found.items()}
    return {**found, **checking, **deleting}


def command(found: dict[str, str], var: Path, server: str) -> list[str]:
    """How to start the program that serves these addresses to `server`; profiles are kept in `var`."""
    port = next(iter(found.values())).split(":")[2].split("/")[0]
    started = [str(PYTHON), "-m", "examples.reference_agents", "--port", port, "--issuer", server]
    return [*started, "--store", str(var / "profiles.sqlite3")]
