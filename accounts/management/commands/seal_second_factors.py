"""`manage.py seal_second_factors`: the secrets of authenticator apps and recovery codes under the newest key."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand
from django.db import transaction

from accounts.sign_in.second_factors import reseal_secrets


class Command(BaseCommand):
    help = "Encrypt stored second factors under the first of DATA_ENCRYPTION_KEYS, so that an older key can go."

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            count = reseal_secrets(Authenticator.objects.order_by("pk"))
        self.stdout.write(f"Second factors under the newest key: {count}")
