"""The pages on which a person connects with an app, and goes back to where they came from."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_form
from accounts.sign_in.forms import SignUp
from common.clock import database_now
from common.problems import TooManyRequests
from consent import errors
from consent.connections import actions
from consent.connections.models import Connection
from consent.requests.return_addresses import is_still_registered, origin_in, with_members
from consent.states import ConnectionStatus, RequestStatus
from consent.web import queries as web_queries
from consent.web.forms import ConnectionCodeForm
from pkm.registry import labels
from pkm.registry.queries import entry_for, is_hidden


@page_form(_("Continue"), ConnectionCodeForm)
def connect(request: HttpRequest) -> HttpResponse:
    """The code that an app shows is typed here, and never comes with a link."""
    if request.method != "POST":
        return render(request, "consent/connect.html", {"form": ConnectionCodeForm()})
    form, status = ConnectionCodeForm(request.POST), 400
    if form.is_valid():
        code = form.cleaned_data["code"]
        try:
            return _shown(request, actions.open_by_code(code, by=person_of(request)), code=code)
        except errors.UnknownConnection:
            form.add_error(
                "code", gettext("No app waits under this code. Codes end after ten minutes: look at the app again.")
            )
        except TooManyRequests:
            form.add_error("code", gettext("These were too many wrong codes. Try again in an hour."))
            status = 429
    return render(request, "consent/connect.html", {"form": form}, status=status)


@page_form(
    {"decision=connect": _("Connect"), "decision=decline": _("Decline")}, "code", on_its_page=True, signs_in=False
)
def connection(request: HttpRequest, connection_id: str) -> HttpResponse:
    """Who asks to know this person, and their answer. Opened by a link, it waits while they sign in or up: whoever is
    not signed in sees who asks, too, before they make an account for it."""
    if request.method == "POST" and request.user.is_authenticated:
        return _answered(request, connection_id)
    found = actions.open_by_link(connection_id)
    if request.user.is_authenticated:
        return _shown(request, found)
    if request.method == "POST" or found.status_at(database_now()) is not ConnectionStatus.PENDING:
        return redirect_to_login(request.path)
    ways_in = {"next": urlencode({REDIRECT_FIELD_NAME: request.path}), "email": SignUp(by_passkey=True)["email"]}
    return render(request, "consent/connection_signed_out.html", _app_details(found) | ways_in)


def _app_details(found: Connection) -> dict[str, Any]:
    """What anybody sees who has the link."""
    entry = entry_for(found.asked["scope"]) if found.asked else None
    return {
        "connection": found,
        "app": found.app,
        "purpose": (found.asked or {}).get("purpose", ""),
        "scope_label": labels.translated(entry.scope_label) if entry else "",
        "origin": origin_in(found.return_url) if found.return_url else "",
    }


def _shown(request: HttpRequest, found: Connection, *, code: str = "", status: int = 200) -> HttpResponse:
    person = person_of(request)
    content: dict[str, Any] = {
        **_app_details(found),
        "code": code,
        "status": found.status_at(database_now()),
        "is_own": found.user_id == person.pk,
        "is_hidden": bool(found.asked) and is_hidden(person, (found.asked or {})["scope"]),
        "is_known": actions.is_known_already(found, person),
    }
    return _letting_return(render(request, "consent/connection.html", content, status=status), found)


def _answered(request: HttpRequest, connection_id: str) -> HttpResponse:
    """What rides along opens as the next page; else they go back to where they came from."""
    person, code = person_of(request), request.POST.get("code", "")
    try:
        found = actions.open_by_code(code, by=person) if code else actions.open_by_link(connection_id)
    except TooManyRequests:
        messages.error(request, gettext("These were too many wrong codes. Try again in an hour."))
        return redirect("consent:connect")
    except errors.UnknownConnection:
        found = None
    if found is None or found.connection_id != connection_id:
        messages.info(request, gettext("This connection is no longer open. Begin anew in the app."))
        return redirect("consent:connect")
    try:
        if request.POST.get("decision") == "connect":
            return _connected(request, actions.connect(connection=found, by=person))
        actions.decline(connection=found, by=person)
    except errors.ConnectionEnded:
        return _shown(request, found, status=409)
    except errors.InvalidScope:
        messages.error(request, gettext("You blocked this app. Let it ask again first, then connect."))
        return redirect("consent:app", found.app.app_id)
    except errors.UnknownUser:
        messages.error(
            request, gettext("This app cannot connect with you. A test app reaches only its team and its sandbox.")
        )
        return redirect("consent:inbox")
    except errors.AuditUnavailable:
        messages.error(request, gettext("Your history cannot be written just now, so nothing was changed. Try again."))
        return _shown(request, found, code=code, status=503)
    found.status = ConnectionStatus.DECLINED
    if _leads_back(found):
        return _away(found)
    messages.info(request, gettext("Declined. The app learns that somebody declined, and not who."))
    return redirect("consent:inbox")


def _connected(request: HttpRequest, made: Connection) -> HttpResponse:
    if made.request is not None:
        return redirect("consent:review", made.request.request_id)
    if _leads_back(made):
        return _away(made)
    messages.success(request, gettext("Connected. You find the app under Apps, and can end it there."))
    return redirect("consent:app", made.app.app_id)


@signed_in_page
def return_after_request(request: HttpRequest, request_id: str) -> HttpResponse:
    """Back to the app, once there is a decision: by the connection that the request rode on, or its own address."""
    consent_request = web_queries.own_request(person_of(request), request_id)
    status = consent_request.status_at(database_now())
    if not consent_request.return_url or not is_still_registered(consent_request.return_url, consent_request.app):
        raise Http404
    if status is RequestStatus.PENDING:
        return redirect("consent:review", request_id)
    rode_on = Connection.objects.filter(request=consent_request, completed_at=None).first()
    if rode_on is not None:
        return _away(rode_on)
    target = with_members(consent_request.return_url, request_id=consent_request.request_id, status=status)
    return HttpResponse(status=303, headers={"Location": target})


def _leads_back(found: Connection) -> bool:
    return bool(found.return_url) and is_still_registered(found.return_url, found.app)


def _away(found: Connection) -> HttpResponse:
    answer = HttpResponse(status=303, headers={"Location": actions.return_to(connection=found)})
    return _letting_return(answer, found)


def _letting_return(answer: HttpResponse, found: Connection) -> HttpResponse:
    """Browsers hold a form's redirect to the policy too, so this page alone may lead to this one site."""
    if found.return_url:
        answer._csp_update = {"form-action": [origin_in(found.return_url)]}  # type: ignore[attr-defined]  # read by csp's middleware
    return answer
