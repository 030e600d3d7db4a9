"""Destinations as staff see them: never their secrets."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff import ReadOnly
from agents_proxy.destinations.models import Destination


@admin.register(Destination)
class DestinationAdmin(ReadOnly):
    """Where apps want what people send to them."""

    list_display = ("destination_id", "app", "name", "url", "created_at", "disabled_at", "removed_at")
    list_select_related = ("app",)
    search_fields = ("=destination_id", "=app__app_id", "name", "url")
    ordering = ("-id",)
    fields = ("destination_id", "app", "name", "url", "created_at", "disabled_at", "removed_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("secret")
