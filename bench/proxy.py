"""How many slow agents can be waited for at once, what the proxy adds, and what polls of consent notice of it.

    ./run bench proxy [--calls 1000] [--seconds 5] [--rounds 3]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it. Two
workers with 800 threads each, as in deploy/ for the slow addresses. The limits on calls and polls are off, consent is
enforced: the calls carry a consent token. Calls start spread over the time that an agent takes, so that from then on
all of them are under way at any moment; each client calls again as soon as it has its answer.
"""

import asyncio
import json
import sys
import time
from statistics import median
from typing import Any

from bench import staging
from bench.measuring import granian
from bench.slow_agent import slow_agent
from bench.targets import post, prepared

WORKERS, THREADS, IN_FLIGHT = 2, 800, 700
ADDED_WHEN_FULL, ADDED_ALONE, POLLS = 50.0, 5.0, 2.0  # milliseconds, milliseconds, times the idle median


def main() -> int:
    options = staging.parse_options("proxy", calls=1000, seconds=5.0, rounds=3)
    with staging.own_database() as url, slow_agent() as agent:
        address = f"http://127.0.0.1:{agent}"
        requests = prepare(
            url, AGENT_BRAND_URL=f"{address}/{options.seconds}", AGENT_CORE_URL=f"{address}/0",
            A2A_CALLS_IN_FLIGHT=str(IN_FLIGHT),
        )  # fmt: skip
        with granian("config.wsgi:application", workers=WORKERS, threads=THREADS) as server:
            time.sleep(2)  # the second worker
            rounds = [asyncio.run(measure(server.port, agent, requests, options)) for _ in range(options.rounds)]
    return report(rounds, options)


def prepare(url: str, **env: str) -> dict[str, bytes]:
    """Fill the database; the requests to send."""
    status = prepared(url, **staging.LIMITS_OFF, **env)["status"][0]
    [app], [person] = staging.make_apps(1), staging.make_people(1)
    consented = f"A2A-Consent: {staging.consent_to_agents(app, person, 'https://bench.example')}\r\n"
    staging.close_connections()
    body = json.dumps({"text": "What does Zoe like?", "id": "task-bench"})
    envelope = json.dumps({"jsonrpc": "2.0", "id": "task-bench", "method": "tasks/send", "params": {}})
    return {
        "slow": post("/api/a2a/brand", consented, body).encode(),
        "fast": post("/api/a2a/core", consented, body).encode(),
        "direct": post("/0", "", envelope).encode(),
        "poll": status.encode(),
    }


class Client:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_ignored: object) -> None:
        self.writer.close()

    async def call(self, request: bytes) -> tuple[int, float]:
        """The status and the milliseconds until the whole answer was there."""
        started = time.perf_counter()
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        await self.reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r")[0]))
        return int(head.split(b" ", 2)[1]), (time.perf_counter() - started) * 1000


async def measure(port: int, agents: int, requests: dict[str, bytes], options: Any) -> dict[str, float]:
    """One round: alone, idle, and then with everything under way."""
    for _ in range(2):
        await _repeat(port, requests["fast"], 100)
    proxied, direct = [], []
    for _ in range(4):
        proxied += await _repeat(port, requests["fast"], 50)
        direct += await _repeat(agents, requests["direct"], 50)
    idle = await _repeat(port, requests["poll"], 300, pause=0.01)
    statuses, times = list[int](), list[float]()
    ends = time.monotonic() + 4 * options.seconds

    async def caller(number: int) -> None:
        await asyncio.sleep(options.seconds * number / options.calls)
        async with Client(port) as client:
            while time.monotonic() < ends:
                status, took = await client.call(requests["slow"])
                statuses.append(status)
                times.append(took)

    callers = [asyncio.create_task(caller(number)) for number in range(options.calls)]
    await asyncio.sleep(1.2 * options.seconds)  # all of them are under way from here on
    busy: list[float] = []
    while time.monotonic() < ends:
        busy += await _repeat(port, requests["poll"], 20, pause=0.01)
    await asyncio.gather(*callers)
    return {
        "calls": len(statuses),
        "failed": sum(status != 200 for status in statuses),
        "added when full": median(times) - options.seconds * 1000,
        "added alone": median(proxied) - median(direct),
        "idle poll": median(idle),
        "busy poll": median(busy),
    }


async def _repeat(port: int, request: bytes, count: int, pause: float = 0.0) -> list[float]:
    times = []
    async with Client(port) as client:
        for _ in range(count):
            status, took = await client.call(request)
            if status != 200:
                sys.exit(f"answered {status}; the log is in var/logs/")
            times.append(took)
            await asyncio.sleep(pause)
    return times


def report(rounds: list[dict[str, float]], options: Any) -> int:
    """Print the medians over the rounds; 1 where something wanted was not reached."""
    found = {name: median(one[name] for one in rounds) for name in rounds[0]}
    failed = sum(one["failed"] for one in rounds)
    ratio = median(one["busy poll"] / one["idle poll"] for one in rounds)
    polls = f"a status poll then ({found['busy poll']:.2f} ms), times idle ({found['idle poll']:.2f} ms)"
    lines = [
        (f"{options.calls} calls under way, {found['calls']:.0f} a round: failed", failed, 0.0, ""),
        (f"added to an agent of {options.seconds:g} s, then", found["added when full"], ADDED_WHEN_FULL, " ms"),
        ("added with one client", found["added alone"], ADDED_ALONE, " ms"),
        (polls, ratio, POLLS, ""),
    ]
    for what, reached, wanted, unit in lines:
        print(f"  {'✓' if reached <= wanted else '✗'} {what:62} {reached:8.2f}{unit}   wanted at most {wanted:g}{unit}")
    return int(any(reached > wanted for _, reached, wanted, _ in lines))
