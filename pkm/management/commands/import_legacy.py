"""`manage.py import_legacy FILE`: bring in what the old system kept."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pkm.legacy.imports import BATCH_LINES, ImportedElsewhere, Step, claim, import_batches

_WIDTH = 30  # characters of the bar


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


class Command(BaseCommand):
    help = (
        "Import the old system's sealed records: JSON lines {user_email, domain, jwe, updated_at}, jwe being PBES2 "
        "under the person's old passphrase. Killed, it goes on where it was; the same file again changes nothing. "
        "Lines that do not fit are named by number and left out, and the command then ends with 1. On PostgreSQL run "
        "it as the owner of the tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the JSON lines")
        parser.add_argument(
            "--batch", type=_at_least_one, default=BATCH_LINES, metavar="LINES", help="lines in one transaction"
        )

    def handle(self, *args: Any, file: Path, batch: int, **options: Any) -> None:
        try:
            counts = self._run(file, batch, quiet=options["verbosity"] == 0)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        except ImportedElsewhere:
            raise CommandError("Another run imports this file. Let it finish, or end it and run this again.") from None
        summary = f"{counts['imported']} imported, {counts['known']} known already, {counts['refused']} refused."
        if counts["refused"]:
            raise CommandError(f"{summary} Mend the lines named above and run this again; the others are in.")
        if options["verbosity"]:
            self.stdout.write(summary)

    def _run(self, file: Path, batch: int, *, quiet: bool) -> dict[str, int]:
        state, size = claim(file), file.stat().st_size
        counts: dict[str, int] = state.counts
        if state.checkpoint["line"]:
            before = f", {counts['refused']} refused before" if counts["refused"] else ""
            self.stdout.write(f"Going on after line {state.checkpoint['line']}{before}.")
        for step in import_batches(file, state, lines=batch):
            counts = step.counts
            for number, reason in step.refused:
                self.stderr.write(f"line {number}: {reason}")
            if not quiet:
                self._show(step, size)
        if not quiet and sys.stderr.isatty():
            self.stderr.write("")
        return counts

    def _show(self, step: Step, size: int) -> None:
        """A bar that redraws itself on a terminal; elsewhere nothing, so that a log keeps the refused lines alone."""
        if not sys.stderr.isatty():
            return
        share = step.offset / size if size else 1.0
        bar = "#" * int(share * _WIDTH)
        self.stderr.write(f"\r[{bar:<{_WIDTH}}] {share:4.0%}  line {step.line:,}", ending="")
        self.stderr.flush()
