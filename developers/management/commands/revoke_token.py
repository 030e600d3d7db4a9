"""`manage.py revoke_token`: end a developer token now."""

import re
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from developers.tokens.actions import revoke_token
from developers.tokens.models import DeveloperToken


class Command(BaseCommand):
    help = "Revoke a developer token; the next call with it is refused."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix", help="its beginning, as cr_live_ and eight characters; those alone, or all of it")

    def handle(self, *args: Any, prefix: str, **options: Any) -> None:
        eight = re.sub(r"^cr_[a-z]+_", "", prefix)[:8]
        token = DeveloperToken.objects.select_related("app").filter(prefix=eight).first()
        if token is None:
            raise CommandError(f"There is no token with {eight} after cr_live_ or cr_test_.")
        ended = revoke_token(token=token, by=None)
        self.stdout.write(f"{token} is revoked." if ended else f"{token} had ended already.")
