"""The page on which a person lets a host act for an app of theirs, or for themselves; and the button that stops it."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.authentication import person_of
from accounts.interrupted.page_forms import page_button, page_form
from accounts.models import User
from accounts.sign_in.confirming import signed_in_recently, where_to_confirm
from common.limits import Limit, count
from common.problems import InvalidRequest, Problem, TooManyRequests
from common.text import StrOrPromise
from consent.connector_keys.queries import newest_usable_key_id
from developers.apps.models import App, AppStatus
from developers.members.queries import memberships_of
from developers.oauth.actions import AuthorizationRequest, allow_host, check_challenge, stop_host
from developers.oauth.clients import find_client, host_of, is_document_address
from developers.oauth.errors import InvalidTarget
from developers.oauth.models import OAuthClient
from developers.oauth.redirects import destination_of, form_source, is_registered
from developers.oauth.resources import SCOPES, answer_address, the_resource
from developers.tokens.models import Permission

FOR_ME = "me"


@dataclass(frozen=True)
class Acting:
    """One way: as an app of the person's, or where that is None for the person alone.

    Without a key of its own, or one that the app registered or may publish, nothing could be opened, so that reading
    is not among its permissions.
    """

    value: str
    app: App | None
    permissions: list[str]

    @property
    def can_read(self) -> bool:
        return Permission.READ in self.permissions


def ways_of_acting(user: User, authorization: AuthorizationRequest) -> dict[str, Acting]:
    """The ways that this person can choose from, by what the form sends."""
    active = [member.app for member in memberships_of(user) if member.app.status == AppStatus.ACTIVE]
    ways = [Acting(FOR_ME, None, _without_read(authorization, has_key=bool(authorization.client.jwks)))]
    ways += [Acting(app.app_id, app, _without_read(authorization, has_key=_has_key(app))) for app in active]
    return {way.value: way for way in ways}


def _has_key(app: App) -> bool:
    return bool(app.proved_domain) or newest_usable_key_id(app_pk=app.pk) is not None


def _without_read(authorization: AuthorizationRequest, *, has_key: bool) -> list[str]:
    return [name for name in authorization.permissions if has_key or name != Permission.READ]


_DOCUMENTS = Limit("client-documents", 60, 3600)  # that one person has this server fetch
_LONGEST_STATE = 2000


class _Refused(Exception):
    """What is wrong with the host's question, as OAuth calls it; the host is told."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(error)
        self.parameters = {"error": error, "error_description": description}


@require_http_methods(["GET", "POST"])
@page_form(fresh=True)
def authorize(request: HttpRequest) -> HttpResponse:
    """Always shown, however often it was answered before; whoever answers has just shown that it is them."""
    try:
        client, redirect_uri = _client_and_address(request)
    except Problem as problem:  # nobody is sent to an address that no client named
        context: dict[str, Any] = {"problem": problem.detail}
        return render(request, "consent/authorize.html", context, status=max(400, min(problem.status, 429)))
    state = request.GET.get("state")
    try:
        authorization = _authorization_request(request, client, redirect_uri)
    except _Refused as refused:
        # whoever registers names an address of their own: no link alone leads there (RFC 9700, 4.11.2)
        context = {
            "refused": refused.parameters["error"],
            "back": answer_address(redirect_uri, **refused.parameters, state=state),
            "goes_to": destination_of(redirect_uri),
        }
        return render(request, "consent/authorize.html", context, status=400)
    if not signed_in_recently(request):
        back = urlencode({"next": request.get_full_path()})
        return redirect(f"{where_to_confirm(person_of(request))}?{back}")
    if request.method != "POST":
        return _page(request, authorization)
    if request.POST.get("answer") != "allow":
        denied = {"error": "access_denied", "error_description": "The person said no."}
        return _send_to(answer_address(redirect_uri, **denied, state=state))
    return _allowed(request, authorization, state)


def _allowed(request: HttpRequest, authorization: AuthorizationRequest, state: str | None) -> HttpResponse:
    chosen = ways_of_acting(person_of(request), authorization).get(request.POST.get("act_as", ""))
    if chosen is None:
        return _page(request, authorization, gettext("Choose for whom it acts."))
    ticked = [name for name in chosen.permissions if name in request.POST.getlist("permission")]
    try:
        code = allow_host(authorization=authorization, by=person_of(request), app=chosen.app, permissions=ticked)
    except InvalidRequest:
        return _page(request, authorization, _in_words(ticked))
    return _send_to(answer_address(authorization.redirect_uri, code=code, state=state))


def _in_words(ticked: list[str]) -> str:
    if not ticked:
        return gettext("Choose something that it may do. Reading needs a key of the app that you chose.")
    return gettext("Staff suspended it, or you have connected too many programs. Stop one that you do not use.")


def _client_and_address(request: HttpRequest) -> tuple[OAuthClient, str]:
    """Who asks, and where the answer goes, each said once. Raises a `Problem`."""
    client_ids, addresses = request.GET.getlist("client_id"), request.GET.getlist("redirect_uri")
    if len(client_ids) != 1 or len(addresses) > 1:
        raise InvalidRequest(gettext("The program did not say who it is."))
    if is_document_address(client_ids[0]):
        count(_DOCUMENTS, person_of(request).public_id).require(TooManyRequests)
    client = find_client(client_ids[0])
    known: list[str] = client.redirect_uris
    address = addresses[0] if addresses else known[0] if len(known) == 1 else ""
    if not is_registered(address, known):
        raise InvalidRequest(gettext("The program wants the answer sent to an address that it did not name before."))
    return client, address


def _authorization_request(request: HttpRequest, client: OAuthClient, redirect_uri: str) -> AuthorizationRequest:
    """Raises `_Refused`."""
    if any(len(values) > 1 for _, values in request.GET.lists()):
        raise _Refused("invalid_request", "Give each member once.")
    if len(request.GET.get("state", "")) > _LONGEST_STATE:
        raise _Refused("invalid_request", f"state has at most {_LONGEST_STATE} characters.")
    if request.GET.get("response_type") != "code":
        raise _Refused("unsupported_response_type", "response_type is code.")
    if request.GET.get("response_mode", "query") != "query" or "request" in request.GET or "request_uri" in request.GET:
        raise _Refused("invalid_request", "The answer goes into the query, and the question comes in it.")
    wanted = request.GET.get("scope", " ".join(SCOPES)).split()
    permissions = [name for name in SCOPES if name in wanted]
    if not permissions:
        raise _Refused("invalid_scope", f"Ask for one or more of {' '.join(SCOPES)}.")
    try:
        challenge = check_challenge(
            request.GET.get("code_challenge", ""), request.GET.get("code_challenge_method", "plain")
        )
        resource = the_resource(request.GET.get("resource", ""))
    except InvalidTarget as refusal:
        raise _Refused("invalid_target", refusal.detail) from None
    except InvalidRequest as refusal:
        raise _Refused("invalid_request", refusal.detail) from None
    return AuthorizationRequest(client, redirect_uri, challenge, resource, permissions)


def _page(request: HttpRequest, authorization: AuthorizationRequest, problem: str = "") -> HttpResponse:
    ways = ways_of_acting(person_of(request), authorization)
    ticked = request.POST.getlist("permission") if request.method == "POST" else authorization.permissions
    context: dict[str, Any] = {
        "authorization": authorization,
        "host": host_of(authorization.client),
        "goes_to": destination_of(authorization.redirect_uri),
        "ways": ways.values(),
        "chosen": request.POST.get("act_as") or _first(ways),
        "permissions": [
            (name, _WORDS[name], name in ticked)
            for name in authorization.permissions
            if name != Permission.READ or any(way.can_read for way in ways.values())
        ],
        "said_wrong": problem,
    }
    page = render(request, "consent/authorize.html", context, status=400 if problem else 200)
    # browsers hold a form's redirects to the policy of the page that it was on
    page._csp_update = {"form-action": [form_source(authorization.redirect_uri)]}  # type: ignore[attr-defined]  # of django-csp
    return page


_WORDS: dict[str, StrOrPromise] = {
    Permission.DISCOVER: _("See what could be asked for"),
    Permission.REQUEST: _("Ask for it; each time the person decides here"),
    Permission.READ: _("Fetch what was approved, which it opens with its key alone"),
}


def _first(ways: dict[str, Acting]) -> str:
    """The only way there is; where there are several, nothing is chosen for the person."""
    return next(iter(ways)) if len(ways) == 1 else ""


def _send_to(address: str) -> HttpResponse:
    """Django's own redirect takes no schemes of programs; this address was compared with what the client named."""
    return HttpResponse(status=303, headers={"Location": address})


@page_button(_("Stop it"), danger=True)
def stop(request: HttpRequest, prefix: str) -> HttpResponse:
    if stop_host(prefix=prefix, by=person_of(request)):
        messages.success(request, gettext("Stopped. It can neither ask nor read any more."))
    else:
        messages.info(request, gettext("This had ended already. Nothing was changed now."))
    return redirect("consent:apps")
