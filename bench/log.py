"""What the public log costs on a large tree: sequencing, proofs, and the memory of a whole verification.

    DATABASE_URL=postgres://… python -m bench.log [leaves before] [entries more] [--verify]

A tree of 1,000,000 leaves by default (10,000,000 for the long form) is loaded by COPY, with the same code that the
sequencer uses for tiles and edge; then 100,000 entries more wait in the queue and are sequenced and signed. Prints
entries a second, milliseconds a proof (median and 95th percentile over leaves anywhere in the tree), and, with
--verify, how long a whole verification of the log takes and by how much the memory of this process grows on the way.
PostgreSQL; the database is one of its own, made beside the one of DATABASE_URL and removed afterwards.
"""

import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

PART = 100_000
PROOFS = 400


def main() -> None:
    numbers = [int(given) for given in sys.argv[1:] if given.isdecimal()]
    leaves, more = [*numbers, *[1_000_000, 100_000][len(numbers) :]]
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    if connection.vendor != "postgresql":
        sys.exit("Give DATABASE_URL of a PostgreSQL: the tree is loaded by COPY.")
    settings.LOG_SIGNER_FILE = str(Path(tempfile.mkdtemp()) / "signer.json")
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        _told("loaded", leaves, _timed(lambda: _load(leaves)))
        _told("signed the tree that was loaded", leaves, _timed(_sign))
        _queue(leaves, more)
        _told("sequenced and signed", more, _timed(_sequence))
        _proofs(leaves + more)
        if "--verify" in sys.argv:
            _verify(leaves + more)
    finally:
        teardown_databases(databases, verbosity=0)


def _told(what: str, count: int, seconds: tuple[float, float]) -> None:
    """`seconds` that passed, and that this process worked; the database works beside it."""
    passed, worked = seconds
    print(f"{what}: {count:,} in {passed:.1f} s ({worked:.1f} s of work here), {count / passed:,.0f}/s", flush=True)


def _timed(work: Any) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - worked


def _hash(number: int) -> bytes:
    return sha256(number.to_bytes(8, "big")).digest()


def _load(leaves: int) -> None:
    """Entries, leaves, tiles and edge of a log that has been growing for long."""
    from django.db import connection

    from consent.log.merkle import Frontier
    from consent.log.models import LogState

    frontier = Frontier()
    for start in range(0, leaves, PART):
        numbers = range(start, min(start + PART, leaves))
        _copy_entries(numbers)
        with connection.cursor() as cursor:
            with cursor.copy("COPY consent_log_leaves (log_index, entry_id, entry_hash) FROM STDIN") as copy:
                for number in numbers:
                    copy.write_row((number, number + 1, _hash(number)))
            filled = frontier.append([_hash(number) for number in numbers])
            with cursor.copy("COPY consent_log_tiles (level, number, hashes) FROM STDIN") as copy:
                for tile in filled:
                    copy.write_row((tile.level, tile.number, tile.hashes))
    LogState.objects.update(size=frontier.size, frontier=frontier.to_bytes())
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('consent_audit', 'id'), %s)", [leaves])
        cursor.execute("ANALYZE")


def _copy_entries(numbers: range) -> None:
    from django.db import connection

    columns = "id, version, chain, sequence, prev_hash, entry_hash, kind, actor, at, facts_hash"
    with connection.cursor() as cursor, cursor.copy(f"COPY consent_audit ({columns}) FROM STDIN") as copy:
        for row in _entries(numbers):
            copy.write_row(row)


def _entries(numbers: range) -> Iterator[tuple[Any, ...]]:
    from base64 import urlsafe_b64encode
    from datetime import UTC, datetime

    at = datetime.now(UTC)
    for number in numbers:
        digest = urlsafe_b64encode(_hash(number)).decode().rstrip("=")
        chain, sequence = f"chn_bench{number % 5000:04d}", number // 5000 + 1
        yield (number + 1, 2, chain, sequence, "", digest, "denied", "person", at, "A" * 43)


def _queue(leaves: int, more: int) -> None:
    from django.db import connection

    _copy_entries(range(leaves, leaves + more))
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO consent_log_queue (entry_id) SELECT id FROM consent_audit WHERE id > %s", [leaves])


def _sign() -> None:
    from consent.log.sequencing import sign_checkpoint

    assert sign_checkpoint() is not None


def _sequence() -> None:
    from consent.log.sequencing import sequence_and_sign

    sequence_and_sign()


def _proofs(size: int) -> None:
    from consent.log.published import proof_of_leaf

    dice, spent, cpu = random.Random(16), [], time.process_time()
    for _ in range(PROOFS):
        index = dice.randrange(size)
        began = time.perf_counter()
        assert proof_of_leaf(index)
        spent.append((time.perf_counter() - began) * 1000)
    at95, own = statistics.quantiles(spent, n=20)[-1], (time.process_time() - cpu) * 1000 / PROOFS
    said = f"a proof: median {statistics.median(spent):.2f} ms, 95th percentile {at95:.2f} ms"
    print(f"{said}, of which this process worked {own:.2f} ms", flush=True)


def _verify(size: int) -> None:
    from consent.log.verifying import verify_log

    def walk() -> None:
        found = list(verify_log())
        assert found == [], found

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _told("verified", size, _timed(walk))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"memory: {before / 1024:.0f} MiB before, at most {grown / 1024:.0f} MiB more", flush=True)


if __name__ == "__main__":
    main()
