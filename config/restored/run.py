"""All checks, one after the other."""

from collections.abc import Callable, Iterator

from django.db import DatabaseError, transaction

from config.restored import keys, log, notices, schema
from config.restored.lines import Line, fails
from consent.log.models import LogState

PARTS: tuple[tuple[str, Callable[[], Iterator[Line]]], ...] = (
    ("migrations", schema.check_migrations),
    ("constraints", schema.check_constraints),
    ("rules", schema.check_rules),
    ("sequences", schema.check_sequences),
    ("encryption", keys.check_encryption),
    ("receipts", keys.check_receipts),
    ("log keys", log.check_log_keys),
    ("signer", log.check_signer),
    ("mirror", log.check_mirror),
    ("epochs", log.check_epochs),
    ("notices", notices.check_notices),
    ("age", notices.check_age),
)


def run() -> Iterator[Line]:
    """What each check says, in order. One that the database cannot answer fails, and the others go on."""
    for part, check in PARTS:
        try:
            with transaction.atomic():  # a statement that failed would spoil those after it
                lines = list(check())
        except (DatabaseError, LogState.DoesNotExist) as error:
            lines = [fails(part, f"the database cannot answer: {error}".strip())]
        yield from lines
