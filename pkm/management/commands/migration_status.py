"""`manage.py migration_status`: how far old data has been moved."""

from typing import Any

from django.core.management.base import BaseCommand

from pkm.legacy.models import MigrationStatus
from pkm.legacy.queries import file_states, people_by_status, rows_left


class Command(BaseCommand):
    help = "Tells how many people's old data waits, is being moved, is moved or failed, and how imports ended."

    def handle(self, *args: Any, **options: Any) -> None:
        people = people_by_status()
        for status in MigrationStatus.values:
            self.stdout.write(f"{status}: {people.get(status, 0)}")
        self.stdout.write(f"old rows left: {rows_left()}")
        for state in file_states():
            counts = ", ".join(f"{count} {name}" for name, count in sorted(state.counts.items()))
            self.stdout.write(f"{state.source[:19]}: {state.status}, line {state.checkpoint['line']}, {counts}")
