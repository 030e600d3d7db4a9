"""What staff see of this room, for Django, which looks for it here: metadata, read-only, and looking leaves a trace."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from common.sql.dialect import ClockTimestamp
from consent.decisions import admin as decision_admin
from consent.discovery.models import DirectoryFind, Discovery
from consent.exports.models import Export, Read
from consent.grants import admin as grant_admin
from consent.ledger import admin as ledger_admin
from consent.log.models import AuditCheckpoint
from consent.log.published import missing_witnesses
from consent.notices import admin as notice_admin
from consent.requests import admin as request_admin
from consent.sandbox import admin as sandbox_admin

__all__ = [
    "decision_admin",
    "grant_admin",
    "ledger_admin",
    "notice_admin",
    "request_admin",
    "sandbox_admin",
]


@admin.register(Discovery)
class DiscoveryAdmin(AboutPeople, ReadOnly):
    list_display = ("day", "app", "user", "count", "first_at", "last_at")
    list_select_related = ("app", "user")
    list_filter = ("day",)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("app", "user", "day", "count", "first_at", "last_at")


@admin.register(DirectoryFind)
class DirectoryFindAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "app", "user")
    list_select_related = ("app", "user")
    list_filter = ("day",)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("app", "user", "day", "at")


@admin.register(AuditCheckpoint)
class CheckpointAdmin(ReadOnly):
    list_display = ("at", "size", "root", "cosigned_at")
    fields = ("at", "size", "root", "note", "cosigned_at", "missing")
    readonly_fields = fields
    ordering = ("-id",)

    @admin.display(description=_("witnesses that have not cosigned it"))
    def missing(self, row: Any) -> str:
        return ", ".join(missing_witnesses(row)) or gettext("None")


@admin.register(Export)
class ExportAdmin(AboutPeople, ReadOnly):
    """That something was sealed, how large and from which segments; the sealed text itself is never read here."""

    list_display = ("sealed_at", "app", "revision", "size_bytes", "readable")
    list_select_related = ("grant__user", "grant__app")
    search_fields = ("=export_id", "=grant__grant_id")
    ordering = ("-id",)
    fields = ("export_id", "grant", "revision", "size_bytes", "sources", "sealed_at", "readable")
    unread = ("ciphertext",)
    about = "grant.user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = super().get_queryset(request).select_related("grant__user", "grant__app")
        timed: QuerySet[Any] = found.annotate(looked_at=ClockTimestamp())
        return timed

    @admin.display(description=_("app"))
    def app(self, row: Any) -> str:
        return str(row.grant.app)

    @admin.display(description=_("grant live"), boolean=True)
    def readable(self, row: Any) -> bool:
        return bool(row.grant.is_live(row.looked_at))


@admin.register(Read)
class ReadAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "app", "token", "address_prefix")
    list_select_related = ("grant__user", "export", "token__app")
    list_filter = ("at",)
    search_fields = ("=grant__grant_id", "=token__prefix")
    ordering = ("-id",)
    fields = ("grant", "export", "token", "at", "address_prefix", "batch")
    unread = ("export__ciphertext",)
    about = "grant.user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related(*self.list_select_related)

    @admin.display(description=_("app"))
    def app(self, row: Any) -> str:
        return str(row.token.app)
