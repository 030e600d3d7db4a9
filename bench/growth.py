"""What takes longer the more people there are: the hot addresses, people's pages, staff's lists, tasks with no work.

    ./run bench growth [--long] [--sizes 1000,10000] [--only EXPRESSION]

Fills a database of its own beside the one of DATABASE_URL, which has to be PostgreSQL, with 10³ people and one with
10⁵, with `--long` one with 10⁶ as well (16 GB, a quarter of an hour), and measures the same in each; they are
removed afterwards. `--sizes` names others. One of the people has a history of 9,000 lines and 500 live approvals:
"long" below.

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SIZES, LONG = (1_000, 100_000), 1_000_000
ROUNDS, GREW, NOISE = 5, 1.5, 5.0  # NOISE: milliseconds that a measurement may differ by on a busy machine
SLOW = 3.0  # seconds: what takes longer is measured once
MOST = 60_000  # milliseconds that one statement may take
SETTINGS = "tests.settings"

Measured = dict[str, dict[str, Any]]  # name: {"ms", "queries", "plan"}


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        sys.stdout.write(json.dumps(measure_one(int(arguments[1]), arguments[2])))
        return
    only = _value(arguments, "--only", "")
    sizes = [int(size) for size in _value(arguments, "--sizes", ",".join(map(str, SIZES))).split(",")]
    if "--long" in arguments:
        sizes.append(LONG)
    _print({size: _in_a_database(size, only) for size in sizes})


def _value(arguments: list[str], name: str, otherwise: str) -> str:
    return arguments[arguments.index(name) + 1] if name in arguments else otherwise


def _in_a_database(size: int, only: str) -> Measured:
    """What another process measures in a database of its own, which is dropped whatever happens."""
    from deploy.local import scratch

    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        sys.exit("Set DATABASE_URL to a PostgreSQL server on which databases can be made.")
    name = f"{url.rsplit('/', 1)[1]}_growth_{size}"
    try:
        env = {**os.environ, "DATABASE_URL": scratch.make(url, name), "DJANGO_SETTINGS_MODULE": SETTINGS}
        command = [sys.executable, "-m", "bench.growth", "--one", str(size), only]
        told = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE)
        return dict(json.loads(told.stdout))
    finally:
        scratch.drop(url, name)


def measure_one(size: int, only: str) -> Measured:
    """Fill the database of DATABASE_URL with so many people and measure what has a name that fits `only`."""
    import django
    from django.test.utils import setup_test_environment

    django.setup()
    setup_test_environment(debug=False)
    from django.core.management import call_command
    from django.db import connection

    from bench import multitude
    from bench.growing import measures
    from pkm.registry.sync import sync_registry

    call_command("migrate", verbosity=0)
    sync_registry()
    cast = multitude.cast()
    began = time.monotonic()
    multitude.fill(cast, size)
    sys.stderr.write(f"{size:,} people in {time.monotonic() - began:.0f} s, {_gigabytes():.1f} GB\n")
    with connection.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = {MOST}")
    return {name: _measured(name, act) for name, act in measures(cast, size) if re.search(only, name)}


def _gigabytes() -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return float(cursor.fetchone()[0]) / 1e9


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


@dataclass(frozen=True)
class Line:
    """One measurement in every size, smallest first."""

    name: str
    ms: list[float]
    queries: list[int]

    @property
    def grew(self) -> bool:
        return self.ms[-1] > GREW * self.ms[0] and self.ms[-1] - self.ms[0] > NOISE


def _lines(found: dict[int, Measured]) -> Iterator[Line]:
    first, *others = found.values()
    for name in first:
        if all(name in other for other in others):
            some = [of[name] for of in found.values()]
            yield Line(name, [one["ms"] for one in some], [one["queries"] for one in some])


def _print(found: dict[int, Measured]) -> None:
    lines = list(_lines(found))
    sizes = [f"{size:,}" for size in found]
    sys.stdout.write(f"| | queries | {' | '.join(f'{size} people, ms' for size in sizes)} | of the first |\n")
    sys.stdout.write("|---|---|" + "---|" * (len(sizes) + 1) + "\n")
    for line in lines:
        queries = " / ".join(map(str, dict.fromkeys(line.queries)))
        times = " | ".join(f"{ms:.1f}" for ms in line.ms)
        ratios = " / ".join(f"{ms / line.ms[0]:.2f}" for ms in line.ms[1:])
        sys.stdout.write(f"| {line.name} | {queries} | {times} | {ratios}{' ←' if line.grew else ''} |\n")
    last = found[max(found)]
    for line in lines:
        if line.grew:
            sys.stdout.write(f"\n{line.name}, its slowest query\n{last[line.name]['plan']}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
