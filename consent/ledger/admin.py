"""What staff see of the audit chains and receipts."""

import re
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Substr
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from accounts.staff_lists import value_filter
from accounts.staff_values import in_words, kind_in_words
from consent.event_types import EventType
from consent.ledger.models import AuditChain, AuditEntry, Receipt
from developers.apps.models import App

_HASH = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_PERSON_CHAIN = "person:"


@admin.register(AuditEntry)
class AuditAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "whose", "sequence", "kind", "actor")
    list_filter = (
        value_filter("kind", sorted(event for event in EventType if not event.is_derived), kind_in_words),
        "at",
    )
    identifiers = ("kind", "actor")
    search_fields = ("=chain",)
    ordering = ("-id",)
    fields = ("chain", "whose", "sequence", "kind", "actor", "at", "facts_shown", "prev_hash", "entry_hash")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        chains = AuditChain.objects.filter(chain=OuterRef("chain")).values("subject")
        entries: QuerySet[Any] = super().get_queryset(request).select_related("kept")
        apps = App.objects.filter(app_id=Substr(OuterRef("subject"), len("app:") + 1)).values("name")
        named: QuerySet[Any] = entries.annotate(subject=Subquery(chains)).annotate(app_name=Subquery(apps))
        return named

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        named = AuditChain.objects.filter(subject=search_term).values_list("chain", flat=True)
        if chains := list(named):
            return queryset.filter(chain__in=chains), False
        if _HASH.match(search_term):  # the one search that no index serves: each entry would pay for it
            return queryset.filter(Q(chain=search_term) | Q(entry_hash=search_term)), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description=_("whose chain"))
    def whose(self, row: Any) -> str:
        kind, _colon, named = (row.subject or "").partition(":")
        if not kind:
            return gettext("Somebody who is no longer on record")
        if kind == "person":
            return gettext("Person %s") % named
        return gettext("App %s") % (row.app_name or named) if kind == "app" else gettext("This service")

    @admin.display(description=_("facts"))
    def facts_shown(self, row: Any) -> str:
        return in_words(row.facts)

    def person_of(self, row: Any) -> str | None:
        subject: str = row.subject or ""
        return subject.removeprefix(_PERSON_CHAIN) if subject.startswith(_PERSON_CHAIN) else None


@admin.register(Receipt)
class ReceiptAdmin(AboutPeople, ReadOnly):
    list_display = ("created_at", "app", "event")
    list_filter = (value_filter("event", sorted(event for event in EventType if event.has_receipt), kind_in_words),)
    identifiers = ("event",)
    search_fields = ("=receipt_id", "=request__request_id")
    ordering = ("-id",)
    fields = ("receipt_id", "request", "event", "created_at")
    unread = ("claims", "audit", "app_audit", "signature", "app_signature")
    about = "request.user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("request__user", "request__app")

    @admin.display(description=_("app"))
    def app(self, row: Any) -> str:
        return str(row.request.app)
