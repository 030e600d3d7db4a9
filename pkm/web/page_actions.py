"""What the buttons of the vault's pages ask for, in words, so that it can wait while somebody signs in again."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Values, Words, to_page
from pkm.registry import copy as registry_copy
from pkm.registry.labels import translated
from pkm.scopes import parse
from pkm.vault import queries as vault_queries
from pkm.vault.models import VaultStatus


def page_of_scope(scope: str) -> str:
    """Where this scope can be hidden from apps and shown to them."""
    domain = scope.split(".")[1] if scope.count(".") > 1 else ""
    known = any(entry.domain == domain for entry in registry_copy.entries().by_scope.values())
    return reverse("vault:domain", args=[domain]) if known else reverse("vault:overview")


def _discovery(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    scope = values.get("scope", "")
    if parse(scope) is None:
        return None
    entry = registry_copy.entries().by_scope.get(scope)
    name = {"name": translated(entry.label) if entry else scope}
    if values.get("hide") == "1":
        return Words(gettext("You asked to hide from apps that you could share: %(name)s.") % name, gettext("Hide"))
    return Words(gettext("You asked to show to apps that you could share: %(name)s.") % name, gettext("Show"))


def _setup_done(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if vault_queries.status_of(person_of(request)) == VaultStatus.ABSENT:
        return None
    return Words(gettext("You asked to end the set-up of your data."), gettext("Done"))


def _remove(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    name = _label(vault_queries.vault_keys(person_of(request))["wrappers"], kwargs["wrapper_id"])
    if name is None:
        return None
    asked = gettext("You asked to remove a way to unlock your data: %(name)s.") % {"name": name}
    return Words(asked, gettext("Remove"), danger=True)


def _restore(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    name = _label(vault_queries.removed_wrappers(person_of(request)), kwargs["wrapper_id"])
    if name is None:
        return None
    return Words(
        gettext("You asked to put back a way to unlock your data: %(name)s.") % {"name": name}, gettext("Put back")
    )


def _label(wrappers: list[dict[str, Any]], wrapper_id: str) -> str | None:
    return next((str(one["label"]) for one in wrappers if one["wrapper_id"] == wrapper_id), None)


def _give_up(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if vault_queries.status_of(person_of(request)) in (VaultStatus.ABSENT, VaultStatus.LOCKED_OUT):
        return None
    return Words(gettext("You asked to give up your sealed data."), gettext("Give it up"), danger=True)


def _keep(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if vault_queries.status_of(person_of(request)) != VaultStatus.LOCKED_OUT:
        return None
    return Words(gettext("You asked to keep your sealed data."), gettext("Keep my data"))


DISCOVERY = PageAction(
    page=lambda kwargs, values: page_of_scope(values.get("scope", "")),
    words=_discovery,
    fields=(Field("scope"), Field("hide")),
)
SETUP_DONE = PageAction(page=to_page("vault:setup-preview"), words=_setup_done, fields=(Field("then"),))
REMOVE_WRAPPER = PageAction(
    page=to_page("security"),
    words=_remove,
    fields=(Field("only_recovery", _("Only my recovery code may be left"), "check"),),
    shows_itself=True,
)
RESTORE_WRAPPER = PageAction(page=to_page("security"), words=_restore)
GIVE_UP_VAULT = PageAction(
    page=to_page("vault-reset"),
    words=_give_up,
    fields=(Field("understood", _("I have no way left to unlock my data, and it may be destroyed."), "check"),),
    shows_itself=True,
)
KEEP_VAULT = PageAction(page=to_page("vault-reset"), words=_keep)
