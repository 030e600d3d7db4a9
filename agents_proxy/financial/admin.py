"""Linked institutions as staff see them: metadata alone."""

from django.contrib import admin

from accounts.staff import AboutPeople, ReadOnly
from accounts.staff_lists import value_filter
from accounts.staff_values import kind_in_words
from agents_proxy.financial.errors import AggregatorProblem
from agents_proxy.financial.models import Item, LinkSession, RefreshRun

_CODES = {"item_removed", AggregatorProblem.code, *(problem.code for problem in AggregatorProblem.__subclasses__())}


@admin.register(Item)
class ItemAdmin(AboutPeople, ReadOnly):
    """That an institution is linked; its token and what was read of it stay sealed."""

    list_display = ("__str__", "user", "status", "created_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("=item_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("item_id", "user", "consent", "institution", "status", "created_at", "updated_at")
    unread = ("access_token", "signals", "cursor")


@admin.register(RefreshRun)
class RefreshAdmin(AboutPeople, ReadOnly):
    list_display = ("item", "status", "error_code", "pages", "added", "modified", "removed", "finished_at")
    list_filter = ("status", value_filter("error_code", sorted(_CODES), kind_in_words))
    identifiers = ("error_code",)
    list_select_related = ("item__user",)
    ordering = ("-id",)
    fields = (
        "item", "status", "attempt", "pages", "added", "modified", "removed", "error_code", "created_at", "started_at",
        "finished_at",
    )  # fmt: skip
    about = "item.user"


@admin.register(LinkSession)
class LinkAdmin(AboutPeople, ReadOnly):
    """Visits to the aggregator's page."""

    list_display = ("user", "status", "created_at", "expires_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    ordering = ("-id",)
    fields = ("link_id", "user", "consent", "item", "status", "created_at", "expires_at", "finished_at")
    unread = ("link_token",)
