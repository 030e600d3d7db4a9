"""`manage.py make_app`: an app for somebody who has an account."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from common.problems import Problem
from developers.applications.actions import make_app


class Command(BaseCommand):
    help = "Make an app, approved at once, and print its app_id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--owner", required=True, help="e-mail address of the account that the app belongs to")
        parser.add_argument("--name", required=True, help="what people see")
        parser.add_argument("--legal-name", required=True)
        parser.add_argument("--website", required=True, help="an https link")
        parser.add_argument("--privacy-policy", required=True, help="an https link")
        parser.add_argument("--contact", required=True, help="an e-mail address")
        parser.add_argument("--verified", action="store_true", help="the legal name was checked")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(email__iexact=options["owner"]).first()
        if owner is None:
            raise CommandError(f"Nobody signs in as {options['owner']}.")
        try:
            app = make_app(
                name=options["name"],
                legal_name=options["legal_name"],
                website=options["website"],
                privacy_policy=options["privacy_policy"],
                contact_email=options["contact"],
                owner=owner,
                by=owner,
                verified=options["verified"],
            )
        except Problem as problem:
            raise CommandError(problem.detail) from None
        self.stdout.write(app.app_id)
