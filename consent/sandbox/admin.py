"""Sandbox people as staff see them: which test app plays whom. They are accounts of nobody."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts.staff import ReadOnly
from consent.sandbox.models import SandboxPerson


@admin.register(SandboxPerson)
class SandboxPersonAdmin(ReadOnly):
    list_display = fields = ("label", "app", "sharing_id", "created_at")
    list_display_links = ("label", "sharing_id")
    list_select_related = ("app", "user")
    search_fields = ("=app__app_id", "app__name", "label", "=user__public_id")
    ordering = ("-id",)

    @admin.display(description=_("own ID"))
    def sharing_id(self, row: SandboxPerson) -> str:
        user_id: str = row.user.public_id
        return user_id
