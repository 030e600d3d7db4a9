"""`manage.py restore_log`: the public log after the database was restored from a backup."""

import re
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError

from consent.errors import LogRefused
from consent.log import keys, restoring, sequencing
from consent.notices.outbox import begin_epoch

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}\Z")


class Command(BaseCommand):
    help = (
        "After the database was restored from a backup: lets the public log grow again to what its mirror has, or "
        "begins a new one where there is no mirror. Run it as the tables' owner, where the signer's file and keys are, "
        "with the sequencer stopped."
    )
    requires_system_checks = ("log",)

    def add_arguments(self, parser: CommandParser) -> None:
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument("--from-mirror", action="store_true", help="take the leaves that are gone from LOG_MIRROR")
        how.add_argument("--new-epoch", metavar="NAME", help="begin the log …/log/NAME; every reader sees the break")
        parser.add_argument(
            "--signer-too", action="store_true", help="with --from-mirror: the signer's file is lost; make it anew"
        )
        parser.add_argument(
            "--last-note", type=Path, metavar="FILE", help="with --new-epoch: the newest checkpoint that anybody has"
        )

    def handle(
        self,
        *args: Any,
        from_mirror: bool,
        new_epoch: str | None,
        signer_too: bool,
        last_note: Path | None,
        **options: Any,
    ) -> None:
        if (signer_too and not from_mirror) or (last_note and from_mirror):
            raise CommandError("--signer-too goes with --from-mirror, --last-note with --new-epoch.")
        if new_epoch is not None and not _NAME.match(new_epoch):
            raise CommandError("NAME is up to 32 of a to z, 0 to 9 and -, for example the day: 2026-11-24.")
        if not sequencing.signs_here():
            raise CommandError("LOG_KEYS is not set here, so nothing can be signed.")
        try:
            if new_epoch is None:
                self._report_restored(restoring.from_mirror(signer_too=signer_too, also=begin_epoch))
            else:
                done = restoring.begin_epoch(new_epoch, last_note=_read(last_note), also=begin_epoch)
                self._report_epoch(new_epoch, done)
        except LogRefused as refused:
            raise CommandError(f"Nothing was changed: {refused}.") from refused
        except ProgrammingError as refused:
            raise CommandError(f"Nothing was changed: run it as the owner of the tables. {refused}") from refused

    def _report_restored(self, done: restoring.Restored) -> None:
        self.stdout.write(f"{done.added} leaves came back, and the log has {done.size}.")
        self.stdout.write(f"The entries of {done.lost} of them are lost, with what they told. Start the sequencer.")

    def _report_epoch(self, name: str, done: restoring.Restored) -> None:
        self.stdout.write(f"{keys.origin(name)} begins with {done.size} leaves. Start the sequencer.")
        self.stdout.write("Readers and witnesses take it for another log until they are given its key:")
        self.stdout.write(str(keys.verifier_keys(name)[0]))


def _read(path: Path | None) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path else None
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
