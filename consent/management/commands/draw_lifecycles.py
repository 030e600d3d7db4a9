"""`manage.py draw_lifecycles`: write docs/lifecycle.md from the tables."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from consent.diagram import page


class Command(BaseCommand):
    help = "Writes docs/lifecycle.md from the lifecycles' tables."

    def handle(self, *args: Any, **options: Any) -> None:
        path = settings.ROOT / "docs" / "lifecycle.md"
        path.write_text(page())
        self.stdout.write(f"{path.name} written")
