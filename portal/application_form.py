"""The form of an application for a live app."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.core import signing
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from common import limits, pictures
from common.forms import PlainLine
from common.limits import Limit
from common.problems import InvalidRequest
from common.text import is_plain
from developers.applications import facts
from developers.applications.models import DeveloperApplication
from developers.apps import logos
from developers.apps.domains import domain_of
from pkm.registry import copy as registry_copy
from pkm.registry.labels import translated
from pkm.registry.models import Domain
from portal.fields import limited, lines_of, refuse

_LOGOS = Limit("logos-of-person", 30, 3600)
_signer = signing.Signer(salt="logo-of-application")
Rows = list[tuple[forms.BoundField, forms.BoundField]]
_ROWS = range(1, facts.MOST_SCOPES + 1)
SCOPE_FIELDS = tuple(f"{name}_{row}" for row in _ROWS for name in ("scope", "why"))
SHOWN_ROWS = 3


def _line(label: Any, longest: int, help_text: Any) -> PlainLine:
    return PlainLine(label=label, max_length=longest, help_text=help_text)


def _text(label: Any, help_text: Any = "", *, required: bool = True, rows: int = 3) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": rows, "class": "textarea"})
    return forms.CharField(
        label=label, max_length=facts.LONGEST_TEXT, help_text=help_text, required=required, widget=area, strip=True
    )


class ApplicationForm(forms.Form):
    """Nothing of it is lost on an error: a picture that fits is kept, too, and named by `kept_logo`."""

    name = _line(_("Name"), 80, _("As people see it when the app asks them."))
    legal_name = _line(_("Legal name"), 160, _("Of the company or person who is responsible. Our staff check it."))
    website = forms.URLField(label=_("Website"), assume_scheme="https", help_text=_("An https link."))
    privacy_policy = forms.URLField(label=_("Privacy notice"), assume_scheme="https", help_text=_("An https link."))
    contact_email = forms.EmailField(label=_("E-mail address"), help_text=_("For people's questions about their data."))
    logo = forms.FileField(
        label=_("Logo"),
        required=False,
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
        help_text=_("PNG, JPEG or WebP, at most 512 KiB. It is shown small and square."),
    )
    kept_logo = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    use_case = _text(_("What the app does with the data"))
    jurisdiction = _line(_("Jurisdiction"), 80, _("The country whose law applies, such as Germany."))
    recipients = _text(_("Who receives the data"), _("Everybody you pass it on to, or “nobody else”."), rows=2)
    storage_place = _line(_("Where the data is stored"), 160, _("For example: data centre in Frankfurt, Germany."))
    retention = _line(_("How long it is kept"), 160, _("For example: 30 days after the last use."))
    origins = _text(
        _("Browser origins"),
        _("Sites whose pages call profile agents, one a line, such as https://app.example."),
        required=False,
        rows=2,
    )
    return_addresses = _text(
        _("Return addresses"), _("Pages on these origins that people come back to, one a line."), required=False, rows=2
    )

    def __init__(self, *args: Any, by: User, logo_digest: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by, self._logo = by, logo_digest
        choices = [("", gettext("Choose a kind of data")), *scope_choices()]
        for row in _ROWS:
            self.fields[f"scope_{row}"] = forms.ChoiceField(label=_("Kind of data"), required=False, choices=choices)
            why = forms.CharField(label=_("Why the app needs it"), max_length=facts.LONGEST_REASON, required=False)
            self.fields[f"why_{row}"] = why

    @classmethod
    def of(cls, application: DeveloperApplication) -> "ApplicationForm":
        """Filled in with what was handed in."""
        values = {name: getattr(application, name) for name in cls.base_fields if hasattr(application, name)}
        for name in ("origins", "return_addresses"):
            values[name] = "\n".join(getattr(application, name))
        for row, (scope, why) in enumerate(application.scope_reasons.items(), 1):
            values |= {f"scope_{row}": scope, f"why_{row}": why}
        return cls(initial=values, by=application.applicant, logo_digest=application.logo_digest)

    @cached_property
    def logo_digest(self) -> str:
        """Of the picture that was sent now, or with an earlier try, or that the application has."""
        sent = self.cleaned_data.get("logo") if hasattr(self, "cleaned_data") else None
        try:
            return sent or _signer.unsign(self.data.get("kept_logo", "")) if self.is_bound else self._logo
        except signing.BadSignature:
            return self._logo

    @property
    def signed_logo(self) -> str:
        return _signer.sign(self.logo_digest) if self.logo_digest else ""

    def scope_rows(self) -> Iterator[tuple[forms.BoundField, forms.BoundField]]:
        return ((self[f"scope_{row}"], self[f"why_{row}"]) for row in _ROWS)

    def shown_rows(self) -> Rows:
        """The rows with something in them, and room for more."""
        return self._split_rows[0]

    def further_rows(self) -> Rows:
        return self._split_rows[1]

    @cached_property
    def _split_rows(self) -> tuple[Rows, Rows]:
        rows = list(self.scope_rows())
        last = max((number for number, (scope, why) in enumerate(rows, 1) if scope.value() or why.value()), default=0)
        shown = max(last, SHOWN_ROWS)
        return rows[:shown], rows[shown:]

    def clean_logo(self) -> str:
        """The digest of the picture as it is kept."""
        sent = self.cleaned_data["logo"]
        if not sent:
            return ""
        if sent.size > pictures.LARGEST:
            raise forms.ValidationError(gettext("A picture has at most 512 KiB."))
        if limits.count(_LOGOS, self._by.public_id).exceeded:
            raise forms.ValidationError(gettext("You sent too many logos within an hour. Try again later."))
        try:
            return logos.take_logo(sent.read()).digest
        except InvalidRequest as problem:
            raise forms.ValidationError(problem.detail) from None

    def clean_origins(self) -> list[str]:
        lines = lines_of(self.cleaned_data["origins"])
        origins = {line: facts.origin_of(line) for line in lines}
        refuse(gettext("Not an https origin without a path: %(line)s"), (line for line in lines if not origins[line]))
        return limited([origin for origin in origins.values() if origin])

    def clean_return_addresses(self) -> list[str]:
        lines, origins = lines_of(self.cleaned_data["return_addresses"]), self.cleaned_data.get("origins")
        unfit = (line for line in lines if origins is not None and not facts.is_return_address(line, origins))
        refuse(gettext("Not an address on one of the origins, without a fragment: %(line)s"), unfit)
        return limited(lines)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        for name in ("use_case", "recipients"):
            if not all(is_plain(line) for line in cleaned.get(name, "").splitlines() if line.strip()):
                self.add_error(name, gettext("Use plain text without invisible characters."))
        for name in ("website", "privacy_policy"):
            link = cleaned.get(name, "")
            if link and not (link.startswith("https://") and domain_of(link)):
                self.add_error(name, gettext("Give a link that begins with https:// and names a host."))
        cleaned["scope_reasons"] = self._scope_reasons(cleaned)
        return cleaned

    def _scope_reasons(self, cleaned: dict[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for row in _ROWS:
            scope, why = cleaned.get(f"scope_{row}", ""), cleaned.get(f"why_{row}", "")
            if scope and scope in found:
                self.add_error(f"scope_{row}", gettext("You chose this already."))
            elif scope and not is_plain(why):
                self.add_error(f"why_{row}", gettext("Say in one line why the app needs it."))
            elif why and not scope and f"scope_{row}" not in self.errors:
                self.add_error(f"scope_{row}", gettext("Choose what this is the reason for."))
            elif scope:
                found[scope] = why
        if not found and not self.errors:
            self.add_error("scope_1", gettext("Choose at least one kind of data that the app will ask for."))
        return found

    def facts(self) -> facts.ApplicationFacts:
        cleaned = self.cleaned_data
        named = {name: cleaned[name] for name in facts.ApplicationFacts.__dataclass_fields__ if name in cleaned}
        return facts.ApplicationFacts(**{**named, "logo_digest": self.logo_digest})


def scope_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Every scope and its label, by the label of its domain."""
    names = dict(Domain.objects.values_list("domain_key", "display_name"))
    grouped: dict[str, list[tuple[str, str]]] = {}
    for entry in registry_copy.entries().entries:
        domain = translated(names.get(entry.domain or "", "")) or gettext("Everything")
        grouped.setdefault(domain, []).append((entry.scope, translated(entry.label)))
    return list(grouped.items())
