"""`python -m examples.neighbourhood --server http://localhost:8000 …`: the neighbourhood's programs in one process.

Each has a port of its own on 127.0.0.1; one without a port does not start. It is a program of its own, without the
service's database or settings. Secrets come from the environment: AGGREGATOR_CLIENT_ID, AGGREGATOR_SECRET,
AGENT_MESSAGING_REPORT_SECRET and CRM_SECRETS.
"""

import argparse
import os
import sys
import threading
from pathlib import Path

from examples.neighbourhood.aggregator import Aggregator
from examples.neighbourhood.crm import Crm
from examples.neighbourhood.gateway import Gateway, Reports
from examples.neighbourhood.link_page import LinkPage
from examples.neighbourhood.overview import Overview, Part, answers_calls, answers_get, process_lives
from examples.neighbourhood.serving import Server
from examples.neighbourhood.store import Store

_AGENTS = {
    "public": "Adds what public data says of somebody.",
    "second": "Fills gaps from public data, a second time and surer.",
    "core-profile": "Makes a profile out of plain sentences.",
    "core-profile-update": "Changes a profile as it is told.",
    "core": "Finds a profile by phone or e-mail.",
    "brand": "Turns what is known into likes, dislikes and brands.",
}


def main() -> None:
    """Read the command line and serve until the process is ended."""
    options = _parser().parse_args()
    store = Store(options.store)
    servers = _servers(options, store)
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    if servers:
        servers[0].serve_forever()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.neighbourhood")
    parser.add_argument("--server", default="http://localhost:8000", help="the service's own address")
    parser.add_argument("--worker", type=Path, help="a file with the number of the worker's process")
    parser.add_argument("--agent", action="append", default=[], metavar="NAME=URL", help="an agent to list")
    parser.add_argument("--store", type=Path, help="the SQLite file that keeps everything; in memory without it")
    for name in ("overview", "aggregator", "crm", "gateway"):
        parser.add_argument(f"--{name}", type=int, metavar="PORT")
    return parser


def _servers(options: argparse.Namespace, store: Store) -> list[Server]:
    parts = [
        Part("Server", "The service itself.", options.server, answers_get(f"{options.server}/readyz", ready=True)),
    ]
    if options.worker:
        parts.append(Part("Worker", "Does what the server leaves for later.", "", process_lives(options.worker)))
    for agent in options.agent:
        name, _, address = agent.partition("=")
        parts.append(Part(f"Agent {name}", _AGENTS.get(name, "An agent behind the proxy."), "", answers_calls(address)))
    servers: list[Server] = []
    if options.aggregator is not None:
        servers.append(_aggregator(options.aggregator, store))
        parts.append(_part("Aggregator", "Invented banks to link, with a year of purchases.", servers[-1]))
    if options.crm is not None:
        servers.append(Server(options.crm, Crm(store, tuple(os.environ.get("CRM_SECRETS", "").split()))))
        parts.append(_part("CRM", "Takes what people activate, and shows it.", servers[-1]))
    if options.gateway is not None:
        servers.append(Server(options.gateway, Gateway(store, _reports(options.server))))
        parts.append(
            _part("Message gateway", "Shows what would have been sent, and reports it delivered.", servers[-1])
        )
    if options.overview is not None:
        servers.append(Server(options.overview, Overview(parts)))
    return servers


def _aggregator(port: int, store: Store) -> Server:
    program = Aggregator(store, os.environ["AGGREGATOR_CLIENT_ID"], os.environ["AGGREGATOR_SECRET"])
    program.hosted = LinkPage(store)
    server = Server(port, program)
    program.address = server.address
    return server


def _reports(server: str) -> Reports | None:
    secret = os.environ.get("AGENT_MESSAGING_REPORT_SECRET", "")
    return Reports(server, secret) if secret else None


def _part(name: str, purpose: str, server: Server) -> Part:
    return Part(name, purpose, f"{server.address}/", answers_get(f"{server.address}/"))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
