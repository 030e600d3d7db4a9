"""Deletions elsewhere as staff see them: who was asked and who confirmed, never whom it is about."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff import AboutPeople, ReadOnly
from agents_proxy.deletions.models import Deletion


@admin.register(Deletion)
class DeletionAdmin(AboutPeople, ReadOnly):
    """Who got something of people, and what became of having it deleted there; of those who are erased, too."""

    list_display = ("deletion_id", "agent", "destination", "status", "error_code", "requested_at", "attempts",
                    "next_attempt_at", "finished_at")  # fmt: skip
    list_filter = ("status", ("erasure", admin.EmptyFieldListFilter))
    list_select_related = ("destination", "consent__user", "erasure__user")
    search_fields = ("=deletion_id", "=destination__destination_id", "=consent__consent_id")
    ordering = ("-id",)
    fields = (
        "deletion_id", "consent", "erasure", "agent", "destination", "origin", "status", "first_at", "last_at",
        "requested_at", "attempts", "next_attempt_at", "status_code", "error_code", "finished_at", "confirmation",
    )  # fmt: skip

    def person_of(self, row: Any) -> str | None:
        """Whoever is erased has no history any more to note it in."""
        user_id: str | None = row.consent.user.public_id if row.consent else None
        return user_id

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("subject")
