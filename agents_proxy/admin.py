"""What staff see of this room, for Django, which looks for it here: metadata alone, never what was sent or found."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from agents_proxy.activations.models import Activation
from agents_proxy.analyses.models import Run
from agents_proxy.deletions.models import Deletion
from agents_proxy.destinations.models import Destination
from agents_proxy.financial import admin as financial_admin
from agents_proxy.health import admin as health_admin
from agents_proxy.messaging import admin as messaging_admin
from agents_proxy.processing_consent.models import ProcessingConsent

__all__ = ["financial_admin", "health_admin", "messaging_admin"]


@admin.register(ProcessingConsent)
class ConsentAdmin(AboutPeople, ReadOnly):
    """What people agreed to, in the words of then."""

    list_display = ("user", "reach", "app", "given_at", "expires_at", "withdrawn_at")
    list_filter = ("reach",)
    list_select_related = ("user", "app")
    search_fields = ("=consent_id", "=user__public_id")
    ordering = ("-id",)
    fields = (
        "consent_id", "user", "reach", "app", "origin", "purposes", "destinations", "statement_version", "statement",
        "given_at", "expires_at", "withdrawn_at", "end_reason",
    )  # fmt: skip


@admin.register(Run)
class RunAdmin(AboutPeople, ReadOnly):
    """Where an analysis stands; what was submitted and what came of it stay sealed."""

    list_display = ("user", "status", "created_at", "finished_at", "kept_until")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("=analysis_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("analysis_id", "user", "consent", "status", "created_at", "started_at", "finished_at", "kept_until")
    unread = ("input", "profile", "provenance", "metadata")

    @admin.display(description=_("kept until"), ordering="purge_at")
    def kept_until(self, row: Run) -> Any:
        return row.purge_at


@admin.register(Activation)
class ActivationAdmin(AboutPeople, ReadOnly):
    """What people sent to destinations."""

    list_display = ("destination", "status", "attempts", "created_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("destination", "consent__user")
    search_fields = ("=activation_id", "=destination__destination_id", "=consent__user__public_id")
    ordering = ("-id",)
    fields = (
        "activation_id", "run", "destination", "consent", "counted", "status", "attempts", "status_code", "error_code",
        "created_at", "next_attempt_at", "finished_at",
    )  # fmt: skip
    unread = ("body", "digest")
    about = "consent.user"

    @admin.display(description=_("sending"), ordering="number")
    def counted(self, row: Activation) -> int:
        """From one on."""
        return row.number + 1


@admin.register(Deletion)
class DeletionAdmin(AboutPeople, ReadOnly):
    """Who got something of people, and what became of having it deleted there; of those who are erased, too."""

    list_display = ("receiver", "status", "last_at", "requested_at", "finished_at", "error_code")
    list_filter = ("status", ("erasure", admin.EmptyFieldListFilter))
    list_select_related = ("destination", "consent__user", "erasure__user")
    search_fields = ("=deletion_id", "=destination__destination_id", "=consent__consent_id")
    ordering = ("-id",)
    fields = (
        "deletion_id", "receiver", "consent", "erasure", "destination", "origin", "status", "first_at", "last_at",
        "requested_at", "attempts", "next_attempt_at", "status_code", "error_code", "finished_at", "confirmation",
    )  # fmt: skip
    unread = ("subject",)
    about = "consent.user"  # who is erased has no history any more to note it in

    @admin.display(description=_("who got something"))
    def receiver(self, row: Any) -> str:
        return str(row)


@admin.register(Destination)
class DestinationAdmin(ReadOnly):
    """Where apps want what people send to them."""

    list_display = ("name", "app", "url", "created_at", "disabled_at", "removed_at")
    list_select_related = ("app",)
    search_fields = ("=destination_id", "=app__app_id", "name", "url")
    ordering = ("-id",)
    fields = ("destination_id", "app", "name", "url", "created_at", "disabled_at", "removed_at")
    unread = ("secret",)
