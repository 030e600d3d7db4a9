"""`manage.py verify_audit`: does every chain hold, and do the rows say what the chains tell?"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from common.clock import rfc3339
from consent.decisions.late_entries import verify_ends
from consent.ledger import audit
from consent.ledger.models import AuditEntry, AuditHead, AuditPending
from consent.ledger.pending import verify_pending
from consent.ledger.verifying import Broken
from consent.log.verifying import recorded_restores
from consent.verification import state_file
from consent.verification.run import MOST_FOUND, Position, run

_WIDTH = 40
_UNUSABLE = 2  # the exit code where nothing could be checked; findings exit with 1


class Command(BaseCommand):
    help = (
        "Checks the audit chains and their facts, the rows that they tell of (requests, grants, receipts, reads, what "
        "apps were told), the public log, entries that wait to be written and ends that no entry tells of, and names "
        "the first difference of each. Exits with 1 where anything was found, with 2 where it could not check."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--chain", help="check one chain only, for example person:usr_…")
        one.add_argument("--person", help="the same by a person's own ID")
        one.add_argument("--app", help="the same by an app's ID")
        parser.add_argument(
            "--state", type=Path, help="a file that keeps where this stands; a run that was ended goes on from there"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._verify(options)
        except (OSError, DatabaseError) as error:  # of the file of --state, of the database
            raise CommandError(f"It could not be checked: {error}", returncode=_UNUSABLE) from error

    def _verify(self, options: dict[str, Any]) -> None:
        chain = _subject(options)
        only = audit.chain_id(chain) if chain else None
        if chain and only is None:
            message = f"There is no chain {chain}. A chain is person:<own ID> or app:<app ID>."
            raise CommandError(message, returncode=_UNUSABLE)
        path: Path | None = options.get("state")
        position = self._begin(path, only or "") if path else Position(only=only or "")
        self._run(position, path)
        found = dict.fromkeys([*(Broken(*kept) for kept in position.found), *_apart(chain)])
        for flaw in found:
            self.stderr.write(f"{flaw.chain} entry {flaw.sequence}: {flaw.reason}")
        self._report_restores(chain)
        if path:
            path.unlink(missing_ok=True)  # the next run begins anew
        if found:
            more = "or more " if len(position.found) >= MOST_FOUND else ""
            chains = len({flaw.chain for flaw in found})
            raise CommandError(f"{chains} {more}of {AuditHead.objects.count()} chains or the log do not hold.")
        self._report_valid(chain, position)

    def _begin(self, path: Path, only: str) -> Position:
        try:
            position = state_file.read(path, only=only)
        except state_file.NotOurs:
            raise CommandError(
                f"{path} is no state of this command with these options.", returncode=_UNUSABLE
            ) from None
        if position is None:
            return Position(only=only)
        self.stdout.write(f"Going on after {position.entries:,} entries.")
        return position

    def _run(self, position: Position, path: Path | None) -> None:
        entries = AuditEntry.objects.filter(chain=position.only) if position.only else AuditEntry.objects.all()
        total = entries.count() if sys.stderr.isatty() else 0
        for _ in run(position):
            if path:
                state_file.write(path, position)
            self._show(position, total)
        if total:
            self.stderr.write("")

    def _show(self, position: Position, total: int) -> None:
        """A bar that redraws itself on a terminal; elsewhere nothing, so that a log keeps the findings alone."""
        if not total:
            return
        counted = {"chains": ("entries", position.entries), "log": ("leaves", position.log.size)}
        unit, done = counted.get(position.stage, ("", total))
        share = min(1.0, done / total)
        bar = "#" * int(share * _WIDTH)
        what = f"{done:,} {unit}" if unit else position.stage
        self.stderr.write(f"\r[{bar:<{_WIDTH}}] {share:4.0%}  {what:<24}", ending="")
        self.stderr.flush()

    def _report_restores(self, chain: str | None) -> None:
        """For whoever reads this to compare with what they know: the database alone cannot tell whether it was so."""
        for restore in [] if chain else recorded_restores():
            count = sum(last - first + 1 for first, last in restore.lost)
            self.stdout.write(
                f"After a restore of {rfc3339(restore.at)}, {count:,} leaves of the log are without entries."
            )

    def _report_valid(self, chain: str | None, position: Position) -> None:
        deferred = AuditPending.objects.filter(chain=chain) if chain else AuditPending.objects.all()
        if count := deferred.count():
            self.stdout.write(f"{count} entries wait to be written.")
        chains = chain or f"{AuditHead.objects.count()} chains"
        self.stdout.write(f"{chains}, {position.entries} entries: all hold.")


def _subject(options: dict[str, Any]) -> str | None:
    if options.get("person"):
        return audit.person_chain(options["person"])
    return audit.app_chain(options["app"]) if options.get("app") else options.get("chain")


def _apart(chain: str | None) -> Iterator[Broken]:
    """What is found neither in the order of the chains nor in that of the log."""
    yield from verify_pending(chain)
    if not chain:
        yield from verify_ends()
