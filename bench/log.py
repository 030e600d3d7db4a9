"""What the public log costs on a large tree: sequencing, proofs, and the memory of a whole verification.

    DATABASE_URL=postgres://… python -m bench log [leaves before] [entries more] [--verify]

A log of 1,000,000 entries by default (10,000,000 for the long form) is loaded by COPY: chains that hold, with their
facts, and tiles and edge by the same code that the sequencer uses; then 100,000 entries more wait in the queue and are
sequenced and signed. Prints entries a second; milliseconds a proof (median and 95th percentile over leaves anywhere in
the tree); and, with --verify, how long all that `verify_audit` reads takes, and how large this process was before, a
tenth of the way, and at most. PostgreSQL; the database is one of its own, made beside the one of DATABASE_URL and
removed afterwards. A million takes some 1 GB of its disk.
"""

import os
import random
import resource
import statistics
import sys
import tempfile
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

PART, PROOFS, CHAINS = 100_000, 400, 5_000
SALT, FACTS = bytes(32), "{}"


def main() -> None:
    numbers = [int(given) for given in sys.argv[1:] if given.isdecimal()]
    leaves, more = [*numbers, *[1_000_000, 100_000][len(numbers) :]]
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    from consent.log.sequencing import sequence_and_sign, sign_checkpoint

    if connection.vendor != "postgresql":
        sys.exit("Give DATABASE_URL of a PostgreSQL: the tree is loaded by COPY.")
    settings.LOG_SIGNER_FILE = str(Path(tempfile.mkdtemp()) / "signer.json")
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        writer = _Writer()
        _report("loaded", leaves, _timed(lambda: _load(writer, leaves)))
        _report("signed the tree that was loaded", leaves, _timed(sign_checkpoint))
        _queue(writer, leaves, more)
        _report("sequenced and signed", more, _timed(sequence_and_sign))
        _proofs(leaves + more)
        _verify(leaves + more, everything="--verify" in sys.argv)
    finally:
        teardown_databases(databases, verbosity=0)


def _report(what: str, count: int, seconds: tuple[float, float]) -> None:
    """`seconds` that passed, and that this process worked; the database works beside it."""
    passed, worked = seconds
    print(f"{what}: {count:,} in {passed:.1f} s ({worked:.1f} s of work here), {count / passed:,.0f}/s", flush=True)


def _timed(work: Any) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - worked


class _Writer:
    """Entries for the bench's chains, one after the other around all of them, each hashed as the program does it."""

    def __init__(self) -> None:
        from consent.ledger import audit

        self.at = datetime.now(UTC).replace(microsecond=0)
        self.facts_hash = audit.facts_hash({}, SALT)
        self.heads = [""] * CHAINS

    def _hashed(self, place: int, sequence: int, before: str) -> str:
        """As the program does it, spelled out: ten times as fast. `_verify` says whether it is the same."""
        text = (
            f'{{"actor":"staff","at":"{self.at:%Y-%m-%dT%H:%M:%SZ}","chain":"{_chain(place)}","facts_hash":'
            f'"{self.facts_hash}","kind":"staff_viewed","prev_hash":"{before}","sequence":{sequence},"v":2}}'
        )
        return urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip("=")

    def write(self, numbers: range) -> list[bytes]:
        """The entries of these numbers with their facts; returns their leaves."""
        rows = list(self._rows(numbers))
        columns = "id, chain, sequence, prev_hash, entry_hash, kind, actor, at, facts_hash"
        _copy(f"consent_audit ({columns})", rows)
        _copy("audit_facts (entry_id, salt, facts, about)", ((row[0], SALT, FACTS, "") for row in rows))
        return [urlsafe_b64decode(f"{row[5]}=") for row in rows]

    def _rows(self, numbers: range) -> Iterator[tuple[Any, ...]]:
        for number in numbers:
            place, sequence = number % CHAINS, number // CHAINS + 1
            before = self.heads[place]
            digest = self.heads[place] = self._hashed(place, sequence, before)
            chain = _chain(place)
            yield (
                number + 1, chain, sequence, before, digest, "staff_viewed", "staff", self.at, self.facts_hash,
            )  # fmt: skip

    def write_heads(self, count: int) -> None:
        """Whose the chains are, and where they stand after so many entries."""
        from consent.ledger.models import AuditChain, AuditHead

        begun = min(count, CHAINS)
        AuditChain.objects.bulk_create(
            (AuditChain(chain=_chain(place), subject=f"app:{_chain(place)}") for place in range(begun)),
            ignore_conflicts=True,
        )
        heads = [
            AuditHead(chain=_chain(place), sequence=-(-(count - place) // CHAINS), entry_hash=self.heads[place])
            for place in range(begun)
        ]
        AuditHead.objects.bulk_create(
            heads, update_conflicts=True, unique_fields=["chain"], update_fields=["sequence", "entry_hash"]
        )


def _chain(place: int) -> str:
    return f"chn_bench{place:04d}"


def _copy(into: str, rows: Iterable[tuple[Any, ...]]) -> None:
    from django.db import connection

    with connection.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _load(writer: _Writer, leaves: int) -> None:
    """Entries, leaves, tiles and edge of a log that has been growing for long."""
    from django.db import connection

    from consent.log.merkle import Frontier
    from consent.log.models import LogState

    frontier = Frontier()
    for start in range(0, leaves, PART):
        entries = writer.write(range(start, min(start + PART, leaves)))
        kept = ((number, number + 1, entry) for number, entry in enumerate(entries, start=start))
        _copy("consent_log_leaves (log_index, entry_id, entry_hash)", kept)
        filled = frontier.append(entries)
        _copy("consent_log_tiles (level, number, hashes)", ((tile.level, tile.number, tile.hashes) for tile in filled))
    LogState.objects.update(size=frontier.size, frontier=frontier.to_bytes())
    writer.write_heads(leaves)
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('consent_audit', 'id'), %s)", [leaves])
        cursor.execute("VACUUM ANALYZE")


def _queue(writer: _Writer, leaves: int, more: int) -> None:
    writer.write(range(leaves, leaves + more))
    writer.write_heads(leaves + more)
    _copy("consent_log_queue (entry_id)", ((number + 1,) for number in range(leaves, leaves + more)))


def _proofs(size: int) -> None:
    """By the hash of an entry, as anybody may ask for one."""
    from consent.log.models import LogLeaf
    from consent.log.published import proof_of

    dice, spent, cpu = random.Random(16), [], 0.0
    for _ in range(PROOFS):
        entry_hash = bytes(LogLeaf.objects.get(pk=dice.randrange(size)).entry_hash)
        began, worked = time.perf_counter(), time.process_time()
        assert proof_of(entry_hash)
        spent.append((time.perf_counter() - began) * 1000)
        cpu += time.process_time() - worked
    at95, own = statistics.quantiles(spent, n=20)[-1], cpu * 1000 / PROOFS
    summary = f"a proof: median {statistics.median(spent):.2f} ms, 95th percentile {at95:.2f} ms"
    print(f"{summary}, of which this process worked {own:.2f} ms", flush=True)


def _verify(size: int, *, everything: bool) -> None:
    """All of it, or the first batch: enough to see that what was loaded is what the program would have written."""
    from consent.verification.run import Position, run

    before, early, position = _octets(), 0, Position()

    def walk() -> None:
        nonlocal early
        for found in run(position):
            assert found == [], found
            early = early or (_octets() if position.entries >= size // 10 else 0)
            if not everything:
                return

    took = _timed(walk)
    if not everything:
        return
    _report("verified chains, facts, rows and log", size, took)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    sizes = [f"{octets / 2**20:.0f} MiB" for octets in (before, early, most)]
    print(f"memory: {sizes[0]} before, {sizes[1]} after a tenth of the entries, at most {sizes[2]}", flush=True)


def _octets() -> int:
    """How large this process is now, in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
