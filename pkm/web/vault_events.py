"""Every change of what somebody keeps, as their browser and its ways in made it: numbered, without a gap."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from accounts.authentication import person_of
from pkm.history.models import Event, EventKind
from pkm.registry.labels import scope_labels
from pkm.web.known import known
from pkm.web.my_data import has_vault

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User

PAGE = 50
_KINDS: dict[str, Callable[[], str]] = {
    "passphrase": lambda: gettext("Passphrase"),
    "recovery": lambda: gettext("Recovery code"),
    "passkey": lambda: gettext("Passkey"),
}


def _count(attributes: int) -> str:
    return ngettext("%d thing kept", "%d things kept", attributes) % attributes


@dataclass(frozen=True)
class Change:
    """One line of the list."""

    sequence: int
    at: datetime
    icon: str
    title: str
    detail: str = ""


@login_required
@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    """Newest first, below what all of them came to; `?before=` a sequence number shows what came before it."""
    user = person_of(request)
    if not has_vault(user):
        return redirect("vault:setup")
    asked = request.GET.get("before", "")
    before = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else None
    events = list(_events(user, before)[: PAGE + 1])
    lines = _in_words(events[:PAGE])
    older = lines[-1].sequence if len(events) > PAGE else None
    now = known(user) if before is None else None
    return render(request, "vault/changes.html", {"lines": lines, "older": older, "before": before, "known": now})


def _events(user: "User", before: int | None) -> "QuerySet[Event]":
    events = Event.objects.filter(user=user).order_by("-sequence")
    return events if before is None else events.filter(sequence__lt=before)


def _in_words(events: list[Event]) -> list[Change]:
    named = scope_labels(_scope(event.facts) for event in events)
    return [Change(event.sequence, event.at, *_told(event, named.get(_scope(event.facts), ""))) for event in events]


def _scope(facts: dict[str, Any]) -> str:
    """The scope whose name says what an event is about; empty where it is about the vault as a whole."""
    if "scope" in facts:
        return str(facts["scope"])
    if "domain" not in facts:
        return ""
    return f"attr.{facts['domain']}.{facts['segment_id']}.*" if "segment_id" in facts else f"attr.{facts['domain']}.*"


def _told(event: Event, about: str) -> tuple[str, str, str]:
    """Icon, title and detail."""
    facts = event.facts
    match EventKind(event.kind):
        case EventKind.VAULT_CREATED:
            return "lock", gettext("Your vault was set up"), ""
        case EventKind.WRAPPER_ADDED:
            return "key", gettext("A way to unlock was added"), _KINDS[facts["kind"]]()
        case EventKind.WRAPPER_REMOVED:
            return "key", gettext("A way to unlock was removed"), _KINDS[facts["kind"]]()
        case EventKind.WRAPPER_RESTORED:
            return "key", gettext("A way to unlock was put back"), _KINDS[facts["kind"]]()
        case EventKind.SEGMENT_WRITTEN:
            return "edit", gettext("Saved: %s") % about, gettext("Revision %d") % facts["content_revision"]
        case EventKind.SEGMENT_DELETED:
            return "trash", gettext("Deleted: %s") % about, gettext("Revision %d") % facts["content_revision"]
        case EventKind.MANIFEST_CHANGED:
            return "file", gettext("What you keep changed: %s") % about, _count(facts["path_count"])
        case EventKind.SCOPE_HIDDEN:
            return "eye-off", gettext("Hidden from apps: %s") % about, ""
        case EventKind.SCOPE_SHOWN:
            return "eye", gettext("Shown to apps: %s") % about, ""
        case EventKind.MIGRATION_STEP:
            return "upload", gettext("Older data was taken over"), about
