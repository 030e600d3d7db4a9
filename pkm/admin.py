"""The registry, as staff keep it: what can be asked for at all."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import NeverDeleted
from common.text import is_plain
from pkm import scopes
from pkm.registry.models import Domain, ScopeEntry
from pkm.segments.queries import people_holding
from pkm.signals import entries_touched, entry_changed

# what a request that waits was asked by, and what people and apps are told that it means
_MEANING = (
    "scope_label",
    "description",
    "domain",
    "segment_ids",
    "attributes",
    "sensitivity_tier",
    "max_access_duration",
)


class PlainTextForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    """Words that people read are one line of plain text."""

    plain = ("display_name", "scope_label", "description")

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        for name in self.plain:
            text = (cleaned or {}).get(name)
            if text and not is_plain(text):
                self.add_error(name, gettext("Use one line of plain text without invisible characters."))
        return cleaned


class DomainForm(PlainTextForm):
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
            for entry_pk in obj.scope_entries.values_list("pk", flat=True):
                entry_changed.send(sender=type(self), entry_pk=entry_pk, by=request.user)


class ScopeEntryForm(PlainTextForm):
    """A scope, the segments it touches and the attributes it covers say the same thing, or are refused."""

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
        for name, fits in (
            ("attributes", lambda path: isinstance(path, str) and scope.covers(path)),
            ("segment_ids", lambda pair: _covers_pair(scope, pair)),
        ):
            listed = cleaned.get(name)
            if listed is not None and not (isinstance(listed, list) and listed and all(map(fits, listed))):
                self.add_error(name, gettext("List at least one, each inside the scope."))
            elif listed is not None and len(set(listed)) != len(listed):
                self.add_error(name, gettext("List each one once."))
        self._check_domain(cleaned, scope)
        self._check_segments(cleaned)
        return cleaned

    def _check_domain(self, cleaned: dict[str, Any], scope: scopes.Scope) -> None:
        domain = cleaned.get("domain")
        if "domain" in cleaned and (domain.domain_key if domain else None) != scope.domain:
            self.add_error("domain", gettext("This is not the domain that the scope names."))

    def _check_segments(self, cleaned: dict[str, Any]) -> None:
        if self.errors or "attributes" not in cleaned:
            return
        touched = list(dict.fromkeys(path.rsplit(".", 1)[0] for path in cleaned["attributes"]))
        if sorted(touched) != sorted(cleaned.get("segment_ids") or []):
            self.add_error("segment_ids", gettext("List exactly the segments of the attributes: ") + ", ".join(touched))


def _covers_pair(scope: scopes.Scope, pair: object) -> bool:
    parts = pair.split(".") if isinstance(pair, str) else []
    return len(parts) == 2 and all(map(scopes.is_name, parts)) and scope.covers_segment(*parts)


@admin.register(ScopeEntry)
class ScopeEntryAdmin(NeverDeleted):
    """A scope is named once; what it means may change, and what waits on it is then cancelled."""

    form = ScopeEntryForm
    list_display = ("scope", "scope_label", "domain", "sensitivity_tier", "exposure_enabled", "max_access_duration")
    list_filter = ("domain", "sensitivity_tier", "exposure_enabled")
    list_select_related = ("domain",)
    search_fields = ("scope", "scope_label", "scope_handle")
    actions = ("expose", "withdraw")
    fields = (
        "scope", "scope_handle", "scope_label", "description", "domain", "segment_ids", "attributes",
        "sensitivity_tier", "exposure_enabled", "max_access_duration", "created_at", "updated_at",
    )  # fmt: skip

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("scope_handle", "created_at", "updated_at", *(("scope",) if obj else ()))

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        # compared with the row, since the form's own idea of what was there comes from the browser
        old = ScopeEntry.objects.select_for_update().filter(pk=obj.pk).values(*_MEANING, "exposure_enabled").first()
        super().save_model(request, obj, form, change)
        if old is None:
            return
        new = ScopeEntry.objects.filter(pk=obj.pk).values(*_MEANING, "exposure_enabled").get()
        withdrawn = old["exposure_enabled"] and not new["exposure_enabled"]
        if withdrawn or any(old[name] != new[name] for name in _MEANING):
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
        with transaction.atomic():
            chosen = ScopeEntry.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
            changing = list(chosen.select_for_update().exclude(exposure_enabled=exposed).order_by("pk"))
            ScopeEntry.objects.filter(pk__in=[entry.pk for entry in changing]).update(
                exposure_enabled=exposed, updated_at=timezone.now()
            )
            for entry in changing:
                self.log_change(request, entry, [{"changed": {"fields": ["exposure_enabled"]}}])
                if not exposed:
                    entry_changed.send(sender=type(self), entry_pk=entry.pk, by=request.user)
        self.message_user(request, _switched(len(changing), exposed=exposed), messages.SUCCESS)
        return None

    def _confirmation(self, request: HttpRequest, queryset: QuerySet[ScopeEntry], *, exposed: bool) -> TemplateResponse:
        entries = list(queryset.select_related("domain"))
        answers = entries_touched.send(sender=type(self), entry_pks=[entry.pk for entry in entries])
        pairs = {pair for entry in entries for pair in entry.segment_ids}
        context = {
            **self.admin_site.each_context(request),
            "title": _("Let these scopes be asked for?") if exposed else _("Withdraw these scopes?"),
            "exposed": exposed,
            "entries": entries,
            "touched": [
                (_("people who keep such data"), people_holding(pairs)),
                *(line for _receiver, lines in answers for line in lines or ()),
            ],
            "action": "expose" if exposed else "withdraw",
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/pkm/scopeentry/confirm_exposure.html", context)


def _switched(count: int, *, exposed: bool) -> str:
    if exposed:
        return ngettext("%d scope can now be asked for.", "%d scopes can now be asked for.", count) % count
    return ngettext("%d scope was withdrawn.", "%d scopes were withdrawn.", count) % count
