"""`manage.py sample_data`: make the sample people, and write the file that says how to sign in as them.

Run again it keeps what is there and repairs what is missing; in another database it makes everything anew.
"""

import json
import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from deploy.sample_data.messaging import ensure_number, ensure_template
from deploy.sample_data.people import ensure_developer, ensure_met, ensure_owner, ensure_staff
from deploy.sample_data.sample_person import SAMPLE


class Command(BaseCommand):
    help = "Make sample people, an app with a token, and a member of staff; write who they are to var/sample.json."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--keep-address", action="store_true", help="leave the file's addresses as they are")
        parser.add_argument(
            "--neighbourhood", type=json.loads, default={}, help="JSON: where each program beside the server is"
        )

    def handle(self, *args: Any, keep_address: bool, neighbourhood: dict[str, str], **options: Any) -> None:
        path = settings.VAR / "sample.json"
        known = _read(path)
        with transaction.atomic():
            owner = ensure_owner(known.get("owner", {}))
            developer, staff = ensure_developer(known.get("developer", {})), ensure_staff(known.get("staff", {}))
            ensure_template(staff)
            sample = {
                "base_url": known.get("base_url", settings.BASE_URL) if keep_address else settings.BASE_URL,
                "owner": {**owner, **ensure_met(owner, developer), "phone_number": ensure_number(owner)},
                "developer": developer,
                "staff": staff,
                "analysis": {**SAMPLE, "email": owner["email"]},
                "neighbourhood": known.get("neighbourhood", {}) if keep_address else neighbourhood,
            }
        if sample != known:
            _write(path, sample)
        self.stdout.write(f"Sample data is in {path}")


def _read(path: Path) -> dict[str, Any]:
    """The file of an earlier run; empty where there is none that can be read."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, sample: dict[str, Any]) -> None:
    """Replace the file in one step; only its owner may read the passwords in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(".sample.json.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(sample, file, indent=2)
    temporary.replace(path)
