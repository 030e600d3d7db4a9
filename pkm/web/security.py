"""The security page: the lock of the account (allauth's pages) and the lock of the data, side by side."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of, signed_in_page
from accounts.interrupted.middleware import wait_for_sign_in
from accounts.interrupted.page_forms import Field, page_button, page_form
from accounts.models import User
from accounts.sign_in.confirming import signed_in_recently
from accounts.sign_in.second_factors import has_one_passkey_alone
from common.clock import rfc3339
from pkm.errors import LastWrapper, OnlyRecoveryLeft, RotationUnderWay, TooManyWrappers, UnknownRotation, UnknownWrapper
from pkm.registry import copy as registry_copy
from pkm.registry.labels import scope_labels
from pkm.reset.actions import pending_reset
from pkm.rotation import queries as rotation_queries
from pkm.vault import actions as vault_actions
from pkm.vault import queries as vault_queries
from pkm.vault.models import KeyWrapper, WrapperKind
from pkm.web.my_data import guessable_words, named_for_passkey

_ICONS = {"passphrase": "key", "recovery": "file", "passkey": "fingerprint"}


@signed_in_page
def security(request: HttpRequest) -> HttpResponse:
    """Every way to sign in and every way to unlock."""
    user = person_of(request)
    removed = [_in_words(wrapper) for wrapper in vault_queries.removed_wrappers(user)]
    shown = _locks(request) | {
        "removed": removed,
        "check_due": vault_queries.recovery_check_due(user),
        "reminds": vault_queries.needs_new_secrets(user),
        "one_passkey": has_one_passkey_alone(user),
    }
    return render(request, "account_security/security.html", shown)


@signed_in_page
def recover(request: HttpRequest) -> HttpResponse:
    """For whoever forgot the passphrase: what still opens the data leads to new secrets, which replace the old."""
    shown = _locks(request)
    if not shown["has_vault"]:
        return redirect("vault:setup")
    passphrases = [way for way in shown["wrappers"] if way["kind"] == "passphrase"]
    back = request.GET.get("next", "")
    back = back if url_has_allowed_host_and_scheme(back, None) else "/vault/"
    return render(request, "account_security/recover.html", shown | {"back": back, "passphrases": passphrases})


@signed_in_page
def change_key(request: HttpRequest) -> HttpResponse:
    """A new key for everything that is kept; one that was begun earlier, or on another device, goes on here."""
    shown = _locks(request)
    if not shown["has_vault"]:
        return redirect("vault:setup")
    coming = {wrapper["kind"] for wrapper in _coming(person_of(request))} if shown["rotation"] else set()
    shown |= {"coming": coming, "labels": _segment_labels()}
    return render(request, "account_security/change_key.html", shown)


def _segment_labels() -> dict[str, str]:
    """`domain.segment` → what people call it."""
    scopes = [scope for scope in registry_copy.entries().by_scope if scope.count(".") == 3 and scope.endswith(".*")]
    return {scope.removeprefix("attr.").removesuffix(".*"): label for scope, label in scope_labels(scopes).items()}


def _coming(user: User) -> list[dict[str, Any]]:
    try:
        return list(rotation_queries.rotation(user)["wrappers"])
    except UnknownRotation:  # it ended at this very moment
        return []


def _locks(request: HttpRequest) -> dict[str, Any]:
    """What both pages show and their scripts need: the ways in without what is sealed, and whose they are."""
    user = person_of(request)
    keys = vault_queries.vault_keys(user)
    shown = ("wrapper_id", "kind", "label", "created_at", "last_used_at")
    return {
        "has_vault": keys["vault_status"] != "absent",
        "reset": pending_reset(user) if keys["vault_status"] == "locked_out" else None,
        "rotation": keys["rotation"],
        "wrappers": [_in_words({name: wrapper[name] for name in shown}) for wrapper in keys["wrappers"]],
        "kinds": {wrapper["kind"] for wrapper in keys["wrappers"]},
        "fresh": signed_in_recently(request),
        "reauthenticate_url": _reauthenticate_url(request.get_full_path()),
        "person": named_for_passkey(user),
        "known": guessable_words(user),
    }


def _reauthenticate_url(back: str = "/account/security/") -> str:
    return "/accounts/reauthenticate/?" + urlencode({"next": back})


def _change(request: HttpRequest, wrapper_id: str, change: Callable[..., Any], done: str) -> HttpResponse:
    """A change of the ways to unlock needs a fresh sign-in, so that a stolen session cannot lock anyone out."""
    if not signed_in_recently(request):
        return wait_for_sign_in(request, _reauthenticate_url())
    try:
        change(by=person_of(request), wrapper_id=wrapper_id)
    except UnknownWrapper:
        raise Http404 from None
    except LastWrapper:
        messages.error(request, gettext("This is the last way to unlock your data, so it cannot be removed."))
    except RotationUnderWay:
        message = gettext("The key of your data is being changed. Finish that, or give it up, before you change these.")
        messages.error(request, message)
        return redirect("change-key")
    except TooManyWrappers:
        messages.error(request, gettext("There are as many ways to unlock as there can be. Remove one first."))
    else:
        messages.success(request, done)
    return redirect("security")


@page_form(_("Remove it"), Field("only_recovery", _("Only my recovery code may be left"), "check"), danger=True)
def remove(request: HttpRequest, wrapper_id: str) -> HttpResponse:
    """What would still open the data, then the button; a second look where that is a piece of paper."""
    if request.method != "POST":
        return _before_removal(request, wrapper_id)
    change = partial(vault_actions.remove_wrapper, allow_only_recovery="only_recovery" in request.POST)
    done = gettext("Removed. It no longer unlocks your data. You can put it back for 7 days.")
    try:
        return _change(request, wrapper_id, change, done)
    except OnlyRecoveryLeft:
        return _before_removal(request, wrapper_id, unconfirmed=True)


def _before_removal(request: HttpRequest, wrapper_id: str, *, unconfirmed: bool = False) -> HttpResponse:
    removal = vault_queries.removal(person_of(request), wrapper_id)
    if removal is None:
        raise Http404
    gone, *left = (_in_words(_row(wrapper)) for wrapper in (removal.gone, *removal.left))
    shown = {"gone": gone, "left": left, "only_recovery": removal.only_recovery_remains}
    page = "account_security/remove.html"
    return render(request, page, shown | {"unconfirmed": unconfirmed}, status=400 if unconfirmed else 200)


def _row(wrapper: KeyWrapper) -> dict[str, Any]:
    return {
        "wrapper_id": wrapper.wrapper_id,
        "kind": wrapper.kind,
        "label": wrapper.label,
        "created_at": rfc3339(wrapper.created_at),
        "last_used_at": rfc3339(wrapper.last_used_at),
    }


def _in_words(wrapper: dict[str, Any]) -> dict[str, Any]:
    """With its icon; called in the reader's language where it was named after its kind, in whichever."""
    kind = WrapperKind(wrapper["kind"])
    label = str(kind.label) if wrapper["label"] in _names(kind) else wrapper["label"]
    return wrapper | {"label": label, "icon": _ICONS[kind]}


def _names(kind: WrapperKind) -> frozenset[str]:
    names = set()
    for language, _name in settings.LANGUAGES:
        with override(language):
            names.add(str(kind.label))
    return frozenset(names)


@page_button(_("Put back"))
def restore(request: HttpRequest, wrapper_id: str) -> HttpResponse:
    done = gettext("Put back. It unlocks your data again.")
    return _change(request, wrapper_id, vault_actions.restore_wrapper, done)
