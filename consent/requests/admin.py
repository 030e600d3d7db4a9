"""Requests as staff see them, and templates under four eyes: whoever proposes a version cannot approve it."""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, NeverDeleted, ReadOnly
from accounts.staff_fields import DurationField
from accounts.staff_values import NOTHING
from common.durations import duration
from common.forms import PlainLine, plain_line
from common.problems import Problem
from consent.requests import digest as request_digest
from consent.requests import templates as request_templates
from consent.requests.models import ConsentRequest, ScopeTemplate
from pkm.registry import queries as registry_queries
from pkm.registry.labels import described, translated


def with_identifier(label: str, identifier: str) -> SafeString:
    return format_html("{} <small><code>{}</code></small>", label, identifier)


def attributes_in_words(paths: Sequence[str] | None) -> str:
    """Each by its label, one to a line."""
    known = {one.path: one.label for group in described(paths or ()) for one in group.attributes}
    lines = ((with_identifier(known.get(path, path), path),) for path in paths or ())
    return format_html_join("", "<div>{}</div>", lines) or NOTHING


@admin.register(ConsentRequest)
class RequestAdmin(AboutPeople, ReadOnly):
    """The connector's key shows as its fingerprint; the person's own note about a decision is theirs."""

    list_display = ("app", "what", "user", "status", "created_at", "expires_at", "decided_at")
    list_filter = ("status", "created_at")
    filters_by_index = ("status__exact=pending",)
    list_select_related = ("app", "user", "scope_entry")
    search_fields = ("=request_id", "=user__public_id", "=app__app_id", "=scope_entry__scope")
    ordering = ("-id",)
    fields = (
        "request_id", "app", "app_name", "user", "scope_shown", "attributes_shown", "purpose", "connector_thumbprint",
        "wrapping_alg", "requested_access", "required_shown", "optional_shown", "max_reads",
        "refresh_policy", "binding_message", *request_digest.OPTIONAL, "request_digest", "status", "created_at",
        "expires_at", "decided_at", "decided_by",
    )  # fmt: skip
    unread = ("connector_public_key", "decision_note")
    identifiers = ("decided_by",)

    @admin.display(description=_("scope"))
    def what(self, row: ConsentRequest) -> str:
        return translated(row.scope_entry.scope_label)

    @admin.display(description=_("scope"))
    def scope_shown(self, row: ConsentRequest) -> str:
        return with_identifier(self.what(row), row.scope)

    @admin.display(description=_("attributes"))
    def attributes_shown(self, row: ConsentRequest) -> str:
        return attributes_in_words(row.attributes)

    @admin.display(description=_("required attributes"))
    def required_shown(self, row: ConsentRequest) -> str:
        return attributes_in_words(row.required_attributes)

    @admin.display(description=_("optional attributes"))
    def optional_shown(self, row: ConsentRequest) -> str:
        return attributes_in_words(row.optional_attributes)

    @admin.display(description=_("access asked for"))
    def requested_access(self, row: ConsentRequest) -> str:
        return duration(row.access_duration)


_SHORTEST, _LONGEST = 300, 31536000
_PROPOSED = ("template_id", "name", "scope", "purpose", "max_access_duration", "max_reads")


class TemplateForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    """What a version allows. The words are shown to people, so they are plain."""

    template_id = forms.RegexField(label=_("Template ID"), regex=r"\A[A-Za-z0-9_]{1,64}\Z", max_length=64)
    purpose = PlainLine(
        label=_("Purpose"), min_length=8, max_length=280, widget=forms.Textarea(attrs={"rows": 2, "cols": 60})
    )
    max_access_duration = DurationField(label=_("Longest access"), shortest=_SHORTEST, longest=_LONGEST, initial=86400)
    max_reads = forms.IntegerField(label=_("Most reads"), min_value=1, max_value=1_000_000, required=False)

    def clean_name(self) -> str:
        return plain_line(self.cleaned_data["name"])

    def clean_scope(self) -> str:
        scope: str = self.cleaned_data["scope"]
        entry = registry_queries.entry_for(scope)
        if entry is None or not entry.exposure_enabled:
            raise forms.ValidationError(gettext("The registry exposes no such scope."))
        return scope


@admin.register(ScopeTemplate)
class TemplateAdmin(NeverDeleted):
    """To change a template, propose its next version; approving that ends the one before."""

    form = TemplateForm
    list_display = (
        "template_id", "version", "name", "scope", "longest_access", "active", "proposed_by", "approved_by",
        "approved_at",
    )  # fmt: skip
    list_filter = ("active", ("approved_by", admin.EmptyFieldListFilter))
    list_select_related = ("proposed_by", "approved_by")
    search_fields = ("template_id", "name", "scope")
    ordering = ("template_id", "-version")
    actions = ("approve", "withdraw")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return _PROPOSED
        shown = ("template_id", "name", "scope", "purpose", "longest_access", "max_reads")
        return (*shown, "version", "proposed_by", "created_at", "approved_by", "approved_at", "active")

    @admin.display(description=_("longest access"), ordering="max_access_duration")
    def longest_access(self, row: ScopeTemplate) -> str:
        return duration(row.max_access_duration)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_scopetemplate")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        by: Any = request.user
        proposed = {name: form.cleaned_data[name] for name in _PROPOSED}
        obj.__dict__.update(request_templates.propose_template(by=by, **proposed).__dict__)

    @admin.action(description=_("Approve what somebody else proposed"), permissions=["decide"])
    def approve(self, request: HttpRequest, queryset: QuerySet[ScopeTemplate]) -> None:
        by: Any = request.user
        done = self._each(
            request, queryset, lambda template: request_templates.approve_template(template=template, by=by)
        )
        if done:
            text = ngettext("%d template was approved.", "%d templates were approved.", done) % done
            self.message_user(request, text, messages.SUCCESS)

    @admin.action(description=_("Withdraw: no app can use them any more"), permissions=["decide"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[ScopeTemplate]) -> None:
        ended = [template for template in queryset if request_templates.withdraw_template(template=template)]
        for template in ended:
            self.log_change(request, template, [{"changed": {"fields": ["active"]}}])
        text = ngettext("%d template was withdrawn.", "%d templates were withdrawn.", len(ended)) % len(ended)
        self.message_user(request, text, messages.SUCCESS if ended else messages.WARNING)

    def _each(
        self, request: HttpRequest, queryset: QuerySet[ScopeTemplate], decide: Callable[[ScopeTemplate], None]
    ) -> int:
        """Decide each; a refusal is told and stops none of the others. Returns how many were decided."""
        done = 0
        for template in queryset.order_by("template_id", "version"):
            try:
                decide(template)
            except Problem as problem:
                self.message_user(request, f"{template}: {problem.detail}", messages.ERROR)
                continue
            self.log_change(request, template, [{"changed": {"fields": ["approved_by", "active"]}}])
            done += 1
        return done
