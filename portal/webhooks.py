"""The pages of an app's webhooks: its endpoints, their secrets, and what became of each delivery."""

from datetime import timedelta
from typing import Any, Self

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.interrupted.page_forms import page_button, page_form
from common.clock import database_now
from common.json_bodies import answers_json, json_answer
from common.problems import Problem
from common.text import StrOrPromise
from consent.event_types import TEST_WEBHOOK_TYPE, WEBHOOK_TYPES
from consent.notices import actions as notice_actions
from consent.notices import queries as notice_queries
from consent.notices.webhook_client import Outcome
from developers.members.models import AppMember
from developers.webhooks import actions as webhooks
from developers.webhooks import queries as webhook_queries
from developers.webhooks.models import WebhookEndpoint
from developers.webhooks.words import address_refused
from portal.deliveries import LogFilter, failure_in_words, newest_of_each, page_of_deliveries
from portal.fields import ReceiverAddress
from portal.shell import Refusals, Tab, app_page, portal_page, posted

OVERLAPS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "1h": timedelta(hours=1), "0": timedelta(0)}
# A field of its own for each type: a form that waits for a sign-in keeps one value of each name.
TYPE_FIELDS = {f"type-{kind}": kind for kind in WEBHOOK_TYPES}
_REFUSALS: dict[str, StrOrPromise] = {
    "endpoint_disabled": _("The endpoint is disabled. Enable it first."),
    "too_many_requests": _("That was often enough for now. Try again in a while."),
    "app_suspended": _("The app is suspended, so nothing is sent for it."),
}


class EndpointForm(forms.Form):
    """Where to, and of what; no type ticked means every type."""

    url = ReceiverAddress()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, kind in TYPE_FIELDS.items():
            self.fields[name] = forms.BooleanField(label=kind, required=False)

    @classmethod
    def of(cls, endpoint: WebhookEndpoint) -> Self:
        """Filled in with what the endpoint is now."""
        ticked = {name: kind in endpoint.types for name, kind in TYPE_FIELDS.items()}
        return cls(initial={"url": endpoint.url, **ticked})

    @property
    def type_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in TYPE_FIELDS]

    def types(self) -> list[str]:
        return [kind for name, kind in TYPE_FIELDS.items() if self.cleaned_data[name]]


class RenewalForm(forms.Form):
    """For how long the old secret signs beside the new one."""

    overlap = forms.TypedChoiceField(
        label=_("The old secret"),
        coerce=OVERLAPS.__getitem__,
        choices=[
            ("24h", _("Signs for another 24 hours")),
            ("7d", _("Signs for another 7 days")),
            ("1h", _("Signs for another hour")),
            ("0", _("Signs nothing any more, from now on")),
        ],
        widget=forms.Select(attrs={"class": "select"}),
    )


class ReplayForm(forms.Form):
    """How far back what failed is sent once more, in hours."""

    hours = forms.TypedChoiceField(
        label=_("Notices of"),
        choices=[
            (1, _("the last hour")),
            (24, _("the last 24 hours")),
            (72, _("the last 3 days")),
            (720, _("the last 30 days")),
        ],
        initial=24,
        coerce=int,
        widget=forms.Select(attrs={"class": "select"}),
    )


@page_form(_("Add the endpoint"), EndpointForm, *TYPE_FIELDS, fresh=True)
@app_page(Tab(_("Webhooks"), "bell"))
def endpoints(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The app's endpoints, and a form that adds one; its secret is on the page that answers, and never again."""
    form = EndpointForm(posted(request))
    if form.is_valid():
        with Refusals(form, "url", address_refused):
            added, secret = webhooks.add_endpoint(
                app=member.app, url=form.cleaned_data["url"], types=form.types(), by=member.user
            )
            return _secret_once(request, member, added, secret)
    rows = newest_of_each(webhook_queries.endpoints_of(member.app))
    shown = {"rows": rows, "form": form, "most": webhooks.MOST_ENDPOINTS}
    return portal_page(request, "portal/webhooks/list.html", shown, member=member)


@require_safe
@app_page()
def endpoint(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    """One endpoint: what can be done with it, and its log."""
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    return _endpoint_page(request, member, endpoint, EndpointForm.of(endpoint))


def _endpoint_page(
    request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint, form: EndpointForm
) -> HttpResponse:
    only_failed, before = LogFilter(request.GET).chosen()
    now = database_now()
    shown = {
        "endpoint": endpoint,
        "form": form,
        "renewal": RenewalForm(),
        "replay": ReplayForm(),
        "overlaps": endpoint.previous_until is not None and endpoint.previous_until > now,
        "log": page_of_deliveries(endpoint, app_id=member.app.app_id, only_failed=only_failed, before=before),
        "only_failed": only_failed,
        "before": before,
        "test_type": TEST_WEBHOOK_TYPE,
    }
    return portal_page(request, "portal/webhooks/endpoint.html", shown, member=member)


@answers_json
@require_safe
@app_page()
def fresh_log(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    """The newest of the log, for the page's script."""
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    only_failed, before = LogFilter(request.GET).chosen()
    log = page_of_deliveries(endpoint, app_id=member.app.app_id, only_failed=only_failed, before=before)
    return json_answer({"deliveries": [row.as_json() for row in log.rows]})


@page_button(_("Save"), EndpointForm, *TYPE_FIELDS, fresh=True)
@app_page()
def change(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    form = EndpointForm(request.POST)
    if form.is_valid():
        with Refusals(form, "url", address_refused):
            webhooks.change_endpoint(
                endpoint=endpoint, url=form.cleaned_data["url"], types=form.types(), by=member.user
            )
            messages.success(request, gettext("Saved."))
            return _to_endpoint(member, endpoint)
    endpoint.refresh_from_db(fields=["url", "types"])
    return _endpoint_page(request, member, endpoint, form)


@page_button({"enabled=yes": _("Enable"), "enabled=no": _("Disable")})
@app_page()
def switch(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    if request.POST.get("enabled") == "yes":
        webhooks.enable_endpoint(endpoint=endpoint, by=member.user)
        messages.success(request, gettext("Enabled. What waited is sent now."))
    elif request.POST.get("enabled") == "no":
        webhooks.disable_endpoint(endpoint=endpoint, by=member.user, reason=webhooks.BY_MEMBER)
        messages.success(request, gettext("Disabled. Nothing is sent there until you enable it again."))
    return _to_endpoint(member, endpoint)


@page_button(_("Renew the secret"), RenewalForm, danger=True, fresh=True)
@app_page()
def renew(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    """A new secret, on the page that answers and never again."""
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    form = RenewalForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose for how long the old secret signs. Nothing was changed."))
        return _to_endpoint(member, endpoint)
    secret = webhooks.renew_secret(endpoint=endpoint, by=member.user, overlap=form.cleaned_data["overlap"])
    return _secret_once(request, member, webhook_queries.endpoint_of(member.app, endpoint.pk), secret)


def _secret_once(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint, secret: str) -> HttpResponse:
    shown = {"endpoint": endpoint, "secret": secret}
    return portal_page(request, "portal/webhooks/secret.html", shown, member=member)


@page_button(_("Send a test"))
@app_page()
def test(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    """Send a test now and say what was answered, and how soon."""
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    try:
        outcome = notice_actions.send_test(endpoint=endpoint, by=member.user)
    except Problem as refused:
        messages.error(request, _refusal(refused))
    else:
        _show_outcome(request, outcome)
    return _to_endpoint(member, endpoint)


def _show_outcome(request: HttpRequest, outcome: Outcome) -> None:
    took = {"code": outcome.status_code, "ms": outcome.ms}
    if outcome.delivered:
        messages.success(request, gettext("The test arrived: it answered %(code)s after %(ms)s ms.") % took)
    elif outcome.status_code is not None:
        messages.warning(request, gettext("The test was refused: it answered %(code)s after %(ms)s ms.") % took)
    else:
        messages.error(request, failure_in_words(outcome.failure, None))


@page_form(_("Delete the endpoint"), danger=True)
@app_page()
def delete(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    """What deleting loses, and then the deed."""
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    if request.method != "POST":
        pending = notice_queries.count_pending_deliveries(endpoint)
        shown = {"endpoint": endpoint, "pending": pending}
        return portal_page(request, "portal/webhooks/delete.html", shown, member=member)
    webhooks.delete_endpoint(endpoint=endpoint, by=member.user)
    messages.success(request, gettext("The endpoint is deleted. Nothing is sent there any more."))
    return redirect("portal:webhooks", member.app.app_id)


@page_button(_("Send again"))
@app_page()
def replay(request: HttpRequest, member: AppMember, endpoint_pk: int, delivery_pk: int) -> HttpResponse:
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    delivery = notice_queries.delivery_of([member.app_id], delivery_pk)
    if delivery.endpoint_id != endpoint.pk:
        raise Http404
    try:
        notice_actions.replay_delivery(delivery=delivery, by=member.user)
    except Problem as refused:
        messages.error(request, _refusal(refused))
    else:
        messages.success(request, gettext("It will be sent again in a moment, under the same webhook-id."))
    return _to_endpoint(member, endpoint)


@page_button(_("Send again what failed"), ReplayForm)
@app_page()
def replay_failed(request: HttpRequest, member: AppMember, endpoint_pk: int) -> HttpResponse:
    endpoint = webhook_queries.endpoint_of(member.app, endpoint_pk)
    form = ReplayForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose how far back. Nothing was changed."))
        return _to_endpoint(member, endpoint)
    since = database_now() - timedelta(hours=form.cleaned_data["hours"])
    try:
        count = notice_actions.replay_failed(endpoint=endpoint, since=since, by=member.user)
    except Problem as refused:
        messages.error(request, _refusal(refused))
    else:
        text = ngettext("%(n)d delivery will be sent again.", "%(n)d deliveries will be sent again.", count)
        messages.success(request, text % {"n": count})
    return _to_endpoint(member, endpoint)


def _refusal(refused: Problem) -> str:
    return str(_REFUSALS.get(refused.code, refused.detail))


def _to_endpoint(member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    return redirect("portal:webhook", member.app.app_id, endpoint.pk)
