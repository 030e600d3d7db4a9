"""`manage.py verify_restore`: may a database that was restored from a backup be opened to people again?"""

from collections.abc import Callable, Iterator
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, transaction

from config.restored import keys, log, notices, schema
from config.restored.lines import Line, Mark, fails, left_out, passes
from consent.log.models import LogState

PARTS: tuple[tuple[str, Callable[[], Iterator[Line]]], ...] = (
    ("migrations", schema.check_migrations),
    ("constraints", schema.check_constraints),
    ("rules", schema.check_rules),
    ("sequences", schema.check_sequences),
    ("encryption", keys.check_sealed_columns),
    ("receipts", keys.check_receipts),
    ("log keys", log.check_checkpoint_signature),
    ("signer", log.check_signer),
    ("mirror", log.check_mirror),
    ("epochs", log.check_epochs),
    ("notices", notices.check_notices),
    ("age", notices.check_age),
)
_LONG = {"audit": "verify_audit", "index": "check_index"}


def run() -> Iterator[Line]:
    """What each check says, in order. One that the database cannot answer fails, and the others go on."""
    for part, check in PARTS:
        try:
            with transaction.atomic():  # a statement that failed would spoil those after it
                lines = list(check())
        except (DatabaseError, LogState.DoesNotExist) as error:
            lines = [fails(part, f"the database cannot answer: {error}".strip())]
        yield from lines


class Command(BaseCommand):
    help = (
        "Looks through a database that was restored from a backup, before the doors are opened: migrations, "
        "constraints, triggers, sequences, whether the keys open what it holds, the public log against its signer and "
        "mirror, and all that verify_audit and check_index look at. Says a line of each and writes nothing. Exits with "
        "1 where anything fails. Run it as the tables' owner; what is not set on this machine is said to be left out."
    )
    requires_system_checks = ()  # a key that is missing is a line of this

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--quick", action="store_true", help="leave out verify_audit and check_index, which read every row"
        )

    def handle(self, *args: Any, quick: bool, **options: Any) -> None:
        found: list[Line] = []
        for line in self._lines(quick):
            self.stdout.write(str(line))
            found.append(line)
        failed = sum(line.mark is Mark.FAILS for line in found)
        if failed:
            raise CommandError(f"{failed} of {len(found)} lines do not hold: keep the doors closed.")
        missing = ", ".join(line.part for line in found if line.mark is Mark.LEFT_OUT)
        self.stdout.write(f"All that was looked at holds. Left out: {missing or 'nothing'}.")

    def _lines(self, quick: bool) -> Iterator[Line]:
        yield from run()
        for part, command in _LONG.items():
            yield left_out(part, f"run `{command}` by itself") if quick else self._outcome_of(part, command)

    def _outcome_of(self, part: str, command: str) -> Line:
        """The line about a command that looks by itself, and has printed its findings before."""
        try:
            call_command(command, stdout=self.stdout, stderr=self.stderr)
        except (CommandError, DatabaseError) as error:
            return fails(part, f"`{command}`: {error}".strip())
        return passes(part, f"`{command}` found nothing")
