"""What staff see of consent: metadata, never what was shared. Everything is read-only, and looking leaves a trace."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.database import database_now
from accounts.staff import AboutPeople, ReadOnly
from accounts.text import is_plain
from consent import admin_templates, admin_webhooks  # noqa: F401  # they register their pages
from consent.actions import terminate
from consent.models import (
    AppReport,
    AuditCheckpoint,
    AuditEntry,
    ConsentRequest,
    Discovery,
    Export,
    Grant,
    Notice,
    Read,
    Receipt,
)

_PERSON_CHAIN = "person:"


@admin.register(ConsentRequest)
class RequestAdmin(AboutPeople, ReadOnly):
    """The connector's key shows as its fingerprint; the person's own note about a decision is theirs."""

    list_display = ("request_id", "app", "user", "scope", "status", "created_at", "expires_at", "decided_at")
    list_filter = ("status", "created_at")
    list_select_related = ("app", "user")
    search_fields = ("=request_id", "=user__public_id", "=app__app_id", "scope")
    ordering = ("-id",)
    fields = (
        "request_id", "app", "app_name", "user", "scope", "attributes", "purpose", "connector_thumbprint",
        "wrapping_alg", "access_duration", "required_attributes", "optional_attributes", "max_reads",
        "refresh_policy", "binding_message", "request_digest", "status", "created_at", "expires_at", "decided_at",
        "decided_by",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("connector_public_key", "decision_note")


@admin.register(Grant)
class GrantAdmin(AboutPeople, ReadOnly):
    """Staff can end a grant, saying why; nothing else about it is theirs to change."""

    list_display = ("grant_id", "app", "user", "scope", "status", "reads", "starts_at", "expires_at")
    list_filter = ("status",)
    list_select_related = ("app", "user")
    search_fields = ("=grant_id", "=request__request_id", "=user__public_id", "=app__app_id", "scope")
    ordering = ("-id",)
    actions = ("end",)
    fields = (
        "grant_id", "request", "app", "user", "scope", "approved_attributes", "status", "starts_at", "expires_at",
        "reads", "max_reads", "ended_at", "ended_by", "end_reason",
    )  # fmt: skip

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_grant")

    @admin.action(description=_("End the selected grants"), permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask for the reason first; the second post ends them, and their ciphertext goes with them."""
        reason = request.POST.get("reason", "").strip()
        if not is_plain(reason) or len(reason) > 280:
            return self._ask_why(request, queryset)
        ended = sum(self._end_one(request, grant, reason) for grant in queryset.order_by("pk"))
        text = ngettext("%d grant was ended.", "%d grants were ended.", ended) % ended
        self.message_user(request, text, messages.SUCCESS if ended else messages.WARNING)
        return None

    def _end_one(self, request: HttpRequest, grant: Grant, reason: str) -> bool:
        """Each in a transaction of its own: nobody's decision waits for another person's grant."""
        by: Any = request.user
        with transaction.atomic():
            ended = terminate(grant_id=grant.grant_id, by=by, reason=reason)
            if ended:
                self.log_change(request, grant, [{"changed": {"fields": ["status"]}}])
        return ended

    def _ask_why(self, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse:
        grants = list(queryset.select_related("app", "user"))
        self._note(request, grants)
        context = {
            **self.admin_site.each_context(request),
            "title": _("End these grants?"),
            "grants": grants,
            "asked_without_reason": "reason" in request.POST,
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/consent/grant/end.html", context)


@admin.register(Export)
class ExportAdmin(AboutPeople, ReadOnly):
    """That something was sealed, how large and from which segments; the sealed text itself is never read here."""

    list_display = ("export_id", "grant", "revision", "size_bytes", "sealed_at", "readable")
    list_select_related = ("grant__user",)
    search_fields = ("=export_id", "=grant__grant_id")
    ordering = ("-id",)
    fields = ("export_id", "grant", "revision", "size_bytes", "sources", "sealed_at", "readable")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("ciphertext").select_related("grant__user")

    @admin.display(description=_("grant live"), boolean=True)
    def readable(self, row: Export) -> bool:
        return row.grant.ended_at is None and row.grant.expires_at > database_now()

    def person_of(self, row: Any) -> str:
        user_id: str = row.grant.user.public_id
        return user_id


@admin.register(Read)
class ReadAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "grant", "export", "token", "address_prefix")
    list_select_related = ("grant__user", "export", "token")
    list_filter = ("at",)
    search_fields = ("=grant__grant_id", "=token__prefix")
    ordering = ("-id",)
    fields = ("grant", "export", "token", "at", "address_prefix", "batch")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return (
            super().get_queryset(request).select_related("grant__user", "export", "token").defer("export__ciphertext")
        )

    def person_of(self, row: Any) -> str:
        user_id: str = row.grant.user.public_id
        return user_id


@admin.register(AuditEntry)
class AuditAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "chain", "sequence", "kind", "actor")
    list_filter = ("kind", "at")
    search_fields = ("=chain", "=entry_hash")
    ordering = ("-id",)
    fields = ("chain", "sequence", "kind", "actor", "at", "facts", "prev_hash", "entry_hash")

    def person_of(self, row: Any) -> str | None:
        chain: str = row.chain
        return chain.removeprefix(_PERSON_CHAIN) if chain.startswith(_PERSON_CHAIN) else None


@admin.register(AuditCheckpoint)
class CheckpointAdmin(ReadOnly):
    list_display = fields = ("at", "root", "head_count")
    ordering = ("-id",)


@admin.register(Receipt)
class ReceiptAdmin(AboutPeople, ReadOnly):
    list_display = ("receipt_id", "request", "event", "created_at")
    list_filter = ("event",)
    search_fields = ("=receipt_id", "=request__request_id")
    ordering = ("-id",)
    fields = ("receipt_id", "request", "event", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("request__user").defer("jws", "app_jws")

    def person_of(self, row: Any) -> str:
        user_id: str = row.request.user.public_id
        return user_id


@admin.register(Notice)
class NoticeAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "app", "sequence", "kind", "request")
    list_filter = ("kind", "at")
    search_fields = ("=app__app_id", "=request__request_id")
    ordering = ("-id",)
    fields = ("app", "sequence", "kind", "request", "at", "facts")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("app", "request__user")

    def person_of(self, row: Any) -> str:
        user_id: str = row.request.user.public_id
        return user_id


@admin.register(Discovery)
class DiscoveryAdmin(AboutPeople, ReadOnly):
    list_display = ("day", "app", "user", "count", "first_at", "last_at")
    list_select_related = ("app", "user")
    list_filter = ("day",)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("-day", "-id")
    fields = ("app", "user", "day", "count", "first_at", "last_at")


@admin.register(AppReport)
class ReportAdmin(AboutPeople, ReadOnly):
    """What people told about an app, the oldest unhandled first."""

    list_display = ("created_at", "app", "user", "handled_at")
    list_select_related = ("app", "user")
    list_filter = (("handled_at", admin.EmptyFieldListFilter),)
    search_fields = ("=app__app_id", "=user__public_id")
    ordering = ("handled_at", "created_at")
    actions = ("handled",)
    fields = ("app", "user", "text", "created_at", "handled_at")

    def has_handle_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_appreport")

    @admin.action(description=_("Mark as handled"), permissions=["handle"])
    def handled(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        count = queryset.filter(handled_at=None).update(handled_at=database_now())
        text = ngettext("%d report was marked as handled.", "%d reports were marked as handled.", count) % count
        self.message_user(request, text, messages.SUCCESS if count else messages.WARNING)
