"""`manage.py make_token`: a developer token, printed once."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from common.problems import Problem
from developers.apps.queries import app_by_id
from developers.members.queries import first_owner
from developers.tokens.actions import mint_token
from developers.tokens.models import Permission


class Command(BaseCommand):
    help = "Make a developer token for an app and print it, once: only its digest is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("app_id")
        parser.add_argument("--label", default="made by an operator")
        parser.add_argument(
            "--permissions", default=",".join(Permission.values), help=f"of {', '.join(Permission.values)}"
        )
        parser.add_argument("--days", type=int, default=90, help="until it expires, at most 365")
        parser.add_argument("--header-only", action="store_true", help="refuse it in a query string")

    def handle(self, *args: Any, **options: Any) -> None:
        app = app_by_id(options["app_id"])
        if app is None:
            raise CommandError(f"There is no app {options['app_id']}.")
        try:
            _, token = mint_token(
                app=app,
                label=options["label"],
                by=first_owner(app),
                permissions=[name.strip() for name in options["permissions"].split(",") if name.strip()],
                expires_at=timezone.now() + timedelta(days=min(options["days"], 10_000)),
                header_only=options["header_only"],
            )
        except Problem as problem:
            raise CommandError(problem.detail) from None
        self.stdout.write(token)
