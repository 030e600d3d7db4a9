"""Ten thousand requests while the three groups are replaced one after another by SIGHUP: how many fail.

    ./run bench rolling [--requests 10000] [--drain 8]

A PostgreSQL of its own, the three groups as the units of deploy/systemd start them, and nginx in front with the
configuration of deploy/nginx, but for TLS, names and places. Beside the requests streams are open and statuses held,
some of them by tools, and agents answer after two seconds. A request fails that has another status than it should, or
none. Every stream has to come to every event, in order and once. Prints the figures; fails where anything is wrong.
Nobody calls faster than nginx's own limit lets one address, from which all of these come.
"""

import http.client
import json
import re
import shlex
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import staging
from bench.faults.listeners import Follower, following
from bench.faults.service import configure_nginx, deployed, end_of, running, start_nginx
from bench.faults.verdict import unfollowed
from bench.slow_agent import slow_agent
from consent_bridge.sealed import generate_connector_key, public_half
from deploy.local.place import PYTHON, ROOT
from deploy.local.serving import Child, _end, _start, free_port

GROUPS = ("fast", "slow", "tools")
CLIENTS, HOLDERS, AGENT_CALLERS, STATUS_READS = 8, 6, 4, 10
CALL_SECONDS = 0.025  # at least, from a caller's call to its next: the eight make 320 a second, where nginx lets 500 in
SITE = "https://shop.example"


@dataclass
class Tally:
    """What came of the requests, by their kind."""

    good: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)

    def note(self, kind: str, wrong: str | None) -> None:
        with self.lock:
            if wrong is None:
                self.good[kind] += 1
            else:
                self.failed[f"{kind}: {wrong}"] += 1

    @property
    def count(self) -> int:
        return sum(self.good.values()) + sum(self.failed.values())


class Caller(threading.Thread):
    """Does `act` again and again on a connection of its own to the proxy; that is opened anew where it was closed."""

    def __init__(self, port: int, tally: Tally, act: "Act") -> None:
        super().__init__(daemon=True)
        self.tally, self._act = tally, act
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def run(self) -> None:
        while not self.tally.over.is_set():
            self._act(self)
        self._connection.close()

    def call(self, kind: str, method: str, path: str, headers: dict[str, str], body: Any = None) -> dict[str, Any]:
        """One request that should be answered with 200 or 201; what it was answered, or nothing."""
        began = time.monotonic()
        try:
            return self._call(kind, method, path, headers, body)
        finally:
            self.tally.over.wait(max(0.0, began + CALL_SECONDS - time.monotonic()))

    def _call(self, kind: str, method: str, path: str, headers: dict[str, str], body: Any) -> dict[str, Any]:
        text = None if body is None else json.dumps(body)
        type_of_body = {} if body is None else {"Content-Type": "application/json"}
        try:
            self._connection.request(method, path, text, {**headers, **type_of_body})
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self.tally.note(kind, type(error).__name__)
            return {}
        good = answer.status in (200, 201)
        self.tally.note(kind, None if good else f"{answer.status} {content[:200]!r}")
        return dict(json.loads(content)) if good else {}


Act = Callable[[Caller], None]


def request_and_cancel(app: staging.StagedApp, user_id: str, key: dict[str, str]) -> Act:
    """An app's round: discover, ask, look a few times, look by a tool, take it back."""
    headers = {"Authorization": f"Bearer {app.token}"}
    wanted = {
        "user_id": user_id, "scope": staging.SCOPE, "purpose": staging.PURPOSE, "connector_public_key": key,
        "connector_wrapping_alg": "ECDH-ES+A256KW",
    }  # fmt: skip

    def act(caller: Caller) -> None:
        name = f"key-{time.monotonic_ns()}"
        caller.call("discover", "GET", f"/api/v1/user-scopes/{user_id}", headers)
        made = caller.call("ask", "POST", "/api/v1/request-consent", headers, {**wanted, "connector_key_id": name})
        if not made:
            return
        for _ in range(STATUS_READS):
            caller.call("status", "GET", f"/api/v1/consent-status?request_id={made['request_id']}", headers)
        caller.call("tool", "POST", "/mcp", {**headers, **_MCP}, _tool_call(made["request_id"], 0))
        caller.call("end", "POST", "/api/v1/end-consent", headers, {"request_id": made["request_id"]})

    return act


_MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def _tool_call(request_id: str, wait: int) -> dict[str, Any]:
    arguments = {"request_id": request_id, "wait_seconds": wait}
    params = {"name": "check_consent_status", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def hold(app: staging.StagedApp, request_id: str, *, by_tool: bool) -> Act:
    """A held status of a request that nobody decides."""
    headers = {"Authorization": f"Bearer {app.token}"}

    def act(caller: Caller) -> None:
        if by_tool:
            body = caller.call("held tool", "POST", "/mcp", {**headers, **_MCP}, _tool_call(request_id, 20))
            body = body.get("result", {}).get("structuredContent", {})
        else:
            path = f"/api/v1/consent-status?request_id={request_id}&wait=20"
            body = caller.call("held status", "GET", path, headers)
        if body.get("status", "pending") != "pending":
            caller.tally.note("held", f"not held: {body}")

    return act


def ask_agent(token: str) -> Act:
    def act(caller: Caller) -> None:
        caller.call("agent", "POST", "/api/a2a/brand", {"A2A-Consent": token}, {"text": "What do they like?"})

    return act


def configure_front(home: Path, port: int) -> None:
    """deploy/nginx/consent.conf at a port and with places of our own, without TLS and without the redirect to it."""
    text = (ROOT / "deploy" / "nginx" / "consent.conf").read_text()
    text = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"listen 443 .*", f"listen 127.0.0.1:{port};", text)
    text = re.sub(r" *(?:ssl_\w+ |listen \[::\]).*\n", "", text)
    text = text.replace("X-Forwarded-Proto https", "X-Forwarded-Proto http").replace("/run/consent", str(home / "run"))
    text = text.replace("Host $host", "Host $http_host")  # with the port, which ours is named with
    configure_nginx(
        home, text.replace("/var/log/nginx", str(home)).replace("consent-error.log crit", "consent-error.log error")
    )


def group_command(name: str, home: Path, drain: float) -> list[str]:
    """As its unit starts it, with folder, environment and sockets of our own, and a shorter drain."""
    unit = (ROOT / "deploy" / "systemd" / f"consent-{name}.service").read_text()
    found = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert found
    own = {"/run/consent": home / "run", "/etc/consent/env": home / "env", "/srv/consent": ROOT}
    started = found[1]
    for installed, here in own.items():
        started = started.replace(installed, str(here))
    command = shlex.split(started)
    place = command.index("--")
    return [str(PYTHON), *command[1:place], "--drain", str(drain), *command[place:]]


def wait_for(log: Path, text: str, times: int) -> None:
    deadline = time.monotonic() + 120
    while log.read_text(errors="replace").count(text) < times:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{log.name} does not say {text!r}:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)


def main() -> int:
    options = staging.parse_options("rolling", requests=10_000, drain=8.0)
    front = free_port()
    with ExitStack() as stack:
        agent = stack.enter_context(slow_agent())
        deployment = stack.enter_context(
            deployed(
                "rolling", 1, way=lambda link, port: front if link == "the service" else port, apps=CLIENTS + 1,
                BEHIND_TLS_PROXY="true", DATABASE_POOL="8", AGENT_BRAND_URL=f"http://127.0.0.1:{agent}/2.0",
            )
        )  # fmt: skip
        home, apps, [person] = deployment.home, deployment.apps, deployment.people
        with running(deployment.service):  # what is measured only asks for what they have
            person.arrive(f"http://localhost:{deployment.service.port}").close()
        token = staging.consent_to_agents(apps[0], person, SITE)
        staging.close_connections()
        children: list[Child] = []
        stack.callback(_end, children)
        for name in GROUPS:
            (home / "run" / name).mkdir(parents=True)
            command = group_command(name, home, options.drain)
            children.append(_start(name, command, home / f"{name}.log", deployment.env))
        for child in children:
            wait_for(child.log, "group: process", 1)
        groups = list(children)
        configure_front(home, front)
        children.append(start_nginx(home))
        time.sleep(1)
        doing = acts(deployment.site, apps, person, token)
        wrong = measure(groups, following(deployment.site, apps), front, doing, options)
        return end_of(deployment, wrong)


def acts(site: str, apps: list[staging.StagedApp], person: staging.StagedPerson, token: str) -> list[Act]:
    """What each caller does again and again."""
    key = public_half(generate_connector_key())
    with apps[-1].client(site) as client:
        waiting = client.request_consent(
            person.name, staging.SCOPE, purpose=staging.PURPOSE, key=key, requested_expiry=86400
        )
    requesting = [request_and_cancel(app, person.name, public_half(generate_connector_key())) for app in apps[:-1]]
    holding = [hold(apps[-1], waiting.request_id, by_tool=bool(number % 2)) for number in range(HOLDERS)]
    return [*requesting, *holding, *[ask_agent(token)] * AGENT_CALLERS]


def measure(groups: list[Child], followers: list[Follower], front: int, acts: list[Act], options: Any) -> list[str]:
    """Call, hold and listen while one group after another is replaced; what was wrong."""
    tally = Tally()
    callers = [Caller(front, tally, act) for act in acts]
    began = time.monotonic()
    for caller in callers:
        caller.start()
    for group in groups:
        time.sleep(3)
        replace(group, tally)
    while tally.count < options.requests:
        time.sleep(0.1)
    tally.over.set()
    for caller in callers:
        caller.join(60)
    return report(tally, followers, len(groups), time.monotonic() - began)


def replace(group: Child, tally: Tally) -> None:
    """One SIGHUP, until the old processes are gone."""
    serving, ended = (group.log.read_text(errors="replace").count(text) for text in (" serves ", " has ended"))
    began, before = time.monotonic(), tally.count
    group.process.send_signal(signal.SIGHUP)
    wait_for(group.log, " serves ", serving + 1)
    turned = time.monotonic() - began
    wait_for(group.log, " has ended", ended + 1)
    took, failed = time.monotonic() - began, sum(tally.failed.values())
    print(f"{group.name}: turned after {turned:.1f} s, old ones gone after {took:.1f} s; "
          f"{tally.count - before} requests meanwhile, {failed} failed so far", flush=True)  # fmt: skip


def report(tally: Tally, followers: list[Follower], replaced: int, seconds: float) -> list[str]:
    """Print the figures; what is wrong."""
    from consent.notices.models import Notice

    deadline = time.monotonic() + 30
    while Notice.objects.count() > sum(len(each.events) for each in followers) and time.monotonic() < deadline:
        time.sleep(0.1)
    for follower in followers:
        follower.over.set()
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.good.items()))
    events = sum(len(follower.events) for follower in followers)
    print(f"{tally.count} requests in {seconds:.0f} s ({kinds}), {replaced} groups replaced, {len(followers)} streams "
          f"resumed {sum(follower.resumed for follower in followers)} times for {events} events")  # fmt: skip
    print(f"failed: {sum(tally.failed.values())} of {tally.count}")
    return [*(f"{times} times {what}" for what, times in tally.failed.items()), *unfollowed(followers)]
