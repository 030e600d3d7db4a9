"""`manage.py check_index`: do the index rows, manifests and events tell what is kept?"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from pkm.history.models import Index
from pkm.segments.checks import flaws


class Command(BaseCommand):
    help = (
        "Compares what is told about people's data (domains, counts, freshness, capabilities, manifests with their "
        "scopes, the numbering of events) with the segments, and names every difference. It reads, and writes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--person", help="one person only, by own ID (usr_…)")

    def handle(self, *args: Any, person: str | None = None, **options: Any) -> None:
        people = None
        if person:
            people = list(User.objects.filter(public_id=person).values_list("pk", flat=True))
            if not people:
                raise CommandError(f"There is nobody with the own ID {person}.")
        differing: set[str] = set()
        for flaw in flaws(people=people):
            differing.add(flaw.user_id)
            self.stderr.write(f"{flaw.user_id}: {flaw.reason}")
        if differing:
            raise CommandError(f"What is told of {len(differing)} people is not what they keep.")
        self.stdout.write(f"{len(people) if people else Index.objects.count()} index rows tell what is kept.")
