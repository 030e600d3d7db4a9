"""`Idempotency-Key`: the first answer, repeated to whoever sends the same call again."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models

from common.clock import database_now
from developers.errors import IdempotencyConflict


class IdempotencyKey(models.Model):
    """The first answer to a call that carried an `Idempotency-Key`, repeated to whoever sends it again."""

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="idempotency_keys", db_index=False)
    operation = models.CharField(max_length=32)
    key = models.CharField(max_length=128)
    body_digest = models.CharField(max_length=64)
    answer = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "idempotency_keys"
        constraints = [models.UniqueConstraint(fields=["app", "operation", "key"], name="idempotency_key_once")]


@dataclass(frozen=True)
class Claim:
    """A key that this transaction holds; `answer` is the first one where there was one."""

    pk: int
    answer: dict[str, Any] | None

    def keep(self, answer: dict[str, Any]) -> None:
        """Keep the answer; it becomes visible with the transaction that made it."""
        IdempotencyKey.objects.filter(pk=self.pk).update(answer=answer)


def claim_idempotency_key(*, app_pk: int, operation: str, key: str, body: dict[str, Any], lifetime: timedelta) -> Claim:
    """Claim `key` for this body inside the caller's transaction; raises `IdempotencyConflict` for another body.

    A second caller waits at the unique index until the first one commits, and then finds the first answer. A refusal
    rolls the claim back, so only answers are repeated.
    """
    now = database_now()
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    IdempotencyKey.objects.filter(app_id=app_pk, operation=operation, key=key, expires_at__lte=now).delete()
    IdempotencyKey.objects.bulk_create(
        [
            IdempotencyKey(
                app_id=app_pk, operation=operation, key=key, body_digest=digest, answer={}, expires_at=now + lifetime
            )
        ],
        ignore_conflicts=True,
    )
    claimed = IdempotencyKey.objects.select_for_update().get(app_id=app_pk, operation=operation, key=key)
    if claimed.body_digest != digest:
        raise IdempotencyConflict("Use a new Idempotency-Key for another request.")
    return Claim(pk=claimed.pk, answer=claimed.answer or None)


def forget_expired_keys(*, now: datetime) -> int:
    """Delete the keys whose answers need not be repeated any more; returns how many."""
    deleted, _ = IdempotencyKey.objects.filter(expires_at__lte=now).delete()
    return deleted
