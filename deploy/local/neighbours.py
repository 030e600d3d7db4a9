"""What the service talks to, started beside it where the environment gives no address of another one.

Ports are those after the server's, each where it is free, else any free one.
"""

import base64
import json
import os
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deploy.local import reference
from deploy.local.place import PYTHON, VAR, is_wanted
from examples.neighbourhood import NAMES

_CREDENTIALS = ("AGGREGATOR_CLIENT_ID", "AGGREGATOR_SECRET", "AGENT_MESSAGING_REPORT_SECRET")


@dataclass(frozen=True)
class Neighbours:
    """`env`: what the server and the programs themselves are told. `addresses`: where a person finds each.

    `commands`: how to start them, in this order.
    """

    env: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    commands: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ports(self) -> set[int]:
        """Where the programs that `commands` start take calls."""
        agents = [self.env[name] for name in reference.VARIABLES.values() if name in self.env]
        return {int(urlsplit(address).port or 0) for address in [*self.addresses.values(), *agents]}

    @property
    def shows_profiles(self) -> bool:
        """Whether every agent is a reference agent, so that the sample person can be shown without asking real ones."""
        return bool(self.addresses) and all(name in self.env for name in reference.VARIABLES.values())


def agents_alone(server: str) -> Neighbours:
    """The reference agents on a free port, and nothing else."""
    agents = reference.addresses(_any_port())
    commands = {"agents": reference.command(agents, VAR, server)} if agents else {}
    return Neighbours(reference.environment(agents), {}, commands)


def find(port: int, server: str, var: Path | None = None) -> Neighbours:
    """What to start beside the server on `port`, whose own address is `server`; what it keeps is in `var`."""
    var = VAR if var is None else var
    ports = _ports(port)
    agents = reference.addresses(ports["agents"])
    commands = {"agents": reference.command(agents, var, server)} if agents else {}
    if not is_wanted("NEIGHBOURHOOD"):
        return Neighbours(reference.environment(agents), {}, commands)
    env, serving = reference.environment(agents), {"overview": ports["overview"], "crm": ports["crm"]}
    if not any(os.environ.get(name) for name in ("AGGREGATOR_BASE_URL", "AGGREGATOR_CLIENT_ID", "AGGREGATOR_SECRET")):
        serving["aggregator"] = ports["aggregator"]
        env |= {
            "AGGREGATOR_BASE_URL": _address(ports["aggregator"]),
            **_shared_credentials(var, "AGGREGATOR_CLIENT_ID", "AGGREGATOR_SECRET"),
        }
    if not os.environ.get("AGENT_MESSAGING_URL"):
        serving["gateway"] = ports["gateway"]
        given = os.environ.get("AGENT_MESSAGING_REPORT_SECRET")
        report = (
            {"AGENT_MESSAGING_REPORT_SECRET": given}
            if given
            else _shared_credentials(var, "AGENT_MESSAGING_REPORT_SECRET")
        )
        env |= {"AGENT_MESSAGING_URL": f"{_address(ports['gateway'])}/messages", **report}
    if _only_this_machine(server):
        env["WEBHOOK_INTERNAL_ADDRESSES"] = os.environ.get("WEBHOOK_INTERNAL_ADDRESSES") or "true"
    addresses = {name: _address(number) for name, number in serving.items()}
    commands["neighbourhood"] = _command(
        server, var / "neighbourhood", VAR / "logs" / str(port) / "worker.pid", serving, env
    )
    return Neighbours(env, addresses, commands)


def _command(server: str, folder: Path, worker: Path, serving: dict[str, int], env: dict[str, str]) -> list[str]:
    known = {**os.environ, **env}
    agents = [f"{name}={known[variable]}" for name, variable in reference.VARIABLES.items() if known.get(variable)]
    return [
        str(PYTHON), "-m", "examples.neighbourhood", "--server", server, "--worker", str(worker),
        "--store", str(folder / "kept.sqlite3"),
        *(part for name, number in serving.items() for part in (f"--{name}", str(number))),
        *(part for agent in agents for part in ("--agent", agent)),
    ]  # fmt: skip


def _only_this_machine(server: str) -> bool:
    """Whether nobody else reaches the server: then apps may name addresses of this machine, such as the CRM's."""
    names = (os.environ.get("HOST") or "127.0.0.1", urlsplit(server).hostname)
    return all(name in ("127.0.0.1", "localhost", "::1") for name in names)


def _ports(port: int) -> dict[str, int]:
    """A port of each, this far above the server's, or a free one."""
    found: dict[str, int] = {}
    for name, wanted in zip(NAMES, range(port + 1, port + 1 + len(NAMES)), strict=True):
        found[name] = wanted if wanted < 65536 and _can_have(wanted) else _any_port()
    return found


def _can_have(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _any_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _address(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _shared_credentials(var: Path, *names: str) -> dict[str, str]:
    """Credentials that the server and its neighbours share, made at random once: what was linked stays linked."""
    path = var / "neighbourhood" / "credentials.json"
    try:
        kept: dict[str, str] = json.loads(path.read_text())
    except (OSError, ValueError):
        kept = {}
    if set(_CREDENTIALS) - kept.keys():
        kept = {
            "AGGREGATOR_CLIENT_ID": "neighbourhood",
            "AGGREGATOR_SECRET": secrets.token_urlsafe(24),
            "AGENT_MESSAGING_REPORT_SECRET": f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}",
        }
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(kept, file, indent=2)
    return {name: kept[name] for name in names}
