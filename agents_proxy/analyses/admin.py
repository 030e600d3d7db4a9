"""Analyses as staff see them: how they went, never what they found."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff import AboutPeople, ReadOnly
from agents_proxy.analyses.models import Run


@admin.register(Run)
class RunAdmin(AboutPeople, ReadOnly):
    """Where an analysis stands; what was submitted and what came of it stay sealed."""

    list_display = ("analysis_id", "user", "status", "created_at", "finished_at", "purge_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("=analysis_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("analysis_id", "user", "consent", "status", "created_at", "started_at", "finished_at", "purge_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("input", "profile", "provenance", "metadata")
