"""The pages of an app's webhooks: its endpoints, their secrets, and what became of each delivery."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.interrupted.page_forms import page_button, page_form
from common.clock import database_now
from common.json_bodies import answers_json, json_answer
from common.problems import NotFound, Problem
from consent.event_types import TEST_WEBHOOK_TYPE
from consent.notices import actions as notice_actions
from consent.notices import queries as notice_queries
from consent.notices.webhook_client import Outcome
from consent.portal.delivery_rows import failure_in_words, newest_of_each, page_of_deliveries
from consent.portal.webhook_forms import TYPE_FIELDS, EndpointForm, LogFilter, RenewalForm, ReplayForm
from developers.models import AppMember, WebhookEndpoint
from developers.portal.shell import app_page, portal_page
from developers.webhooks import actions as webhooks
from developers.webhooks import queries as webhook_queries
from developers.webhooks.words import address_refused

P = ParamSpec("P")
EndpointView = Callable[Concatenate[HttpRequest, AppMember, WebhookEndpoint, P], HttpResponse]
MemberView = Callable[Concatenate[HttpRequest, AppMember, int, P], HttpResponse]


def _of_endpoint(view: EndpointView[P]) -> MemberView[P]:
    """For a view of one endpoint; 404 where the app has none of this number, or what is asked of it."""

    @wraps(view)
    def found(
        request: HttpRequest, member: AppMember, endpoint_pk: int, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        try:
            return view(request, member, webhook_queries.endpoint_of(member.app, endpoint_pk), *args, **kwargs)
        except NotFound:
            raise Http404 from None

    return cast("MemberView[P]", found)


@require_http_methods(["GET", "HEAD", "POST"])
@page_form(_("Add the endpoint"), EndpointForm, *TYPE_FIELDS, fresh=True)
@app_page()
def endpoints(request: HttpRequest, member: AppMember) -> HttpResponse:
    """The app's endpoints, and a form that adds one; its secret is on the page that answers, and never again."""
    form = EndpointForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            added, secret = webhooks.add_endpoint(
                app=member.app, url=form.cleaned_data["url"], types=form.types(), by=member.user
            )
        except Problem as refused:
            form.add_error("url", address_refused(refused))
        else:
            return _secret_once(request, member, added, secret)
    rows = newest_of_each(webhook_queries.endpoints_of(member.app))
    shown = {"rows": rows, "form": form, "most": webhooks.MOST_ENDPOINTS}
    return portal_page(
        request, "developers/webhooks/list.html", shown, member=member, status=400 if form.is_bound else 200
    )


@require_safe
@app_page()
@_of_endpoint
def endpoint(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    """One endpoint: what can be done with it, and its log."""
    return _endpoint_page(request, member, endpoint, EndpointForm.of(endpoint))


def _endpoint_page(
    request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint, form: EndpointForm, status: int = 200
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
    return portal_page(request, "developers/webhooks/endpoint.html", shown, member=member, status=status)


@answers_json
@require_safe
@app_page()
@_of_endpoint
def fresh_log(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    """The newest of the log, for the page's script."""
    only_failed, before = LogFilter(request.GET).chosen()
    log = page_of_deliveries(endpoint, app_id=member.app.app_id, only_failed=only_failed, before=before)
    return json_answer({"deliveries": [row.as_json() for row in log.rows]})


@require_POST
@page_button(_("Save"), EndpointForm, *TYPE_FIELDS, fresh=True)
@app_page()
@_of_endpoint
def change(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    form = EndpointForm(request.POST)
    if form.is_valid():
        try:
            webhooks.change_endpoint(
                endpoint=endpoint, url=form.cleaned_data["url"], types=form.types(), by=member.user
            )
        except Problem as refused:
            form.add_error("url", address_refused(refused))
        else:
            messages.success(request, gettext("Saved."))
            return _to_endpoint(member, endpoint)
    endpoint.refresh_from_db(fields=["url", "types"])
    return _endpoint_page(request, member, endpoint, form, status=400)


@require_POST
@page_button({"enabled=yes": _("Enable"), "enabled=no": _("Disable")})
@app_page()
@_of_endpoint
def switch(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    """Enable or disable."""
    if request.POST.get("enabled") == "yes":
        webhooks.enable_endpoint(endpoint=endpoint, by=member.user)
        messages.success(request, gettext("Enabled. What waited is sent now."))
    elif request.POST.get("enabled") == "no":
        webhooks.disable_endpoint(endpoint=endpoint, by=member.user, reason=webhooks.BY_MEMBER)
        messages.success(request, gettext("Disabled. Nothing is sent there until you enable it again."))
    return _to_endpoint(member, endpoint)


@require_POST
@page_button(_("Renew the secret"), RenewalForm, danger=True, fresh=True)
@app_page()
@_of_endpoint
def renew(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    """A new secret, on the page that answers and never again."""
    form = RenewalForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose for how long the old secret signs. Nothing was changed."))
        return _to_endpoint(member, endpoint)
    secret = webhooks.renew_secret(endpoint=endpoint, by=member.user, overlap=form.chosen())
    return _secret_once(request, member, webhook_queries.endpoint_of(member.app, endpoint.pk), secret)


def _secret_once(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint, secret: str) -> HttpResponse:
    shown = {"endpoint": endpoint, "secret": secret}
    return portal_page(request, "developers/webhooks/secret.html", shown, member=member)


@require_POST
@page_button(_("Send a test"))
@app_page()
@_of_endpoint
def test(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    """Send a test now and say what was answered, and how soon."""
    try:
        outcome = notice_actions.send_test(endpoint=endpoint, by=member.user)
    except Problem as refused:
        messages.error(request, _refusal(refused))
    else:
        _tell_outcome(request, outcome)
    return _to_endpoint(member, endpoint)


def _tell_outcome(request: HttpRequest, outcome: Outcome) -> None:
    took = {"code": outcome.status_code, "ms": outcome.ms}
    if outcome.delivered:
        messages.success(request, gettext("The test arrived: it answered %(code)s after %(ms)s ms.") % took)
    elif outcome.status_code is not None:
        messages.warning(request, gettext("The test was refused: it answered %(code)s after %(ms)s ms.") % took)
    else:
        messages.error(request, failure_in_words(outcome.failure, None))


@require_http_methods(["GET", "HEAD", "POST"])
@page_form(_("Delete the endpoint"), danger=True)
@app_page()
@_of_endpoint
def delete(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    """What deleting loses, and then the deed."""
    if request.method != "POST":
        waiting = notice_queries.count_waiting(endpoint)
        shown = {"endpoint": endpoint, "waiting": waiting}
        return portal_page(request, "developers/webhooks/delete.html", shown, member=member)
    webhooks.delete_endpoint(endpoint=endpoint, by=member.user)
    messages.success(request, gettext("The endpoint is deleted. Nothing is sent there any more."))
    return redirect("portal:webhooks", member.app.app_id)


@require_POST
@page_button(_("Send again"))
@app_page()
@_of_endpoint
def replay(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint, delivery_pk: int) -> HttpResponse:
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


@require_POST
@page_button(_("Send again what failed"), ReplayForm)
@app_page()
@_of_endpoint
def replay_failed(request: HttpRequest, member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
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
    words = {
        "endpoint_disabled": gettext("The endpoint is disabled. Enable it first."),
        "too_many_requests": gettext("That was often enough for now. Try again in a while."),
        "app_suspended": gettext("The app is suspended, so nothing is sent for it."),
    }
    return words.get(refused.code, refused.detail)


def _to_endpoint(member: AppMember, endpoint: WebhookEndpoint) -> HttpResponse:
    return redirect("portal:webhook", member.app.app_id, endpoint.pk)
