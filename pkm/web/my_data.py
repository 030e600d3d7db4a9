"""The vault's pages. The server shows names, counts and times; values appear only in the person's own browser."""

import re
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.page_forms import page_button, page_form
from accounts.models import User
from accounts.sharing_id import sharing_id_of
from accounts.sign_in.confirming import signed_in_recently, where_to_confirm
from accounts.sign_in.passkeys import ids_of_passkeys
from pkm import hooks
from pkm.errors import VaultAbsent
from pkm.legacy import queries as legacy_queries
from pkm.notes import has_notes
from pkm.registry import copy as registry_copy
from pkm.registry import hidden_scopes
from pkm.registry import queries as registry_queries
from pkm.registry.labels import described, described_each, translated
from pkm.registry.vocabulary import for_script, word
from pkm.reset.actions import pending_reset
from pkm.segments.storage import storage_of
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.vault.models import VaultStatus
from pkm.web import queries as web_queries

# What the first minutes ask for: a few things that many apps could make use of.
FIRST = (
    "identity.basic.full_name",
    "contact.email.email",
    "location.home.city",
    "lifestyle.food.favorite_cuisine",
    "lifestyle.food.diet_preference",
    "interests.leisure.sports_interest",
)
_STEPS = (_("Passphrase"), _("Recovery code"), _("First data"), _("What apps see"))


def has_vault(user: User) -> bool:
    return vault_queries.status_of(user) != VaultStatus.ABSENT


def _steps(current: int) -> list[dict[str, Any]]:
    states = ["done"] * current + ["current"] + ["todo"] * (len(_STEPS) - current - 1)
    return [{"label": label, "state": state} for label, state in zip(_STEPS, states, strict=True)]


@signed_in_page
def overview(request: HttpRequest) -> HttpResponse:
    """Everything the person keeps, by domain."""
    user = person_of(request)
    status = vault_queries.status_of(user)
    if status == VaultStatus.ABSENT:
        return redirect("vault:setup")
    audience = hooks.audience_of(user)
    domains = [_in_words(domain) | {"audience": audience.get(domain["domain"])} for domain in web_queries.my_data(user)]
    words = {
        f"{domain['domain']}.{segment['segment_id']}.{attribute['name']}": attribute["word"]
        for domain in domains
        for segment in domain["segments"]
        for attribute in segment["attributes"]
    }
    return render(
        request,
        "vault/overview.html",
        {
            "domains": domains,
            "empty": [domain for domain in domains if not domain["stored_count"] and not domain["audience"]],
            "has_bank": settings.AGGREGATOR is not None,
            "words": words,
            "total": sum(domain["stored_count"] for domain in domains),
            "storage": storage_of(user),
            "sharing": sharing_id_of(user),
            "check_due": vault_queries.recovery_check_due(user),
            "reset": pending_reset(user) if status == VaultStatus.LOCKED_OUT else None,
            "old_rows": legacy_queries.rows_to_import(user),
        },
    )


def _in_words(domain: dict[str, Any]) -> dict[str, Any]:
    """A card of `my_data` with its labels in the page's language and the words its values are shown with."""
    return {
        **domain,
        "label": translated(domain["label"]),
        "description": translated(domain["description"]),
        "segments": [
            {
                **segment,
                "label": translated(segment["label"]),
                "description": translated(segment["description"]),
                "stored_count": sum(attribute["is_stored"] for attribute in segment["attributes"])
                + len(segment["own_attributes"]),
                "attributes": [_attribute(domain, segment, attribute) for attribute in segment["attributes"]],
            }
            for segment in domain["segments"]
        ],
    }


def _attribute(domain: dict[str, Any], segment: dict[str, Any], attribute: dict[str, Any]) -> dict[str, Any]:
    label = translated(attribute["label"])
    path = f"{domain['domain']}.{segment['segment_id']}.{attribute['name']}"
    return {
        **attribute,
        "label": label,
        "description": translated(attribute["description"]),
        "word": for_script(word(path), label),
    }


@signed_in_page
def domain(request: HttpRequest, domain: str) -> HttpResponse:
    """One domain: its segments, each a form of its own that the browser fills in and seals."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    found = next((card for card in web_queries.my_data(user) if card["domain"] == domain), None)
    if found is None:
        raise Http404
    card = _in_words(found)
    segments = {
        segment["segment_id"]: {
            "label": segment["label"],
            "attributes": {
                attribute["name"]: {**attribute["word"], "help": attribute["description"]}
                for attribute in segment["attributes"]
            },
        }
        for segment in card["segments"]
    }
    audience = hooks.audience_of(user).get(domain)
    return render(request, "vault/domain.html", {"domain": card, "segments": segments, "audience": audience})


@page_button({"hide=1": _("Hide from apps"), "hide=0": _("Show to apps")}, "scope")
def discovery(request: HttpRequest) -> HttpResponse:
    """Hide a scope from discovery, or show it again; works without a script, as far as no vault remembers it.

    What a vault hides it alone shows again: its notes would take what this does for somebody else's doing.
    """
    scope, hide = request.POST.get("scope", "")[:210], request.POST.get("hide") == "1"
    if not hide and has_notes(person_of(request)) and scope in registry_queries.hidden_scopes(person_of(request)):
        messages.warning(request, gettext("Nothing was changed. Unlock your data, then show this to apps again."))
        return _back_to(scope)
    change = hidden_scopes.hide_scope if hide else hidden_scopes.show_scope
    change(by=person_of(request), scope=scope)
    if hide:
        messages.success(request, gettext("Hidden. Apps can no longer see that you could share this."))
    else:
        messages.success(request, gettext("Shown. Apps can see that you could share this, and ask for it."))
    return _back_to(scope)


def _back_to(scope: str) -> HttpResponse:
    domain = scope.split(".")[1] if scope.count(".") > 1 else ""
    return redirect("vault:domain", domain) if domain else redirect("vault:overview")


@signed_in_page
def transfer(request: HttpRequest) -> HttpResponse:
    """Bring data in and take all of it out, in the browser."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    return render(request, "vault/transfer.html", {"known": segments_in_words(user)})


def segments_in_words(user: User) -> dict[str, Any]:
    """`domain.segment` → its label and the words of its attributes, for every segment that has a place here."""
    return {
        f"{domain['domain']}.{segment['segment_id']}": {
            "label": f"{domain['label']}: {segment['label']}",
            "attributes": {attribute["name"]: attribute["word"] for attribute in segment["attributes"]},
        }
        for domain in map(_in_words, web_queries.my_data(user))
        for segment in domain["segments"]
    }


@signed_in_page
def setup(request: HttpRequest) -> HttpResponse:
    """A passphrase or a passkey, and the recovery code. All stay in the browser, so both steps are one page.

    Where it was begun for something, it goes on there instead of to the first data.
    """
    user, begun_for = person_of(request), _page_named_in(request)
    if has_vault(user):
        return HttpResponseRedirect(begun_for or reverse("vault:overview"))
    context: dict[str, Any] = {"steps": _steps(0), "known": guessable_words(user), "person": person_for_passkey(user)}
    context["next"] = begun_for or reverse("vault:setup-first")
    context["fresh"] = signed_in_recently(request)
    context["reauthenticate_url"] = f"{where_to_confirm(user)}?{urlencode({'next': request.get_full_path()})}"
    return render(request, "vault/setup.html", context)


def named_for_passkey(user: User) -> dict[str, str]:
    """How a device lists a passkey for the data, apart from one that signs in."""
    return {"name": gettext("%(email)s (data)") % {"email": user.email}, "displayName": user.get_short_name()}


def _page_named_in(request: HttpRequest) -> str:
    """A page of this site, without a query, which could hold what is to be in no page; else ""."""
    named = request.GET.get("next", "")
    is_page = named.startswith("/") and "?" not in named and url_has_allowed_host_and_scheme(named, None)
    return named if is_page else ""


def person_for_passkey(user: User) -> dict[str, Any]:
    """The same for a new vault, with the passkeys that sign in where no password does: one is at hand, and may open the
    data too."""
    person: dict[str, Any] = named_for_passkey(user)
    return person if user.has_usable_password() else person | {"signIn": ids_of_passkeys(user)}


def guessable_words(user: User) -> list[str]:
    """Words that others would try first when guessing this person's passphrase."""
    return [part for part in {user.email, user.email.split("@")[0], user.display_name} if part]


@signed_in_page
def setup_first(request: HttpRequest) -> HttpResponse:
    """The first few things, in one short form."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    known = {attribute.path: attribute for group in described(FIRST) for attribute in group.attributes}
    fields = [{"path": path, "word": known[path].word} for path in FIRST if path in known]
    return render(
        request, "vault/setup_first.html", {"steps": _steps(2), "fields": fields, "account_email": user.email}
    )


@signed_in_page
def setup_preview(request: HttpRequest) -> HttpResponse:
    """What an app would see of all this before any approval: names, and no value."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    copy = registry_copy.entries()
    found = copy.discovered(web_queries.vault_summary(user)["summary_projection"], registry_queries.hidden_scopes(user))
    entries = [
        entry for scope in found.scopes if (entry := copy.by_scope[scope]).parsed.segment and not entry.parsed.attribute
    ]
    seen = [
        {
            "label": translated(entry.label),
            "icon": entry.domain or "star",
            "tier": entry.sensitivity_tier,
            "names": ", ".join(attribute.label for group in groups for attribute in group.attributes),
        }
        for entry, groups in zip(entries, described_each(entry.attributes for entry in entries), strict=True)
    ]
    return render(
        request, "vault/setup_preview.html", {"steps": _steps(3), "seen": seen, "sharing": sharing_id_of(user)}
    )


@page_form({"then=more": _("Enter more"), "": _("Finish")}, has_page=False)
def setup_done(request: HttpRequest) -> HttpResponse:
    """The end of the setup, and where the person goes from there; looking at it changes nothing."""
    if request.method != "POST":
        return redirect(settings.LOGIN_REDIRECT_URL)
    try:
        vault_actions.finish_setup(by=person_of(request))
    except VaultAbsent:
        return redirect("vault:setup")
    return redirect("vault:overview" if request.POST.get("then") == "more" else settings.LOGIN_REDIRECT_URL)


_ANALYSIS = re.compile(r"ana_[a-z2-7]{10,60}\Z")


@signed_in_page
def keep(request: HttpRequest) -> HttpResponse:
    """The page alone, with where each attribute has its place; the analysis is named in the address."""
    user = cast("User", request.user)
    if vault_queries.status_of(user) == VaultStatus.ABSENT:
        return redirect("vault:setup")
    named = request.GET.get("analysis", "")
    found = _ANALYSIS.match(named)
    places = _places(user)
    return render(
        request,
        "vault/import.html",
        {"analysis": named if found else "", "places": places},
        status=200 if found else 404,
    )


def _places(user: User) -> dict[str, dict[str, object]]:
    """Attribute name → the segment that it is kept in and the words that it is shown with."""
    return {
        attribute["name"]: {
            "domain": card["domain"],
            "segment": segment["segment_id"],
            "group": ": ".join(dict.fromkeys(translated(one["label"]) for one in (card, segment))),
            "word": for_script(
                word(f"{card['domain']}.{segment['segment_id']}.{attribute['name']}"), translated(attribute["label"])
            ),
        }
        for card in web_queries.my_data(user)
        for segment in card["segments"]
        for attribute in segment["attributes"]
    }
