"""What staff see of the audit chains, checkpoints and receipts."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff import AboutPeople, ReadOnly
from consent.ledger.models import AuditCheckpoint, AuditEntry, Receipt

_PERSON_CHAIN = "person:"


@admin.register(AuditEntry)
class AuditAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "chain", "sequence", "kind", "actor")
    list_filter = ("kind", "at")
    search_fields = ("=chain", "=entry_hash")
    ordering = ("-id",)
    fields = ("chain", "sequence", "kind", "actor", "at", "facts", "prev_hash", "entry_hash")

    def person_of(self, row: Any) -> str | None:
        chain: str = row.chain
        return chain.removeprefix(_PERSON_CHAIN) if chain.startswith(_PERSON_CHAIN) else None


@admin.register(AuditCheckpoint)
class CheckpointAdmin(ReadOnly):
    list_display = fields = ("at", "root", "head_count")
    ordering = ("-id",)


@admin.register(Receipt)
class ReceiptAdmin(AboutPeople, ReadOnly):
    list_display = ("receipt_id", "request", "event", "created_at")
    list_filter = ("event",)
    search_fields = ("=receipt_id", "=request__request_id")
    ordering = ("-id",)
    fields = ("receipt_id", "request", "event", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("request__user").defer("jws", "app_jws")

    def person_of(self, row: Any) -> str:
        user_id: str = row.request.user.public_id
        return user_id
