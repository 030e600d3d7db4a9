"""Changes of what somebody keeps, and of how it is unlocked, in words; with the page of what the service knows now."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy

from accounts.authentication import person_of, signed_in_page
from pkm.history.models import Event, EventKind
from pkm.registry.labels import scope_labels
from pkm.web.my_data import has_vault
from pkm.web.queries import vault_overview

_WAYS: dict[str, Callable[[], str]] = {
    "passphrase": lambda: gettext("Passphrase"),
    "recovery": lambda: gettext("Recovery code"),
    "passkey": lambda: gettext("Passkey"),
}
# the icon and the sentence of each, in which `%s` is what it is about
_SENTENCES = {
    EventKind.VAULT_CREATED: ("lock", gettext_lazy("Your vault was set up")),
    EventKind.WRAPPER_ADDED: ("key", gettext_lazy("A way to unlock was added")),
    EventKind.WRAPPER_REMOVED: ("key", gettext_lazy("A way to unlock was removed")),
    EventKind.WRAPPER_RESTORED: ("key", gettext_lazy("A way to unlock was put back")),
    EventKind.SEGMENT_WRITTEN: ("edit", gettext_lazy("Saved: %s")),
    EventKind.SEGMENT_DELETED: ("trash", gettext_lazy("Deleted: %s")),
    EventKind.MANIFEST_CHANGED: ("file", gettext_lazy("What you keep changed: %s")),
    EventKind.SCOPE_HIDDEN: ("eye-off", gettext_lazy("Hidden from apps: %s")),
    EventKind.SCOPE_SHOWN: ("eye", gettext_lazy("Shown to apps: %s")),
    EventKind.MIGRATION_STEP: ("upload", gettext_lazy("Older data was taken over")),
}
OF_UNLOCKING = (EventKind.VAULT_CREATED, EventKind.WRAPPER_ADDED, EventKind.WRAPPER_REMOVED, EventKind.WRAPPER_RESTORED)


@dataclass(frozen=True)
class Change:
    at: datetime
    kind: EventKind
    icon: str
    title: str
    detail: str = ""


@signed_in_page
def changes(request: HttpRequest) -> HttpResponse:
    """What all changes came to. Each of them stands in the history."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    return render(request, "vault/changes.html", {"known": vault_overview(user)})


def sentence_of(kind: EventKind) -> str:
    return str(_SENTENCES[kind][1])


def in_words(events: Iterable[Event]) -> list[Change]:
    """These events in their order; one query."""
    some = list(events)
    named = scope_labels(_scope(event.facts) for event in some)
    return [_change(event, named.get(_scope(event.facts), "")) for event in some]


def _scope(facts: dict[str, Any]) -> str:
    """The scope whose name says what an event is about; empty where it is about the vault as a whole."""
    if "scope" in facts:
        return str(facts["scope"])
    if "domain" not in facts:
        return ""
    return f"attr.{facts['domain']}.{facts['segment_id']}.*" if "segment_id" in facts else f"attr.{facts['domain']}.*"


def _change(event: Event, about: str) -> Change:
    kind = EventKind(event.kind)
    icon, sentence = _SENTENCES[kind]
    detail = ""
    if "kind" in event.facts:
        detail = _WAYS[event.facts["kind"]]()
    elif kind is EventKind.MIGRATION_STEP:
        detail = about
    return Change(event.at, kind, icon, str(sentence) % about if "%s" in sentence else str(sentence), detail)
