"""The sandbox of a test app: the people whom its developers play, and what each of them decides."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from django import forms
from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.interrupted.page_forms import page_button
from accounts.models import User
from common.clock import database_now
from common.durations import duration
from common.forms import PlainLine
from consent.decisions import expiry
from consent.grants.models import Grant
from consent.notices.models import Notice, WebhookDelivery
from consent.requests.models import ConsentRequest
from consent.sandbox import actions as sandbox_actions
from consent.sandbox import queries as sandbox_queries
from consent.states import LIVE_GRANTS
from developers.apps.models import App, AppMode
from developers.members.models import AppMember
from pkm.registry import labels
from portal.shell import Refusals, Tab, app_page, portal_page

_DAY = 86400
_NEWEST = 20
_SHORTER = (300, 3600, 86400)


@dataclass(frozen=True)
class PendingRequest:
    """A request that this person has not decided; its values are opened in the browser."""

    request_id: str
    label: str
    purpose: str
    until: datetime
    required: list[str]
    durations: list[tuple[int, str]]  # seconds and their words, first the request's own


@dataclass(frozen=True)
class Exchange:
    """Everything between an app and a sandbox person of it."""

    pending: list[PendingRequest]
    shared: list[Grant]
    notices: list[Notice]

    @property
    def state(self) -> str:
        """A digest: the page compares it with the one it shows, and updates itself when they differ."""
        sent = [(notice.sequence, [delivery.status for delivery in notice.deliveries.all()]) for notice in self.notices]
        shared = [(grant.grant_id, grant.status, grant.reads) for grant in self.shared]
        seen = repr(([request.request_id for request in self.pending], shared, sent))
        return hashlib.sha256(seen.encode()).hexdigest()[:16]


def exchange_with(of: User, *, app: App) -> Exchange:
    """Pending requests, live grants and the app's notices, of each the newest; five queries."""
    now = database_now()
    requests = ConsentRequest.objects.select_related("scope_entry").filter(app=app, user=of).order_by("-pk")
    pending = requests.pending(now)
    grants = Grant.objects.select_related("request__scope_entry").filter(app=app, user=of).order_by("-pk")
    live = [grant for grant in grants.filter(status__in=LIVE_GRANTS)[:_NEWEST] if grant.is_live(now)]
    return Exchange(
        pending=[_pending(request) for request in pending[:_NEWEST]],
        shared=live,
        notices=list(_notices(of, app)[:_NEWEST]),
    )


def _pending(request: ConsentRequest) -> PendingRequest:
    longest = request.access_duration
    shorter = [seconds for seconds in _SHORTER if seconds < longest]
    return PendingRequest(
        request_id=request.request_id,
        label=labels.translated(request.scope_entry.scope_label),
        purpose=request.purpose,
        until=request.expires_at,
        required=request.required_attributes or [],
        durations=[(seconds, duration(seconds)) for seconds in (longest, *reversed(shorter))],
    )


def _notices(of: User, app: App) -> QuerySet[Notice]:
    """The newest first, with each delivery to the app's endpoints."""
    deliveries = Prefetch("deliveries", WebhookDelivery.objects.select_related("endpoint").order_by("pk"))
    return Notice.objects.filter(app=app, request__user=of).prefetch_related(deliveries).order_by("-sequence")


class SandboxPersonForm(forms.Form):
    label = PlainLine(
        label=_("Name"), max_length=80, required=False, help_text=_("For your team, such as “says yes to everything”.")
    )


class ClockForm(forms.Form):
    seconds = forms.TypedChoiceField(
        label=_("Let expire what ends within"),
        coerce=int,
        choices=(
            (3600, _("1 hour")), (_DAY, _("1 day")), (30 * _DAY, _("30 days")), (366 * _DAY, _("1 year")),
        ),
    )  # fmt: skip


@require_safe
@app_page(Tab(_("Sandbox"), "user", AppMode.TEST))
def people(request: HttpRequest, member: AppMember) -> HttpResponse:
    """Everybody whom this app may try itself against."""
    return _people(request, member, SandboxPersonForm())


@page_button(_("Make the person"), SandboxPersonForm)
@app_page()
def make_person(request: HttpRequest, member: AppMember) -> HttpResponse:
    _need_test_app(member)
    form = SandboxPersonForm(request.POST)
    if form.is_valid():
        with Refusals(form):
            made = sandbox_actions.make_person(app_pk=member.app_id, label=form.cleaned_data["label"])
            return redirect("portal:sandbox-person", member.app.app_id, made.user.public_id)
    return _people(request, member, form)


@require_safe
@app_page()
def person(request: HttpRequest, member: AppMember, user_id: str) -> HttpResponse:
    """A sandbox person: their data, pending requests, grants, and the notices that the app got."""
    of = _sandbox_person(member, user_id)
    context = {"of": of, "exchange": exchange_with(of, app=member.app), "clock": ClockForm()}
    return portal_page(request, "portal/sandbox/person.html", context, member=member)


@page_button(_("Let it expire"), ClockForm)
@app_page()
def move_clock(request: HttpRequest, member: AppMember, user_id: str) -> HttpResponse:
    of, form = _sandbox_person(member, user_id), ClockForm(request.POST)
    if form.is_valid():
        expiry.expire_ahead(of=of, seconds=form.cleaned_data["seconds"])
        messages.success(request, gettext("Whatever would have ended by then has ended."))
    else:
        messages.error(request, gettext("Choose one of the durations."))
    return redirect("portal:sandbox-person", member.app.app_id, user_id)


@page_button(_("Delete this person"), danger=True)
@app_page()
def delete_person(request: HttpRequest, member: AppMember, user_id: str) -> HttpResponse:
    sandbox_actions.delete_person(of=_sandbox_person(member, user_id))
    messages.success(request, gettext("The sandbox person is gone; what was shared with the app has ended."))
    return redirect("portal:sandbox", member.app.app_id)


def _people(request: HttpRequest, member: AppMember, form: SandboxPersonForm) -> HttpResponse:
    _need_test_app(member)
    shown = sandbox_queries.people_of_app(app_pk=member.app_id)
    context = {"people": shown, "most": sandbox_actions.MOST_PEOPLE, "form": form}
    return portal_page(request, "portal/sandbox/people.html", context, member=member)


def _sandbox_person(member: AppMember, user_id: str) -> User:
    return sandbox_queries.person_of_app(app_pk=member.app_id, user_id=user_id)


def _need_test_app(member: AppMember) -> None:
    if not member.app.is_test:
        raise Http404
