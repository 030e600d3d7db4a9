"""What staff see of exports and reads: that they exist, never what they hold."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from common.sql.dialect import ClockTimestamp
from consent.exports.models import Export, Read


@admin.register(Export)
class ExportAdmin(AboutPeople, ReadOnly):
    """That something was sealed, how large and from which segments; the sealed text itself is never read here."""

    list_display = ("export_id", "grant", "revision", "size_bytes", "sealed_at", "readable")
    list_select_related = ("grant__user",)
    search_fields = ("=export_id", "=grant__grant_id")
    ordering = ("-id",)
    fields = ("export_id", "grant", "revision", "size_bytes", "sources", "sealed_at", "readable")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = super().get_queryset(request).defer("ciphertext").select_related("grant__user")
        timed: QuerySet[Any] = found.annotate(looked_at=ClockTimestamp())
        return timed

    @admin.display(description=_("grant live"), boolean=True)
    def readable(self, row: Any) -> bool:
        return bool(row.grant.is_live(row.looked_at))

    def person_of(self, row: Any) -> str:
        user_id: str = row.grant.user.public_id
        return user_id


@admin.register(Read)
class ReadAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "grant", "export", "token", "address_prefix")
    list_select_related = ("grant__user", "export", "token__app")
    list_filter = ("at",)
    search_fields = ("=grant__grant_id", "=token__prefix")
    ordering = ("-id",)
    fields = ("grant", "export", "token", "at", "address_prefix", "batch")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found = super().get_queryset(request).select_related(*self.list_select_related)
        return found.defer("export__ciphertext")

    def person_of(self, row: Any) -> str:
        user_id: str = row.grant.user.public_id
        return user_id
