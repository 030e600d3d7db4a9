"""`manage.py export_person EMAIL_OR_ID`: all that is held about somebody, for a request of access."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from accounts.erasure.queries import person_named, personal_data_of


class Command(BaseCommand):
    help = "Prints all that is held about a person as JSON: what is in clear, and what is sealed as it is sealed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("person", help="the e-mail address or the own ID (usr_…)")

    def handle(self, *args: Any, person: str, **options: Any) -> None:
        user = person_named(person)
        if user is None:
            raise CommandError(f"There is nobody called {person}.")
        self.stdout.write(json.dumps(personal_data_of(user), cls=DjangoJSONEncoder, ensure_ascii=False, indent=2))
