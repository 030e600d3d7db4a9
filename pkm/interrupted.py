"""What the buttons of the vault's pages ask for, in words, so that it can wait while somebody signs in again."""

from typing import TYPE_CHECKING, Any, cast

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext

from accounts.page_actions import Field, PageAction, Values, Words
from pkm import queries, registry
from pkm.labels import translated
from pkm.scopes import parse

if TYPE_CHECKING:
    from accounts.models import User

Kwargs = dict[str, Any]


def _person(request: HttpRequest) -> "User":
    return cast("User", request.user)


def page_of_scope(scope: str) -> str:
    """Where this scope can be hidden from apps and shown to them."""
    domain = scope.split(".")[1] if scope.count(".") > 1 else ""
    known = any(entry.domain == domain for entry in registry.entries().by_scope.values())
    return reverse("vault:domain", args=[domain]) if known else reverse("vault:overview")


def _discovery(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    scope = values.get("scope", "")
    if parse(scope) is None:
        return None
    entry = registry.entries().by_scope.get(scope)
    name = {"name": translated(entry.label) if entry else scope}
    if values.get("hide") == "1":
        return Words(gettext("You asked to hide from apps that you could share: %(name)s.") % name, gettext("Hide"))
    return Words(gettext("You asked to show to apps that you could share: %(name)s.") % name, gettext("Show"))


def _setup_done(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if queries.vault_keys(_person(request))["vault_status"] == "absent":
        return None
    return Words(gettext("You asked to end the set-up of your data."), gettext("Done"))


def _remove(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    name = _label(queries.vault_keys(_person(request))["wrappers"], kwargs["wrapper_id"])
    if name is None:
        return None
    asked = gettext("You asked to remove a way to unlock your data: %(name)s.") % {"name": name}
    return Words(asked, gettext("Remove"), danger=True)


def _restore(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    name = _label(queries.removed_wrappers(_person(request)), kwargs["wrapper_id"])
    if name is None:
        return None
    return Words(
        gettext("You asked to put back a way to unlock your data: %(name)s.") % {"name": name}, gettext("Put back")
    )


def _label(wrappers: list[dict[str, Any]], wrapper_id: str) -> str | None:
    return next((str(one["label"]) for one in wrappers if one["wrapper_id"] == wrapper_id), None)


DISCOVERY = PageAction(
    page=lambda kwargs, values: page_of_scope(values.get("scope", "")),
    words=_discovery,
    fields=(Field("scope"), Field("hide")),
)
SETUP_DONE = PageAction(
    page=lambda kwargs, values: reverse("vault:setup-preview"), words=_setup_done, fields=(Field("then"),)
)
REMOVE_WRAPPER = PageAction(page=lambda kwargs, values: reverse("security"), words=_remove)
RESTORE_WRAPPER = PageAction(page=lambda kwargs, values: reverse("security"), words=_restore)
