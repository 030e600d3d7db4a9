"""A log with something in it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from django.db import connection

from common.sql.triggers import install_rules
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.log.sequencing import sequence_and_sign
from consent.rules import RULES

AT = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)
Grow = Callable[..., list[AuditEntry]]


@pytest.fixture
def grow(db: None) -> Grow:
    """Appends so many entries to a chain, has them sequenced and signed, and returns all entries by their leaf."""

    def append(count: int, chain: str = "person:a") -> list[AuditEntry]:
        for _ in range(count):
            audit.append(chain=chain, kind="denied", actor="person", at=AT, facts={})
        assert sequence_and_sign() == count
        return list(AuditEntry.objects.exclude(leaf=None).order_by("leaf__log_index"))

    return append


@pytest.fixture
def unprotected(db: None) -> Iterator[None]:
    """The tamperer's database: no triggers."""
    with connection.cursor() as cursor:
        for rule in RULES:
            if rule.statements(connection.vendor):
                cursor.execute(rule.statements(connection.vendor)[0])
    yield
    install_rules(connection, RULES)
