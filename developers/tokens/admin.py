"""People's own tokens for managing apps as staff see them: what each may do, never its digest."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from developers.tokens.models import ManagementToken


@admin.register(ManagementToken)
class ManagementTokenAdmin(AboutPeople, ReadOnly):
    list_display = ("__str__", "label", "user", "may", "expires_at", "revoked_at", "last_used_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "expires_at")
    list_select_related = ("user",)
    search_fields = ("=prefix", "label", "=user__email", "=user__public_id")
    ordering = ("-id",)
    fields = ("prefix", "label", "user", "may", "expires_at", "revoked_at", "last_used_at", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("digest")

    @admin.display(description=_("permissions"))
    def may(self, row: ManagementToken) -> str:
        return "; ".join(f"{app_id}: {', '.join(names)}" for app_id, names in row.permissions.items())
