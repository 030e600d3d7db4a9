"""What staff see of the old system's records: whose they are and how far they have been moved, never what is sealed."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from pkm.legacy.models import LegacyBlob, LegacyMetadata, MigrationState


@admin.register(LegacyBlob)
class LegacyBlobAdmin(AboutPeople, ReadOnly):
    list_display = fields = ("domain", "user", "updated_at")
    list_select_related = ("user",)
    list_filter = ("domain",)
    search_fields = ("=user__public_id", "=domain")
    ordering = ("-id",)
    unread = ("jwe",)


@admin.register(LegacyMetadata)
class LegacyMetadataAdmin(AboutPeople, ReadOnly):
    list_display = fields = ("domain", "user", "updated_at")
    list_select_related = ("user",)
    search_fields = ("=user__public_id", "=domain")
    ordering = ("-id",)


@admin.register(MigrationState)
class MigrationStateAdmin(AboutPeople, ReadOnly):
    list_display = ("source", "user", "status", "last_error", "changed")
    list_select_related = ("user",)
    list_filter = ("status",)
    search_fields = ("=user__public_id", "source")
    ordering = ("-id",)
    fields = ("source", "user", "status", "counts", "checkpoint", "last_error", "created_at", "updated_at")

    @admin.display(description=_("changed at"), ordering="updated_at")
    def changed(self, row: MigrationState) -> Any:
        return row.updated_at
