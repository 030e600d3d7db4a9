"""`manage.py sync_registry`: bring the registry to the starter list."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pkm.registry.sync import sync_registry


class Command(BaseCommand):
    help = (
        "Bring the registry to the starter list: add what is missing and update what is as the list last had it. What "
        "staff changed or switched off stays, and nothing is removed. Run it after every `migrate`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="print the diff and write nothing; fails where there is any to write"
        )

    def handle(self, *args: Any, dry_run: bool = False, **options: Any) -> None:
        diff = sync_registry(dry_run=dry_run)
        summary = ", ".join(f"{diff.count(kind)} {kind}" for kind in ("added", "changed", "kept", "gone"))
        if options["verbosity"]:
            for line in diff.lines:
                self.stdout.write(str(line))
            for what, count in diff.touched:
                self.stdout.write(f"touches  {what}: {count}")
            self.stdout.write(f"Registry and starter list: {summary}.")
        if dry_run and diff.count("added", "changed"):
            raise CommandError("The registry is behind the starter list; sync_registry without --dry-run brings it.")
