"""What writes gain by the indexes that were taken away: the same writes without them and with them, in turns.

    ./run bench indexes [--rounds 5] [--ends 2000] [--reads 10000] [--waiting 200000]

Makes a database of its own on the server of DATABASE_URL (PostgreSQL; the local one by default) and removes it. Those
are the indexes of single foreign keys whose column another index of the table begins with, some of which were never
there; they are made for every second turn, on the tables as the models have them now.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from bench.deliveries import LIMITS_OFF
from bench.tasks import let_end, let_read, let_wait, timed
from bench.trip import own_database

WITHOUT, WITH = "without", "with"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run bench indexes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ends", type=int, default=2000)
    parser.add_argument("--reads", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=200_000)
    options = parser.parse_args()
    with own_database() as url:
        os.environ.update(LIMITS_OFF, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="bench.settings", LOG_LEVEL="ERROR")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from bench.population import populate

        populate()
        let_wait(options.waiting)
        taken = taken_away()
        report(measure(options, taken))
        print(f"\n{len(taken)} indexes were made and dropped for it.")
    return 0


def taken_away() -> list[tuple[str, str]]:
    """(table, column) of every foreign key that has no index of its own, since another one begins with it."""
    from django.apps import apps

    return [
        (model._meta.db_table, field.column)
        for model in apps.get_models()
        for field in model._meta.local_concrete_fields
        if field.many_to_one and field.db_constraint and not field.db_index
    ]


@contextmanager
def indexes(columns: list[tuple[str, str]]) -> Iterator[None]:
    """One index for each of the columns while this lasts."""
    from django.db import connection

    with connection.cursor() as cursor:
        for table, column in columns:
            cursor.execute(f'CREATE INDEX "{_name(table, column)}" ON "{table}" ("{column}")')
        try:
            yield
        finally:
            for table, column in columns:
                cursor.execute(f'DROP INDEX "{_name(table, column)}"')


def _name(table: str, column: str) -> str:
    return f"taken_{table}_{column}"


def measure(options: Any, taken: list[tuple[str, str]]) -> dict[str, dict[str, list[float]]]:
    """Seconds by what was written and by whether the indexes were there, one figure of each round."""
    seconds: dict[str, dict[str, list[float]]] = {}
    for number in range(options.rounds):
        for state in (WITHOUT, WITH) if number % 2 else (WITH, WITHOUT):
            with indexes(taken if state == WITH else []):
                for name, took in a_turn(options).items():
                    seconds.setdefault(name, {WITHOUT: [], WITH: []})[state].append(took)
    return seconds


def a_turn(options: Any) -> dict[str, float]:
    from consent.decisions import expiry
    from consent.exports.read_batches import chain_waiting_reads

    return {
        f"{options.ends:,} requests and their grants": timed(lambda: let_end(options.ends))[0],
        f"{options.ends:,} ends written down": timed(lambda: expiry.write_down_expiry(most_seconds=120.0))[0],
        f"{options.reads:,} reads": timed(lambda: let_read(options.reads))[0],
        f"{options.reads:,} reads chained": timed(chain_waiting_reads)[0],
    }


def report(seconds: dict[str, dict[str, list[float]]]) -> None:
    """Medians, and the median of each round's ratio."""
    print(f"\n{'':36}{'with, s':>10}{'without, s':>12}{'as fast':>10}")
    for name, by_state in seconds.items():
        ratios = [before / after for before, after in zip(by_state[WITH], by_state[WITHOUT], strict=True)]
        print(f"{name:36}{median(by_state[WITH]):>10.2f}{median(by_state[WITHOUT]):>12.2f}{median(ratios):>10.2f}")


if __name__ == "__main__":
    sys.exit(main())
