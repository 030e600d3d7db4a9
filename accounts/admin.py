"""Staff's view of accounts: who they are and what they may do, never what they keep."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import ActorProfile, Persona, User
from accounts.staff import AboutPeople, NeverDeleted


@admin.register(User)
class UserAdmin(AboutPeople, NeverDeleted):
    """People sign up by themselves; staff may lock them out, and superusers say who is staff."""

    list_display = ("email", "public_id", "is_active", "is_staff", "created_at", "last_login")
    list_filter = ("is_active", "is_staff")
    filters_by_index = ("is_active__exact=0", "is_active__exact=1", "is_staff__exact=0", "is_staff__exact=1")
    search_fields = ("^email", "=public_id")
    ordering = ("-id",)
    fields = (
        "email", "public_id", "display_name", "is_active", "is_staff", "is_superuser", "groups", "sides", "created_at",
        "last_login",
    )  # fmt: skip
    readonly_fields = ("email", "public_id", "display_name", "sides", "created_at", "last_login")

    @admin.display(description=_("Sides in use"))
    def sides(self, row: User) -> str:
        """What they use the service as, the side that they were on last first."""
        profile = ActorProfile.objects.filter(user=row).first()
        if profile is None:
            return "-"
        others = [side for side in profile.personas if side != profile.last_active_persona]
        return ", ".join(str(Persona(side).label) for side in (profile.last_active_persona, *others))

    def person_of(self, row: Any) -> str:
        user_id: str = row.public_id
        return user_id

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Only a superuser hands out powers, and nobody takes their own away by mistake."""
        if not getattr(request.user, "is_superuser", False):
            return (*self.readonly_fields, "is_staff", "is_superuser", "groups")
        if obj is not None and obj.pk == request.user.pk:
            return (*self.readonly_fields, "is_active", "is_staff", "is_superuser")
        return self.readonly_fields
