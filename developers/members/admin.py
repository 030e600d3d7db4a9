"""Invitations to apps as staff see them: whom an app asked to join, never the secret of the link."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff import AboutPeople, ReadOnly
from developers.members.models import AppInvitation


@admin.register(AppInvitation)
class InvitationAdmin(AboutPeople, ReadOnly):
    list_display = (
        "created_at",
        "app",
        "email",
        "person",
        "role",
        "invited_by",
        "expires_at",
        "accepted_at",
        "withdrawn_at",
    )
    list_filter = ("role", ("accepted_at", admin.EmptyFieldListFilter), ("withdrawn_at", admin.EmptyFieldListFilter))
    list_select_related = ("app", "invited_by", "person")
    search_fields = ("=app__app_id", "app__name", "=email", "=invited_by__email")
    ordering = ("-id",)
    fields = (
        "app", "email", "person", "role", "hands_over", "invited_by", "created_at", "expires_at",
        "accepted_at", "accepted_by", "withdrawn_at",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("digest")

    def person_of(self, row: Any) -> str:
        user_id: str = row.invited_by.public_id
        return user_id
