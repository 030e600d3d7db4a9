"""What staff see of discoveries."""

from django.contrib import admin

from accounts.staff import AboutPeople, ReadOnly
from consent.discovery.models import DirectoryFind, Discovery


@admin.register(Discovery)
class DiscoveryAdmin(AboutPeople, ReadOnly):
    list_display = ("day", "app", "user", "count", "first_at", "last_at")
    list_select_related = ("app", "user")
    list_filter = ("day",)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("app", "user", "day", "count", "first_at", "last_at")


@admin.register(DirectoryFind)
class DirectoryFindAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "app", "user")
    list_select_related = ("app", "user")
    list_filter = ("day",)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("app", "user", "day", "at")
