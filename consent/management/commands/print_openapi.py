"""`manage.py print_openapi`: the document that the types of the clients are made from."""

from typing import Any

import orjson
from django.core.management.base import BaseCommand

from consent.api.openapi import served_document


class Command(BaseCommand):
    """To standard output, as JSON."""

    help = "Print the OpenAPI document of the developers' REST."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(orjson.dumps(served_document()).decode())
