"""`manage.py make_keys`: fresh secrets for a deployment, printed or kept in a folder. It alone runs without any."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from consent.release import fresh_keys


class Command(BaseCommand):
    help = "Make the secrets that a deployment needs: print them, or add those that are missing to a folder's env file."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--directory", type=Path, help="keep them there in `env` and files beside it, with a release key, mode 0600"
        )

    def handle(self, *args: Any, directory: Path | None, **options: Any) -> None:
        try:
            if directory is None:
                self.stdout.write(fresh_keys.printed())
            else:
                fresh_keys.keep(directory)
        except ValueError as reason:
            raise CommandError(str(reason)) from None
