"""A backup of what the log and the chains are made of, put back as a restore of the whole database would."""

from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from common.sql.triggers import lifted
from consent.ledger.models import AuditChain, AuditEntry, AuditFacts, AuditHead, LogQueue
from consent.log.models import AuditCheckpoint, LogLeaf, LogState, LogTile
from consent.rules import RULES

_MODELS: list[type[Model]] = [
    AuditChain, AuditEntry, AuditFacts, AuditHead, LogQueue, LogLeaf, LogTile, LogState, AuditCheckpoint,
]  # fmt: skip


@dataclass(frozen=True)
class Backup:
    """The rows of these tables as they were."""

    rows: dict[type[Model], list[Any]] = field(
        default_factory=lambda: {model: list(model._default_manager.order_by("pk")) for model in _MODELS}
    )

    def restore(self) -> None:
        """The tables have these rows and no others."""
        tables = {model._meta.db_table for model in _MODELS}
        rules = [rule for rule in RULES if rule.table in tables and rule.statements(connection.vendor)]
        connection.check_constraints()  # of what the test wrote so far: a table with waiting checks keeps its triggers
        with transaction.atomic(), lifted(connection, rules):
            for model in reversed(_MODELS):
                model._default_manager.all()._raw_delete(connection.alias)
            for model, rows in self.rows.items():
                model._default_manager.bulk_create(rows)
