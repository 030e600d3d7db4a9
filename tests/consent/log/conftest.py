"""A log with something in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import connection

from common.sql.triggers import install_rules
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.log import cosigning, keys
from consent.log.sequencing import sequence_and_sign
from consent.rules import RULES
from consent_bridge import notes
from tests.fakes.serving import serving
from tests.fakes.witness import Witness, server_of

AT = datetime(2026, 11, 20, 10, 0, 0, tzinfo=UTC)
Grow = Callable[..., list[AuditEntry]]
Hire = Callable[..., Witness]


@pytest.fixture
def grow(db: None) -> Grow:
    """Appends so many entries to a chain, has them sequenced and signed, and returns all entries by their leaf."""

    def append(count: int, chain: str = "person:a") -> list[AuditEntry]:
        audit.append_all([audit.NewEntry(chain=chain, kind="denied", actor="person", at=AT, facts={})] * count)
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


@pytest.fixture
def hire(settings: Any, tmp_path: Path) -> Iterator[Hire]:
    """Starts a witness of this log, and names it in LOG_WITNESSES."""
    settings.LOG_WITNESSES, settings.LOG_WITNESS_QUORUM = [], None
    cosigning._sizes.clear()
    running = ExitStack()

    def start(name: str, *, away: bool = False) -> Witness:
        logs = [notes.VerifierKey.parse(str(key)) for key in keys.verifier_keys()]
        witness = Witness(
            name=name, key=Ed25519PrivateKey.generate(), logs=logs, path=tmp_path / name.replace("/", "_")
        )
        server = server_of(witness)
        port = server.server_address[1]
        settings.LOG_WITNESSES = [*settings.LOG_WITNESSES, (str(witness.key), f"http://127.0.0.1:{port}")]
        if away:
            server.server_close()
            return witness
        running.enter_context(serving(server))
        return witness

    with running:
        yield start
