"""What staff see of the log: its checkpoints."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts.staff import ReadOnly
from consent.log.models import AuditCheckpoint
from consent.log.published import missing_witnesses


@admin.register(AuditCheckpoint)
class CheckpointAdmin(ReadOnly):
    list_display = ("at", "size", "root", "cosigned_at")
    fields = ("at", "size", "root", "note", "cosigned_at", "missing")
    readonly_fields = fields
    ordering = ("-id",)

    @admin.display(description=_("witnesses that have not cosigned it"))
    def missing(self, row: Any) -> str:
        return ", ".join(missing_witnesses(row))
