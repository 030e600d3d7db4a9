"""Calls of agents as staff see them: that they happened, never what was said."""

from django.contrib import admin

from accounts.staff import ReadOnly
from agents_proxy.proxy.models import Call


@admin.register(Call)
class CallAdmin(ReadOnly):
    """That an agent was asked; never what, and never what it said."""

    list_display = ("agent", "outcome", "duration_ms", "bytes", "started_at")
    list_filter = ("agent", "outcome")
    ordering = ("-id",)
    fields = ("agent", "session_id", "task_id", "started_at", "duration_ms", "outcome", "bytes")
