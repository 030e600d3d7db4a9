"""Outbound messages as staff see them, and the wording that two members of staff agree on."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Max, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, NeverDeleted, ReadOnly
from agents_proxy.messaging import templates as messaging_templates
from agents_proxy.messaging.models import MessageTemplate, OutboundMessage


class TemplateForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    def clean_text(self) -> str:
        return self._checked("text", messaging_templates.text_error)

    def clean_name(self) -> str:
        return self._checked("name", messaging_templates.name_error)

    def clean_language(self) -> str:
        return self._checked("language", messaging_templates.language_error)

    def _checked(self, field: str, error_of: Any) -> str:
        value: str = self.cleaned_data[field]
        if reason := error_of(value):
            raise forms.ValidationError(str(reason))
        return value


@admin.register(MessageTemplate)
class TemplateAdmin(NeverDeleted):
    """Proposed by one member of staff, approved by another; then its wording stays. New wording is a new version."""

    form = TemplateForm
    list_display = ("name", "language", "version", "active", "proposed_by", "approved_by", "created_at")
    list_filter = ("active", "language", ("approved_by", admin.EmptyFieldListFilter))
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
        self._decide(request, queryset, lambda pk: messaging_templates.approve_template(template_pk=pk, by=by))

    @admin.action(description=_("Retire: no message is sent with it any more"), permissions=["decide"])
    def retire(self, request: HttpRequest, queryset: QuerySet[MessageTemplate]) -> None:
        self._decide(request, queryset, lambda pk: messaging_templates.retire_template(template_pk=pk))

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

    list_display = ("person", "template", "status", "error_code", "created_at")
    list_filter = ("status",)
    list_select_related = ("template", "consent__user")
    search_fields = ("=message_id", "=task_id", "=upstream_id")
    searched_among_newest = ("=task_id", "=upstream_id")
    ordering = ("-id",)
    fields = (
        "message_id", "consent", "task_id", "template", "status", "upstream_id", "error_code", "created_at",
        "updated_at",
    )  # fmt: skip
    about = "consent.user"

    @admin.display(description=_("person"))
    def person(self, row: OutboundMessage) -> str | None:
        return str(row.consent.user) if row.consent else None
