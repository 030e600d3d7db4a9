"""The registry, as staff keep it: what can be asked for at all."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import models, transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import NeverDeleted
from accounts.staff_fields import DurationField, LinesField
from common.durations import duration
from common.forms import plain_line
from pkm import scopes
from pkm.hooks import Touched, entries_touched, entry_changed
from pkm.legacy import admin as legacy_admin
from pkm.registry import actions as registry_actions
from pkm.registry.derived import is_definition
from pkm.registry.labels import translated
from pkm.registry.models import Domain, ScopeEntry
from pkm.registry.sync import registry_drift
from pkm.segments.queries import count_people_with_data_in

__all__ = ["DomainAdmin", "ScopeEntryAdmin", "legacy_admin"]

_CANCELS = _("Changing this cancels the requests that wait for a decision.")

# what a request that waits was asked by, and what people and apps are told that it means
_MEANING = (
    "scope_label",
    "description",
    "domain",
    "segment_ids",
    "attributes",
    "sensitivity_tier",
    "max_access_duration",
    "derived",
)


class PlainTextForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    """Words that people read are one line of plain text."""

    def clean_display_name(self) -> str:
        return plain_line(self.cleaned_data["display_name"])

    def clean_scope_label(self) -> str:
        return plain_line(self.cleaned_data["scope_label"])

    def clean_description(self) -> str:
        return plain_line(self.cleaned_data["description"])


class DomainForm(PlainTextForm):
    class Meta:
        help_texts = {"is_active": _("Making it inactive cancels the requests that wait for its scopes.")}
        widgets = {"description": forms.Textarea(attrs={"rows": 2, "cols": 60})}

    def clean_domain_key(self) -> str:
        key: str = self.cleaned_data["domain_key"]
        if not scopes.is_name(key):
            raise forms.ValidationError(gettext("Lower-case letters, digits and underscores, a letter first."))
        return key


@admin.register(Domain)
class DomainAdmin(NeverDeleted):
    """A retired domain is made inactive: its scopes cannot be asked for, and people can still delete what they keep."""

    form = DomainForm
    list_display = ("display_name", "domain_key", "icon", "position", "is_active", "exposed")
    list_filter = ("is_active",)
    search_fields = ("domain_key", "display_name")
    fields = ("domain_key", "display_name", "description", "icon", "position", "is_active")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Domain]:
        exposed = Count("scope_entries", filter=Q(scope_entries__exposure_enabled=True))
        return Domain.objects.annotate(exposed=exposed)

    @admin.display(description=_("scopes that can be asked for"), ordering="exposed")
    def exposed(self, row: Any) -> int:
        count: int = row.exposed
        return count

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("domain_key",) if obj else ()

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "is_active" in form.changed_data and not obj.is_active:
            by: Any = request.user
            registry_actions.retire_domain(domain=obj, by=by)


class OptionalJSON(forms.JSONField):
    """Empty, and not the word `null`, where there is nothing."""

    def prepare_value(self, value: Any) -> Any:
        return None if value is None else super().prepare_value(value)


class ScopeEntryForm(PlainTextForm):
    """A scope and the attributes it covers say the same thing, or are refused; its segments follow from both."""

    attributes = LinesField(
        label=_("Attributes"),
        help_text=_("One to a line, such as lifestyle.food.favorite_cuisine."),
    )
    max_access_duration = DurationField(label=_("Longest access"), shortest=300, longest=31536000, initial=31536000)

    class Meta:
        widgets = {"description": forms.Textarea(attrs={"rows": 2, "cols": 60})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in set(_MEANING) & set(self.fields) if self.instance.pk else ():
            field = self.fields[name]
            field.help_text = format_lazy("{} {}", field.help_text, _CANCELS) if field.help_text else _CANCELS

    def clean_scope(self) -> str:
        text: str = self.cleaned_data["scope"]
        if scopes.parse(text) is None:
            raise forms.ValidationError(gettext("Write a scope such as attr.lifestyle.food.*"))
        return text

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        scope = scopes.parse(cleaned.get("scope") or self.instance.scope)
        if scope is None:
            return cleaned
        listed = cleaned.get("attributes")
        if listed is not None and not all(map(scope.covers, listed)):
            self.add_error("attributes", gettext("List at least one, each inside the scope."))
        elif listed is not None and len(set(listed)) != len(listed):
            self.add_error("attributes", gettext("List each one once."))
        self._check_domain(cleaned, scope)
        self._check_answers(cleaned, listed or [])
        if not self.errors:
            self._set_segments(cleaned["attributes"])
        return cleaned

    def _check_domain(self, cleaned: dict[str, Any], scope: scopes.Scope) -> None:
        domain = cleaned.get("domain")
        if "domain" in cleaned and (domain.domain_key if domain else None) != scope.domain:
            self.add_error("domain", gettext("This is not the domain that the scope names."))

    def _check_answers(self, cleaned: dict[str, Any], listed: list[str]) -> None:
        """An answer in place of a value has its own scope, and comes with no wider one."""
        scope, made = cleaned.get("scope") or self.instance.scope, cleaned.get("derived")
        if made is not None and (listed != [scope.removeprefix("attr.")] or not is_definition(made, path=listed[0])):
            text = gettext("An answer needs a scope of one attribute, a value of the same segment and a known rule.")
            self.add_error("derived", text)
        others = ScopeEntry.objects.filter(scope__in=[f"attr.{path}" for path in listed], derived__isnull=False)
        alone = gettext("An answer in place of a value comes only when it is named.")
        if others.exclude(scope=scope).exists():
            self.add_error("attributes", alone)
        elsewhere = ScopeEntry.objects.exclude(scope=scope).values_list("attributes", flat=True)
        if made is not None and any(set(listed).intersection(attributes) for attributes in elsewhere):
            self.add_error("derived", alone)

    def _set_segments(self, attributes: list[str]) -> None:
        """Exactly those of the attributes; in the order that they had, where they are the same."""
        touched = list(dict.fromkeys(path.rsplit(".", 1)[0] for path in attributes))
        if sorted(touched) != sorted(self.instance.segment_ids):
            self.instance.segment_ids = touched


class StarterFilter(admin.SimpleListFilter):
    """The entries that `sync_registry` would change."""

    title = _("starter list")
    parameter_name = "starter"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("differs", gettext("Differs"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ScopeEntry]) -> QuerySet[ScopeEntry]:
        return queryset.filter(scope__in=registry_drift()) if self.value() == "differs" else queryset


@admin.register(ScopeEntry)
class ScopeEntryAdmin(NeverDeleted):
    """A scope is named once; what it means may change, and what waits on it is then cancelled.

    Whether it can be asked for changes by the actions of the list alone, which say first what that touches.
    """

    form = ScopeEntryForm
    formfield_overrides = {models.JSONField: {"form_class": OptionalJSON}}
    list_display = ("label", "scope", "domain", "sensitivity_tier", "exposure_enabled", "longest_access")
    list_filter = ("domain", "sensitivity_tier", "exposure_enabled", StarterFilter)
    list_select_related = ("domain",)
    search_fields = ("scope", "scope_label", "scope_handle")
    actions = ("expose", "withdraw")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        fields = ("scope", "scope_label", "description", "domain", "attributes", "derived", "sensitivity_tier")
        if obj is None:
            return (*fields, "max_access_duration", "exposure_enabled")
        longest = "max_access_duration" if self.has_change_permission(request, obj) else "longest_access"
        return (*fields, longest, "segments", "exposure_enabled", "scope_handle", "created_at", "updated_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("scope", "segments", "exposure_enabled", "scope_handle", "created_at", "updated_at") if obj else ()

    @admin.display(description=_("label"), ordering="scope_label")
    def label(self, row: ScopeEntry) -> str:
        return translated(row.scope_label)

    @admin.display(description=_("longest access"), ordering="max_access_duration")
    def longest_access(self, row: ScopeEntry) -> str:
        return duration(row.max_access_duration)

    @admin.display(description=_("segments"))
    def segments(self, row: ScopeEntry) -> str:
        return "\n".join(row.segment_ids)

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        # compared with the row, since the form's own idea of what was there comes from the browser
        old = ScopeEntry.objects.select_for_update().filter(pk=obj.pk).values(*_MEANING).first()
        super().save_model(request, obj, form, change)
        if old is not None and ScopeEntry.objects.filter(pk=obj.pk).values(*_MEANING).get() != old:
            entry_changed.send(sender=type(self), entry_pk=obj.pk, by=request.user)

    @admin.action(description=_("Let the selected scopes be asked for"), permissions=["change"])
    def expose(self, request: HttpRequest, queryset: QuerySet[ScopeEntry]) -> HttpResponse | None:
        return self._switch(request, queryset, exposed=True)

    @admin.action(description=_("Withdraw the selected scopes"), permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[ScopeEntry]) -> HttpResponse | None:
        return self._switch(request, queryset, exposed=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[ScopeEntry], *, exposed: bool) -> HttpResponse | None:
        """Ask first, saying what it touches; the second post does it."""
        if request.POST.get("confirmed") != "yes":
            return self._confirmation(request, queryset, exposed=exposed)
        by: Any = request.user
        ends_grants = not exposed and request.POST.get("ends_grants") == "yes"
        chosen = list(queryset.values_list("pk", flat=True))
        if ends_grants and not any(line.to_end for line in self._touched(request, chosen)):
            ends_grants = False  # there is none, or it takes a permission that they do not have
        with transaction.atomic():
            if exposed:
                changed = registry_actions.expose_scopes(entry_pks=chosen)
            else:
                changed = registry_actions.withdraw_scopes(entry_pks=chosen, by=by, ends_grants=ends_grants)
            for entry in changed:
                self.log_change(request, entry, [{"changed": {"fields": ["exposure_enabled"]}}])
        self.message_user(request, _switched(len(changed), exposed=exposed), messages.SUCCESS)
        if ends_grants:
            self.message_user(request, gettext("Their live grants end within minutes."), messages.SUCCESS)
        return None

    def _confirmation(self, request: HttpRequest, queryset: QuerySet[ScopeEntry], *, exposed: bool) -> TemplateResponse:
        entries = list(queryset.select_related("domain"))
        pairs = {pair for entry in entries for pair in entry.segment_ids}
        touched = self._touched(request, [entry.pk for entry in entries])
        context = {
            **self.admin_site.each_context(request),
            "title": (
                ngettext("Let this scope be asked for?", "Let these scopes be asked for?", len(entries))
                if exposed
                else ngettext("Withdraw this scope?", "Withdraw these scopes?", len(entries))
            ),
            "exposed": exposed,
            "entries": entries,
            "touched": [Touched(_("people who keep such data"), count_people_with_data_in(pairs)), *touched],
            "action": "expose" if exposed else "withdraw",
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/pkm/scopeentry/confirm_exposure.html", context)

    def _touched(self, request: HttpRequest, entry_pks: list[int]) -> list[Touched]:
        """What the other rooms say; the choice to end something only for those who may."""
        answers: list[tuple[Any, Any]] = entries_touched.send(sender=type(self), entry_pks=entry_pks)
        lines: list[Touched] = [line for _receiver, reported in answers for line in reported or ()]
        return [line if request.user.has_perm(line.permission) else line._replace(to_end="") for line in lines]


def _switched(count: int, *, exposed: bool) -> str:
    if exposed:
        return ngettext("%d scope can now be asked for.", "%d scopes can now be asked for.", count) % count
    return ngettext("%d scope was withdrawn.", "%d scopes were withdrawn.", count) % count
