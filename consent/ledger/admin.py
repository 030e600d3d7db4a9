"""What staff see of the audit chains, checkpoints and receipts."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from consent.ledger.models import AuditChain, AuditCheckpoint, AuditEntry, Receipt

_PERSON_CHAIN = "person:"


@admin.register(AuditEntry)
class AuditAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "whose", "sequence", "kind", "actor")
    list_filter = ("kind", "at")
    search_fields = ("=chain", "=entry_hash")
    search_help_text = _("The name of a chain, whose it is (person:… or app:…), or the hash of an entry")
    ordering = ("-id",)
    fields = ("chain", "whose", "sequence", "kind", "actor", "at", "what_it_tells", "prev_hash", "entry_hash")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        chains = AuditChain.objects.filter(chain=OuterRef("chain")).values("subject")
        entries: QuerySet[Any] = super().get_queryset(request).select_related("kept")
        named: QuerySet[Any] = entries.annotate(subject=Subquery(chains))
        return named

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        found, repeats = super().get_search_results(request, queryset, search_term)
        return found | queryset.filter(subject=search_term) if search_term else found, repeats

    @admin.display(description=_("whose chain"))
    def whose(self, row: Any) -> str:
        return row.subject or str(_("somebody's who is no longer on record"))

    @admin.display(description=_("facts"))
    def what_it_tells(self, row: Any) -> str:
        return json.dumps(row.facts, ensure_ascii=False, sort_keys=True) if row.facts else ""

    def person_of(self, row: Any) -> str | None:
        subject: str = row.subject or ""
        return subject.removeprefix(_PERSON_CHAIN) if subject.startswith(_PERSON_CHAIN) else None


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
