"""`manage.py erase_person EMAIL_OR_ID`: erase somebody who asked for it, at once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError

from accounts.erasure.actions import ErasureBlocked, erase, order_erasure
from accounts.erasure.queries import consequences_of, obstacles, person_named


class Command(BaseCommand):
    help = "Erases a person, at once and for good: their data, their account and what tells of them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("person", help="the e-mail address or the own ID (usr_…)")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, person: str, yes: bool, **options: Any) -> None:
        user = person_named(person)
        if user is None:
            raise CommandError(f"There is nobody called {person}.")
        if user.erased_at is not None:
            self.stdout.write(f"{user.public_id} was erased on {user.erased_at:%Y-%m-%d}.")
            return
        if words := obstacles(user):
            raise CommandError("\n".join(map(str, words)))
        self.stdout.write(f"{user.email} ({user.public_id})")
        for line in consequences_of(user):
            self.stdout.write(f"  {line}")
        if not yes and input("Type the own ID to erase this person for good: ").strip() != user.public_id:
            raise CommandError("Nothing was erased.")
        try:
            erase(erasure_pk=order_erasure(of=user).pk)
        except ErasureBlocked as refused:
            raise CommandError(str(refused)) from refused
        except ProgrammingError as refused:  # a policy of deploy/postgresql/roles.sql
            raise CommandError(
                "Only the owner of the tables erases at once; use the DATABASE_URL of migrate."
            ) from refused
        self.stdout.write(f"{user.public_id} is erased. Note this own ID outside: docs/operating.md says why.")
