"""The page where a person says what they want to hear of, when, and what no app may do."""

from datetime import time
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.alerts import encryption, push
from accounts.alerts import settings as alert_settings
from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button, page_form
from accounts.models import AlertSettings, AlertWay
from accounts.phrase import phrase_of
from common.forms import PlainLine
from consent.requests import own_rules
from consent.requests.models import OwnRules


def _way(label: Any, help_text: Any = "", *, by_mail: bool = False) -> forms.ChoiceField:
    choices = [AlertWay.MAIL, AlertWay.BOTH] if by_mail else list(AlertWay)
    return forms.ChoiceField(
        label=label, help_text=help_text, choices=[(way.value, way.label) for way in choices],
        widget=forms.Select({"class": "select"}),
    )  # fmt: skip


def _time(label: Any, help_text: Any = "") -> forms.TimeField:
    widget = forms.TimeInput({"type": "time", "class": "input"}, format="%H:%M")
    return forms.TimeField(label=label, help_text=help_text, required=False, widget=widget)


class AlertsForm(forms.Form):
    """All of the page; empty times switch off what they are for."""

    requests = _way(_("An app asks for something"))
    endings = _way(_("Something that you share ends soon"))
    reads = _way(_("An app reads something for the first time"))
    updates = _way(_("An app gets newer values"))
    security = _way(_("Changes of how you sign in or unlock"), _("Always by mail, and at any hour."), by_mail=True)
    phrase = PlainLine(
        label=_("Your phrase"), max_length=60, required=False,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Each mail from us begins with it. A mail without it is not from us. Use it nowhere else."),
    )  # fmt: skip
    quiet_from = _time(_("Quiet from"))
    quiet_to = _time(_("Quiet until"))
    gathered_at = _time(
        _("Once a day, at"), _("Everything of a day comes together then. Leave it empty to hear of things at once.")
    )
    zone = forms.CharField(
        label=_("Your time zone"), max_length=64,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("A city of your zone, as in Europe/Berlin."),
    )  # fmt: skip
    only_checked = forms.BooleanField(label=_("Only apps that our staff checked may ask me"), required=False)
    weekly = forms.BooleanField(label=_("Each app may ask me once a week at most"), required=False)

    def clean_zone(self) -> str:
        zone = str(self.cleaned_data["zone"])
        if zone not in alert_settings.zones():
            raise forms.ValidationError(gettext("We do not know this zone. Write one like Europe/Berlin."))
        return zone

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        start, end = cleaned.get("quiet_from"), cleaned.get("quiet_to")
        if (start is None) != (end is None) and not self.errors.keys() & {"quiet_from", "quiet_to"}:
            missing = "quiet_from" if start is None else "quiet_to"
            self.add_error(missing, gettext("Quiet hours need both times, or none."))
        elif start is not None and start == end:
            self.add_error("quiet_to", gettext("Choose another time than the one they begin at."))
        return cleaned

    @property
    def quiet(self) -> tuple[time, time] | None:
        """The quiet hours that were typed."""
        start, end = self.cleaned_data["quiet_from"], self.cleaned_data["quiet_to"]
        return (start, end) if start is not None and end is not None else None


@page_form(_("Save"), AlertsForm)
def alerts(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    kept, rules = alert_settings.settings_of(person), own_rules.rules_of(person)
    form = AlertsForm(request.POST or None, initial=_initial(kept, rules, phrase_of(person)))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        alert_settings.save_settings(
            by=person,
            ways={kind: given[kind] for kind in alert_settings.KINDS},
            phrase=given["phrase"],
            zone=given["zone"],
            quiet=form.quiet,
            gathered_at=given["gathered_at"],
        )
        own_rules.save_rules(by=person, only_checked=given["only_checked"], weekly=given["weekly"])
        messages.success(request, gettext("Saved."))
        return redirect("consent:alerts")
    shown = {
        "form": form,
        "kept": kept,
        "rules": rules,
        "browsers": push.subscriptions_of(person),
        "application_key": encryption.public_name(),
        "kinds": [form[kind] for kind in alert_settings.KINDS],
    }
    return render(request, "consent/alerts.html", shown, status=400 if form.errors else 200)


def _initial(kept: AlertSettings, rules: OwnRules, phrase: str) -> dict[str, Any]:
    plain = (*alert_settings.KINDS, "quiet_from", "quiet_to", "gathered_at")
    return {
        **{name: getattr(kept, name) for name in plain},
        "zone": kept.zone if kept.pk else "",  # the browser fills in its own
        "phrase": phrase,
        "only_checked": rules.only_checked_since is not None,
        "weekly": rules.weekly_since is not None,
    }


@page_button(_("Stop on all devices"))
def stop_devices(request: HttpRequest) -> HttpResponse:
    push.unsubscribe_all(person_of(request))
    messages.success(request, gettext("None of your devices shows anything any more."))
    return redirect("consent:alerts")
