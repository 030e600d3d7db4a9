"""`python -m examples.reference_agents --port 8010`: a server on this machine, with one address for each agent."""

import argparse
import sys
from pathlib import Path

from examples.neighbourhood.serving import NOT_FOUND, Request, Response, Server, json_response
from examples.reference_agents.agents import AGENTS
from examples.reference_agents.consent import HEADER, Consent
from examples.reference_agents.json_rpc import answer_deletion, answer_request, error_response
from examples.reference_agents.store import keep_in


class Agents:
    """The program: `POST /<agent>` takes JSON-RPC, `POST /<agent>/delete` signed requests to delete."""

    consent: Consent | None = None

    def __call__(self, request: Request) -> Response:
        agent, _, act = request.path.strip("/").partition("/")
        if request.method != "POST":
            return NOT_FOUND
        if act == "delete" and agent in AGENTS:
            return json_response(*answer_deletion(request.body.decode("ascii", "replace").strip(), self.consent))
        try:
            called = request.json
        except ValueError:
            return json_response(200, error_response(None, -32700, "not JSON"))
        assertion = request.headers.get(HEADER.lower(), "").strip()
        return json_response(200, answer_request(agent, called, self.consent, assertion))


def main() -> None:
    """Read the command line and serve until the process is ended."""
    parser = argparse.ArgumentParser(prog="python -m examples.reference_agents")
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--store", type=Path, help="keep profiles in this SQLite file; in memory without it")
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--issuer", help="answer only what a person agreed to, as this service asserts: its BASE_URL")
    whose.add_argument("--without-consent", action="store_true", help="answer everything; to try an agent by hand")
    parser.add_argument(
        "--origin", help="as the service has it in AGENT_<NAME>_URL; http://127.0.0.1:<port> by default"
    )
    options = parser.parse_args()
    keep_in(options.store)
    agents = Agents()
    with Server(options.port, agents) as server:
        if options.issuer:
            agents.consent = Consent(options.issuer, options.origin or server.address)
        sys.stderr.write(f"reference agents on port {server.server_port}\n")
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
