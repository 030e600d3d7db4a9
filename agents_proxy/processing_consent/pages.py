"""The hosted page of consent to processing: for our own pages and, with a token in the fragment, for other sites."""

import hashlib
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_button, page_form
from accounts.models import User
from agents_proxy.agents import unchecked
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.destinations.models import Destination
from agents_proxy.errors import ConsentEnded
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.forms import PURPOSE_FIELDS, ConsentForm
from agents_proxy.processing_consent.identifiers import are_used_for, verified_by, verify_url
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.processing_consent.origins import App, app_of_origin
from agents_proxy.processing_consent.overview import agreements_of, titles_of
from agents_proxy.statements import VERSION, statement
from agents_proxy.states import ProcessingStatus, Purpose
from common.clock import database_now, rfc3339
from common.problems import TooManyRequests

_LOCAL = ("localhost", "127.0.0.1")
_MEMBERS = {"origin", "purposes", "return_url", "destination", "state"}
_LONGEST_STATE = 500  # characters


@dataclass(frozen=True)
class ConsentQuery:
    """What the page is to ask for. `app`, `origin` and `return_url` are None where our own pages ask.

    `state` is the site's own, which comes back with the answer as it was.
    """

    purposes: list[Purpose]
    app: App | None
    origin: str | None
    return_url: str | None
    destinations: list[Destination] = field(default_factory=list)
    state: str | None = None

    @property
    def described(self) -> list[str]:
        return [destination.described for destination in self.destinations]


class InvalidLink(Exception):
    """The link that led here cannot be followed; the reason is for the person in front of it."""


@page_form(
    {"decision=agree": _("I agree to what I ticked"), "decision=refuse": _("I do not agree")},
    "shown",
    "email",
    "number",
    "duration",
    *PURPOSE_FIELDS,
    on_its_page=True,
)
def agree(request: HttpRequest) -> HttpResponse:
    """Show who asks for what, in the words that are kept, and take the answer."""
    try:
        query = _checked_query(request)
    except InvalidLink as reason:
        return render(
            request, "agents/consent_unfit.html", {"reason": str(reason), "repeats_nothing": True}, status=400
        )
    if query is None:
        return redirect("processing:given")
    words = statement(query.purposes, requester=_who(query), lasts=None, destinations=query.described)
    own = verified_by(person_of(request).pk).needed_for(query.purposes)
    shown = hashlib.sha256("\n".join([str(words), *own.emails, "", *own.phone_numbers]).encode()).hexdigest()
    form, status = ConsentForm(own=own, points=words.points), 200
    if request.method == "POST" and request.POST.get("decision") != "agree":
        return _refused(query)
    if request.method == "POST" and request.POST.get("shown", shown) != shown:
        # while the page was open an app may have named another destination, or an address may have gone
        messages.error(request, gettext("What is asked of you has changed since you read it. Read it again."))
    elif request.method == "POST":
        form, status = ConsentForm(request.POST, own=own, points=words.points), 400
        if form.is_valid():
            try:
                return _agreed(request, query, form)
            except TooManyRequests as refused:
                form.add_error(None, refused.detail)
                status = refused.status
    context = {
        "query": query, "statement": words, "shown": shown, "version": VERSION, "unchecked": unchecked(query.purposes),
        "form": form, "uses_identifiers": are_used_for(query.purposes), "verify_url": verify_url(),
    }  # fmt: skip
    return _letting_the_form_return(render(request, "agents/consent.html", context, status=status), query)


@signed_in_page
def given(request: HttpRequest) -> HttpResponse:
    """Everything that this person agreed to, with the words of then."""
    agreements = agreements_of(person_of(request), request.GET.get("page"))
    return render(request, "agents/consents.html", {"agreements": agreements, "page_obj": agreements.page_obj})


@page_form(_("Renew"))
def renew(request: HttpRequest, consent_id: str) -> HttpResponse:
    """What is renewed and until when, and a button: a mail before the end leads here."""
    person = person_of(request)
    found = consents.renewable(person).filter(consent_id=consent_id).first()
    if found is None:
        raise Http404
    if request.method != "POST":
        now = database_now()
        content = {"consent": found, "titles": titles_of(found), "until": found.renewed_until(now)}
        live = found.status_at(now) == ProcessingStatus.LIVE
        return render(request, "agents/renew.html", {**content, "live": live})
    try:
        consents.renew(consent_id=consent_id, by=person)
    except ConsentEnded:
        messages.error(request, gettext("It has ended already and cannot be renewed."))
    else:
        messages.success(request, gettext("Renewed. You can still withdraw it at any time."))
    return redirect("processing:given")


@page_button(_("Withdraw"), danger=True)
def withdraw(request: HttpRequest, consent_id: str) -> HttpResponse:
    consents.withdraw(consent_id=consent_id, by=person_of(request))
    notice = gettext("Withdrawn. No agent is asked, and nothing is sent, under this consent any more.")
    messages.success(request, notice)
    if ProcessingConsent.objects.filter(consent_id=consent_id, deletions__isnull=False).exists():
        return redirect("deletions:receivers", consent_id)
    return redirect("processing:given")


def _who(query: ConsentQuery) -> str:
    return query.app.name if query.app else gettext("This service")


def _checked_query(request: HttpRequest) -> ConsentQuery | None:
    """The checked query; None where nothing is asked for."""
    query = request.GET
    if not query:
        return None
    if set(query) - _MEMBERS or any(len(values) != 1 for _, values in query.lists()):
        raise InvalidLink(gettext("The link that led here has parts that nobody knows."))
    try:
        purposes = {Purpose(name) for name in query.get("purposes", "").split(",")}
    except ValueError:
        raise InvalidLink(gettext("The link that led here does not say what you are to agree to.")) from None
    ordered = [purpose for purpose in Purpose if purpose in purposes]
    if query.keys().isdisjoint({"origin", "return_url", "state"}):
        return ConsentQuery(
            ordered, None, None, None, _destinations(person_of(request), query.get("destination", ""), ordered, None)
        )
    origin, return_url = query.get("origin", ""), query.get("return_url", "")
    app = app_of_origin(origin) if _is_origin(origin) else None
    if app is None:
        raise InvalidLink(gettext("The site that sent you here is not registered."))
    if not _is_on(return_url, origin):
        raise InvalidLink(gettext("The site that sent you here did not say where on it you are to return to."))
    state = query.get("state")
    if state is not None and (len(state) > _LONGEST_STATE or not state.isprintable()):
        raise InvalidLink(gettext("The link that led here has parts that nobody knows."))
    destinations = _destinations(person_of(request), query.get("destination", ""), ordered, app)
    return ConsentQuery(ordered, app, origin, return_url, destinations, state)


def _destinations(person: User, named: str, purposes: list[Purpose], app: App | None) -> list[Destination]:
    """What `activation` is to cover: what the link names, else, where an app asks, every destination that it has."""
    if Purpose.ACTIVATION not in purposes:
        if named:
            raise InvalidLink(gettext("The link that led here does not say what you are to agree to."))
        return []
    found: list[Destination] = []
    if named:
        try:
            found = destination_queries.named(named.split(","), person=person, app_pk=app.pk if app else None)
        except UnknownDestination:
            raise InvalidLink(gettext("The link that led here names a place to send to that is not there.")) from None
    elif app is not None:
        found = list(destination_queries.destinations_reaching(person).filter(app=app.pk))
    if not found:
        raise InvalidLink(gettext("The link that led here does not say where anything is to be sent."))
    return found


def _refused(query: ConsentQuery) -> HttpResponse:
    if query.return_url is None:
        return redirect("processing:given")
    return _back(query, {"error": "access_denied"})


def _agreed(request: HttpRequest, query: ConsentQuery, form: ConsentForm) -> HttpResponse:
    by, purposes, named = person_of(request), form.purposes(), form.named()
    destinations = query.destinations if Purpose.ACTIVATION in purposes else []
    if query.app is None or query.origin is None or query.return_url is None:
        consents.give(by=by, purposes=purposes, named=named, lasts=form.lasts(), destinations=destinations)
        messages.success(request, gettext("Agreed. You can withdraw it here at any time."))
        return redirect("processing:given")
    token = consents.give_to_site(
        by=by,
        purposes=purposes,
        named=named,
        lasts=form.lasts(),
        app=query.app,
        origin=query.origin,
        destinations=destinations,
    )
    members = {
        "consent_token": token.secret,
        "consent_id": token.consent.consent_id,
        "purposes": ",".join(token.consent.purposes),
        "expires_at": str(rfc3339(token.consent.expires_at)),
    }
    return _back(query, members)


def _back(query: ConsentQuery, members: dict[str, str]) -> HttpResponse:
    """To the site: what follows the `#` stays in the browser and reaches no server's log."""
    members |= {} if query.state is None else {"state": query.state}
    response = HttpResponse(status=303, headers={"Location": f"{query.return_url}#{urlencode(members)}"})
    return _letting_the_form_return(response, query)


def _letting_the_form_return(response: HttpResponse, query: ConsentQuery) -> HttpResponse:
    """Browsers hold a form's redirect to the policy too, so this page alone may lead to this one site."""
    if query.origin:
        response._csp_update = {"form-action": [query.origin]}  # type: ignore[attr-defined]  # read by csp's middleware
    return response


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        bare = f"{parts.scheme}://{parts.netloc}"
        secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
        secure = secure and parts.port != 0
    except ValueError:
        return False
    return secure and text == bare and "@" not in parts.netloc and text.isascii() and text.isprintable()


def _is_on(url: str, origin: str) -> bool:
    """Whether `url` is an address of `origin`, without a fragment of its own."""
    rest = url.removeprefix(origin)
    return (
        url.startswith(origin)
        and rest[:1] in ("", "/", "?")
        and not set(rest) & set("#\\ \"'<>")
        and (len(url) <= 2000 and rest.isascii() and rest.isprintable())
    )
