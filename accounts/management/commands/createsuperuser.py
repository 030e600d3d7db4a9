"""`manage.py createsuperuser`: Django's own, and what comes next."""

from typing import Any

from django.conf import settings
from django.contrib.auth.management.commands import createsuperuser


class Command(createsuperuser.Command):
    """Says what is needed besides the password: it alone opens nothing of /admin/."""

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if options["verbosity"] >= 1:
            self.stdout.write(
                "Next: /admin/ opens with a second factor alone.\n"
                f"  1. Sign in at {settings.BASE_URL}/accounts/login/\n"
                f"  2. Set up an authenticator app or a passkey at {settings.BASE_URL}/accounts/2fa/\n"
                f"  3. Open {settings.BASE_URL}/admin/ and confirm with it"
            )
