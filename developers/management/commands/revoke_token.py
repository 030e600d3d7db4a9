"""`manage.py revoke_token`: end a developer token now."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from developers.models import DeveloperToken
from developers.tokens.actions import revoke_token


class Command(BaseCommand):
    help = "Revoke a developer token by the eight characters after cr_live_; the next call with it is refused."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix")

    def handle(self, *args: Any, prefix: str, **options: Any) -> None:
        token = DeveloperToken.objects.select_related("app").filter(prefix=prefix).first()
        if token is None:
            raise CommandError(f"There is no token cr_live_{prefix}_…")
        ended = revoke_token(token=token, by=None)
        self.stdout.write(f"{token} is revoked." if ended else f"{token} had ended already.")
