"""What the workflow adds to the time of its agents, in the embedded default: SQLite, no Redis, one server, one worker.

    ./run bench workflow [--analyses 20] [--seconds 0.5]

Started as `./run` starts it, with agents of its own that take `--seconds` each. The time of an analysis is that from
sending the form's data to the first status that says it ended, asked every 20 ms; the reference is what the agents
themselves took, by their own clock.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from consent_bridge.owner import Owner
from deploy.local.place import manage
from deploy.local.serving import free_port, service
from tests.agents_proxy.agent_server import speaking

WANTED = 0.300  # seconds on top of the agents' time
ENDED = ("completed", "completed_with_errors", "failed", "cancelled")
ABOUT = {"fullName": "Zoe Lindqvist", "countryCode": "+49", "phoneNumber": "15123456789", "agreed": True}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench workflow")
    parser.add_argument("--analyses", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    taken: list[float] = []

    def answer(_request: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        time.sleep(options.seconds)
        taken.append(time.monotonic() - began)
        return {"likes": ["tea"], "city": "Turku"}

    with speaking() as agents, tempfile.TemporaryDirectory(prefix="consent-bench-") as var:
        agents.says = dict.fromkeys(agents.settings(), answer)
        env = environment(Path(var), agents.address)
        with service(int(env["BASE_URL"].rsplit(":", 1)[1]), env), Owner(env["BASE_URL"]) as owner:
            person = json.loads((Path(var) / "sample.json").read_text())["owner"]
            owner.sign_in(person["email"], person["password"])
            found = [analyse(owner, person["email"], taken) for _ in range(options.analyses)]
    return report(found)


def environment(var: Path, agents: str) -> dict[str, str]:
    """A prepared service of its own; its agents are those at `agents`."""
    env = {"BASE_URL": f"http://localhost:{free_port()}", "CONSENT_VAR": str(var), "DATABASE_URL": "", "REDIS_URL": ""}
    named = {"PUBLIC": "public", "SECOND": "second", "CORE": "core", "BRAND": "brand"}
    os.environ.update(env, **{f"AGENT_{name}_URL": f"{agents}/{path}" for name, path in named.items()})
    manage("Making the secrets", "make_keys", "--directory", str(var))
    for command in (["migrate", "--no-input"], ["collectstatic", "--no-input"], ["sample_data"]):
        manage(command[0], *command, "--verbosity", "0")
    return env


def analyse(owner: Owner, email: str, taken: list[float]) -> tuple[float, float]:
    """The time of one analysis and that of its agents, in seconds."""
    taken.clear()
    began = time.monotonic()
    started = owner._site.send("POST", "/api/a2a/analyses", {**ABOUT, "email": email}).json()
    while (told := owner._site.get(started["statusUrl"]))["status"] not in ENDED:
        time.sleep(0.02)
    whole = time.monotonic() - began
    if told["status"] != "completed" or len(taken) != 4:
        raise SystemExit(f"An analysis ended {told['status']} after {len(taken)} answers.")
    return whole, sum(taken)


def report(found: list[tuple[float, float]]) -> int:
    added = sorted(whole - agents for whole, agents in found)
    ratio = median(whole / agents for whole, agents in found)
    print(f"{len(found)} analyses of four agents; median {median(whole for whole, _ in found):.3f} s, ", end="")
    print(f"{ratio:.3f} of the agents' own time")
    print(f"added: median {median(added) * 1000:.0f} ms, most {added[-1] * 1000:.0f} ms, wanted {WANTED * 1000:.0f} ms")
    return 0 if added[-1] <= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
