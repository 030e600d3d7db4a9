"""What staff see of profile agents: metadata. They agree on the wording of messages, two of them for each."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, Kept, ReadOnly
from agents_proxy import message_templates
from agents_proxy.models import (
    Call,
    Item,
    LinkSession,
    MessageTemplate,
    OutboundMessage,
    ProcessingConsent,
    RefreshRun,
    Run,
)


class TemplateForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    def clean_text(self) -> str:
        return self._fitting("text", message_templates.unfit_text)

    def clean_name(self) -> str:
        return self._fitting("name", message_templates.unfit_name)

    def clean_language(self) -> str:
        return self._fitting("language", message_templates.unfit_language)

    def _fitting(self, field: str, why_not: Any) -> str:
        value: str = self.cleaned_data[field]
        if reason := why_not(value):
            raise forms.ValidationError(str(reason))
        return value


@admin.register(MessageTemplate)
class TemplateAdmin(Kept):
    """Proposed by one member of staff, approved by another; then its wording stays. New wording is a new version."""

    form = TemplateForm
    list_display = ("name", "language", "version", "active", "proposed_by", "approved_by", "created_at")
    list_filter = ("active", "language")
    list_select_related = ("proposed_by", "approved_by")
    search_fields = ("name",)
    ordering = ("name", "language", "-version")
    actions = ("approve", "retire")
    fields = (
        "name",
        "language",
        "text",
        "version",
        "active",
        "proposed_by",
        "approved_by",
        "approved_at",
        "created_at",
    )
    readonly_fields = ("version", "active", "proposed_by", "approved_by", "approved_at", "created_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and obj is None

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents_proxy.change_messagetemplate")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        latest = MessageTemplate.objects.filter(name=obj.name, language=obj.language).aggregate(Max("version"))
        obj.version, obj.proposed_by = (latest["version__max"] or 0) + 1, request.user
        super().save_model(request, obj, form, change)

    @admin.action(description=_("Approve, in place of the version before"), permissions=["decide"])
    def approve(self, request: HttpRequest, queryset: QuerySet[MessageTemplate]) -> None:
        by: Any = request.user
        self._decide(request, queryset, lambda pk: message_templates.approve_template(template_pk=pk, by=by))

    @admin.action(description=_("Retire: no message is sent with it any more"), permissions=["decide"])
    def retire(self, request: HttpRequest, queryset: QuerySet[MessageTemplate]) -> None:
        self._decide(request, queryset, lambda pk: message_templates.retire_template(template_pk=pk))

    def _decide(self, request: HttpRequest, queryset: QuerySet[MessageTemplate], act: Any) -> None:
        with transaction.atomic():
            done = [template for template in queryset.order_by("version") if act(template.pk)]
            for template in done:
                self.log_change(request, template, [{"changed": {"fields": ["active"]}}])
        self.message_user(request, ngettext("%d template.", "%d templates.", len(done)) % len(done))
        if len(done) < queryset.count():
            self.message_user(
                request, gettext("Nobody approves their own wording, and nothing is decided twice."), messages.WARNING
            )


@admin.register(OutboundMessage)
class MessageAdmin(AboutPeople, ReadOnly):
    """That a message went out, and what became of it; to which number and in which words is kept nowhere."""

    list_display = ("message_id", "task_id", "template", "status", "error_code", "created_at")
    list_filter = ("status",)
    list_select_related = ("template", "consent__user")
    search_fields = ("=message_id", "=task_id", "=upstream_id")
    ordering = ("-id",)
    fields = (
        "message_id", "consent", "task_id", "template", "status", "upstream_id", "error_code", "created_at",
        "updated_at",
    )  # fmt: skip

    def person_of(self, row: Any) -> str | None:
        return row.consent.user.public_id if row.consent else None


@admin.register(ProcessingConsent)
class ConsentAdmin(AboutPeople, ReadOnly):
    """What people agreed to, in the words of then."""

    list_display = ("consent_id", "user", "reach", "app", "given_at", "expires_at", "withdrawn_at")
    list_filter = ("reach",)
    list_select_related = ("user", "app")
    search_fields = ("=consent_id", "=user__public_id")
    ordering = ("-id",)
    fields = (
        "consent_id", "user", "reach", "app", "origin", "purposes", "statement_version", "statement", "given_at",
        "expires_at", "withdrawn_at",
    )  # fmt: skip


@admin.register(Call)
class CallAdmin(ReadOnly):
    """That an agent was asked; never what, and never what it said."""

    list_display = ("agent", "outcome", "duration_ms", "bytes", "started_at")
    list_filter = ("agent", "outcome")
    ordering = ("-id",)
    fields = ("agent", "session_id", "task_id", "started_at", "duration_ms", "outcome", "bytes")


@admin.register(Run)
class RunAdmin(AboutPeople, ReadOnly):
    """Where an analysis stands; what was submitted and what came of it stay sealed."""

    list_display = ("analysis_id", "user", "status", "created_at", "finished_at", "purge_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("=analysis_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("analysis_id", "user", "consent", "status", "created_at", "started_at", "finished_at", "purge_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("input", "profile", "provenance", "metadata")


@admin.register(Item)
class ItemAdmin(AboutPeople, ReadOnly):
    """That an institution is linked; its token and what was read of it stay sealed."""

    list_display = ("item_id", "user", "institution", "status", "created_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("=item_id", "=user__public_id")
    ordering = ("-id",)
    fields = ("item_id", "user", "consent", "institution", "status", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("access_token", "signals", "cursor")


@admin.register(RefreshRun)
class RefreshAdmin(AboutPeople, ReadOnly):
    """How refreshes went."""

    list_display = ("item", "status", "error_code", "pages", "added", "modified", "removed", "finished_at")
    list_filter = ("status", "error_code")
    list_select_related = ("item__user",)
    ordering = ("-id",)
    fields = (
        "item", "status", "attempt", "pages", "added", "modified", "removed", "error_code", "created_at", "started_at",
        "finished_at",
    )  # fmt: skip

    def person_of(self, row: Any) -> str:
        user_id: str = row.item.user.public_id
        return user_id


@admin.register(LinkSession)
class LinkAdmin(AboutPeople, ReadOnly):
    """Visits to the aggregator's page."""

    list_display = ("link_id", "user", "status", "created_at", "expires_at", "finished_at")
    list_filter = ("status",)
    list_select_related = ("user",)
    ordering = ("-id",)
    fields = ("link_id", "user", "consent", "item", "status", "created_at", "expires_at", "finished_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer("link_token")
