"""Consents to processing as staff see them."""

from django.contrib import admin

from accounts.staff import AboutPeople, ReadOnly
from agents_proxy.processing_consent.models import ProcessingConsent


@admin.register(ProcessingConsent)
class ConsentAdmin(AboutPeople, ReadOnly):
    """What people agreed to, in the words of then."""

    list_display = ("consent_id", "user", "reach", "app", "given_at", "expires_at", "withdrawn_at")
    list_filter = ("reach",)
    list_select_related = ("user", "app")
    search_fields = ("=consent_id", "=user__public_id")
    ordering = ("-id",)
    fields = (
        "consent_id", "user", "reach", "app", "origin", "purposes", "destinations", "statement_version", "statement",
        "given_at", "expires_at", "withdrawn_at", "end_reason",
    )  # fmt: skip
