"""Sendings as staff see them: where to and what became of them, never what was sent."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff import AboutPeople, ReadOnly
from agents_proxy.activations.models import Activation


@admin.register(Activation)
class ActivationAdmin(AboutPeople, ReadOnly):
    """What people sent to destinations."""

    list_display = ("activation_id", "destination", "status", "attempts", "created_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("destination", "consent__user")
    search_fields = ("=activation_id", "=destination__destination_id", "=consent__user__public_id")
    ordering = ("-id",)
    fields = (
        "activation_id", "run", "destination", "consent", "number", "status", "attempts", "status_code", "error_code",
        "created_at", "next_attempt_at", "finished_at",
    )  # fmt: skip

    def person_of(self, row: Any) -> str | None:
        user_id: str = row.consent.user.public_id
        return user_id

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("body", "digest")
