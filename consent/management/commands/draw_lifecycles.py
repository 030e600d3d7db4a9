"""`manage.py draw_lifecycles`: write what the docs have of the lifecycles and events from the code's tables."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from consent.diagram import page, with_webhook_types


class Command(BaseCommand):
    help = "Writes docs/lifecycle.md, and the webhook types in docs/integrating.md, from the code's tables."

    def handle(self, *args: Any, **options: Any) -> None:
        docs = settings.ROOT / "docs"
        handbook = docs / "integrating.md"
        for path, text in ((docs / "lifecycle.md", page()), (handbook, with_webhook_types(handbook.read_text()))):
            path.write_text(text)
            self.stdout.write(f"{path.name} written")
