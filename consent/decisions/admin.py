"""Reports about apps, which staff handle."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.staff import AboutPeople, ReadOnly
from common.clock import database_now
from consent.decisions.models import AppReport


@admin.register(AppReport)
class ReportAdmin(AboutPeople, ReadOnly):
    """What people told about an app, the oldest unhandled first."""

    list_display = ("created_at", "app", "user", "handled_at")
    list_select_related = ("app", "user")
    list_filter = (("handled_at", admin.EmptyFieldListFilter),)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("handled_at", "created_at")
    actions = ("handled",)
    fields = ("app", "user", "text", "created_at", "handled_at")

    def has_handle_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_appreport")

    @admin.action(description=_("Mark as handled"), permissions=["handle"])
    def handled(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        count = queryset.filter(handled_at=None).update(handled_at=database_now())
        text = ngettext("%d report was marked as handled.", "%d reports were marked as handled.", count) % count
        self.message_user(request, text, messages.SUCCESS if count else messages.WARNING)
