"""What takes longer the more people there are: the hot addresses, people's pages, staff's lists, tasks with no work.

    ./run bench growth [--long] [--sizes 1000,10000] [--only EXPRESSION]

Fills a database of its own beside the one of DATABASE_URL, which has to be PostgreSQL, with 10³ people and one with
10⁵, with `--long` one with 10⁶ as well (16 GB, a quarter of an hour), and measures the same in each; they are
removed afterwards. `--sizes` names others, multiples of 20. One of the people, "long" below, has 20,000 lines of
history, 500 live approvals and 1,000 requests that wait.

Prints for each: queries, the best of some rounds in milliseconds, and how many times the time of the smallest
database that is. Below stands the plan of the slowest query of each that grew more than GREW times. It runs in one
process beside PostgreSQL and without a network: times are for comparing within one run.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.staging import own_database, parse_options

SIZES, LONG = "1000,100000", 1_000_000
APPS, SEALED = 20, "x" * 512
ROUNDS, GREW, NOISE = 5, 1.5, 5.0  # NOISE: milliseconds that a measurement may differ by on a busy machine
SLOW = 3.0  # seconds: what takes longer is measured once
MOST = 60_000  # milliseconds that one statement may take

Measured = dict[str, dict[str, Any]]  # name: {"ms", "queries", "plan"}


def main() -> None:
    options = parse_options("growth", sizes=SIZES, long={"action": "store_true"}, only="", one=0)
    if options.one:
        sys.stdout.write(json.dumps(measure_one(options.one, options.only)))
        return
    sizes = [*map(int, options.sizes.split(",")), *([LONG] if options.long else [])]
    show({size: _in_a_database(size, options.only) for size in sizes})


def _in_a_database(size: int, only: str) -> Measured:
    """What another process measures in a database of its own."""
    with own_database(f"_{size}") as url:
        env = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        command = [sys.executable, "-m", "bench", "growth", "--one", str(size), "--only", only]
        output = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout
        return dict(json.loads(output.splitlines()[-1]))


def measure_one(size: int, only: str) -> Measured:
    """Fill the database of DATABASE_URL with so many people and measure what has a name that fits `only`."""
    from django.test.utils import setup_test_environment

    from bench.staging import prepare

    prepare()
    setup_test_environment(debug=False)
    from django.db import connection

    from bench.growth_measures import measures
    from bench.population import BASE, add_long_history, populate

    began = time.monotonic()
    world = populate(size, app_count=APPS, sealed=SEALED)
    add_long_history(world, BASE + size - 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        octets = cursor.fetchone()[0]
        cursor.execute(f"SET statement_timeout = {MOST}")
    sys.stderr.write(f"{size:,} people in {time.monotonic() - began:.0f} s, {octets / 1e9:.1f} GB\n")
    return {name: _measured(name, act) for name, act in measures(world, size) if re.search(only, name)}


def _measured(name: str, act: Callable[[], object]) -> dict[str, Any]:
    """Once to count the queries and to warm up, then ROUNDS times by the clock, of which the best counts."""
    from django.db import DatabaseError, connection
    from django.test.utils import CaptureQueriesContext

    try:
        with CaptureQueriesContext(connection) as captured:
            act()
        queries = list(captured.captured_queries)  # the next call forgets them
        times: list[float] = []
        while len(times) < ROUNDS and sum(times) < SLOW * 1000:
            began = time.perf_counter()
            act()
            times.append((time.perf_counter() - began) * 1000)
    except DatabaseError as error:  # too slow to wait for
        sys.stderr.write(f"  {name}: {error}\n")
        return {"ms": MOST, "queries": 0, "plan": str(error)}
    slowest = max(queries, key=lambda query: float(query["time"]), default=None)
    sys.stderr.write(f"  {name}: {min(times):.1f} ms, {len(queries)} queries\n")
    return {"ms": min(times), "queries": len(queries), "plan": _plan(slowest["sql"]) if slowest else ""}


def _plan(sql: str) -> str:
    from django.db import DatabaseError, connection, transaction

    if not sql.startswith("SELECT"):
        return sql[:300]
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) " + sql.replace("%", "%%"), [])
            return sql[:600] + "\n" + "\n".join(line for (line,) in cursor.fetchall())
    except DatabaseError as error:
        return f"{sql[:300]}\n{error}"


def show(found: dict[int, Measured]) -> None:
    print(f"| | queries | {' | '.join(f'{size:,} people, ms' for size in found)} | of the first |")
    print("|---|---|" + "---|" * (len(found) + 1))
    grown = []
    for name in [name for name in found[min(found)] if all(name in one for one in found.values())]:
        lines = [one[name] for one in found.values()]
        ms = [line["ms"] for line in lines]
        grew = ms[-1] > GREW * ms[0] and ms[-1] - ms[0] > NOISE
        queries = " / ".join(map(str, dict.fromkeys(line["queries"] for line in lines)))
        ratios = " / ".join(f"{one / ms[0]:.2f}" for one in ms[1:])
        print(f"| {name} | {queries} | {' | '.join(f'{one:.1f}' for one in ms)} | {ratios}{' ←' if grew else ''} |")
        grown += [f"\n{name}, its slowest query\n{lines[-1]['plan']}"] if grew else []
    print("\n".join(grown))
