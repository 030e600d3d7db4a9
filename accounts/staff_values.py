"""Values as staff read them: what the code calls a state, in the reader's language; and JSON as lines and tables."""

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, partial
from typing import Any

from django.contrib import admin
from django.db import models
from django.utils.formats import date_format, localize
from django.utils.html import format_html, format_html_join
from django.utils.text import capfirst
from django.utils.timezone import localtime
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common.text import StrOrPromise

NOTHING = "-"  # as the admin writes it elsewhere

# Of every room: an identifier means the same wherever it stands. Of "consent.approved" it is the last part.
WORDS: dict[str, StrOrPromise] = {
    # where something stands
    "active": _("Active"),
    "agent_busy": _("Too busy"),
    "agent_error": _("Error of the agent"),
    "agent_failed": _("Task failed"),
    "agent_refused_us": _("Refused us"),
    "answered": _("Answered"),
    "approved": pgettext_lazy("badge", "Approved"),
    "cancelled": pgettext_lazy("badge", "Cancelled"),
    "complete": _("Complete"),
    "completed": _("Completed"),
    "completed_with_errors": _("Completed with errors"),
    "confirmed": _("Confirmed"),
    "delivered": _("Delivered"),
    "denied": pgettext_lazy("badge", "Denied"),
    "disclosed": _("Sent there; no deletion asked for"),
    "email_removed": _("The address was removed"),
    "exhausted": pgettext_lazy("badge", "All reads used"),
    "exited": _("Left without finishing"),
    "expired": pgettext_lazy("badge", "Expired"),
    "failed": _("Failed"),
    "initial": _("The newest only"),
    "invalid_agent_response": _("Invalid answer"),
    "login_required": _("Sign-in needed again"),
    "not_ready": _("Not ready"),
    "number_removed": _("The number was removed"),
    "number_verified_by_another": _("Somebody else verified the number"),
    "open": _("Open"),
    "paused": pgettext_lazy("badge", "Paused"),
    "pending": pgettext_lazy("badge", "Waiting"),
    "queued": _("Queued"),
    "released": pgettext_lazy("badge", "Given back"),
    "removed": _("Removed"),
    "revoked": pgettext_lazy("badge", "Stopped"),
    "running": _("Running"),
    "sending": _("Being sent"),
    "sent": _("Sent"),
    "superseded": pgettext_lazy("badge", "Replaced"),
    "terminated": pgettext_lazy("badge", "Terminated"),
    "unconfirmed": _("Never confirmed"),
    "unknown": _("Unknown"),
    "upstream_timeout": _("Timed out"),
    "upstream_unavailable": _("Not reached"),
    # what an aggregator's refusal was
    "aggregator_busy": _("Too busy"),
    "aggregator_refused": _("Refused us"),
    "aggregator_timeout": _("Timed out"),
    "aggregator_unavailable": _("Not reached"),
    "changed_meanwhile": _("Changed meanwhile"),
    "item_login_required": _("Sign-in needed again"),
    "item_removed": _("Removed"),
    "item_revoked": _("Taken back by the person"),
    # who did it
    "app": _("The app"),
    "person": _("The person"),
    "staff": _("Staff"),
    "system": _("This service"),
    # what a consent to processing covers, and what for
    "own": _("The person's own calls"),
    "run": _("One analysis"),
    "site": _("Calls of one site"),
    "activation": _("Sending to destinations"),
    "brand_affinity": _("Brand affinity"),
    "enrichment": _("Enrichment"),
    "financial": _("Finances"),
    "identity": _("Identity"),
    "messaging": _("Messages"),
    "profile": _("Profile"),
    # events that are no state's name
    "app_blocked": _("App blocked"),
    "app_connected": _("App connected"),
    "app_disconnected": _("App disconnected"),
    "app_reported": _("App reported"),
    "app_unblocked": _("App no longer blocked"),
    "connected": _("Connected"),
    "connector_key_registered": _("Connector key registered"),
    "connector_key_removed": _("Connector key removed"),
    "declined": _("Declined"),
    "erased": _("Erased"),
    "export_updated": _("Export renewed"),
    "given": _("Given"),
    "kept_current": _("Newer values allowed"),
    "reads": _("Reads"),
    "release": _("Release"),
    "restored": _("Restored from a backup"),
    "resumed": _("Resumed"),
    "signing_key_given_up": _("Approval key given up"),
    "signing_key_replaced": _("Approval key replaced"),
    "signing_key_set": _("Approval key set"),
    "staff_viewed": _("Seen by staff"),
    "updated": _("Export renewed"),
    "vault_state": _("Vault notes changed"),
    "withdrawn": _("Withdrawn"),
}

# what a fact is called in JSON, and what an event is about; what has no German here keeps its name
NAMES = {
    gettext_noop("access duration"), gettext_noop("approved attributes"), gettext_noop("request status"),
    gettext_noop("by"), gettext_noop("what"), gettext_noop("page"), gettext_noop("old"), gettext_noop("new"),
    gettext_noop("first"), gettext_noop("last"), gettext_noop("imported"), gettext_noop("known"),
    gettext_noop("refused"), gettext_noop("line"), gettext_noop("reason"), gettext_noop("usable from"),
    gettext_noop("superseded"), gettext_noop("person"), gettext_noop("processing consent"), gettext_noop("analysis"),
    gettext_noop("activation"), gettext_noop("deletion"), gettext_noop("connection"),
}  # fmt: skip


# of JSON, the members whose texts are the code's; any other text is somebody's own, and stays as it is
_IDENTIFIERS = {
    "actor", "by", "decided_by", "ended_by", "event", "kind", "outcome", "purpose", "purposes", "request_status",
    "status",
}  # fmt: skip
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")


def in_words(value: Any, name: str = "") -> str:
    """What stands on a page for JSON, of the member `name`: a list one entry to a line, an object as a table."""
    if isinstance(value, bool):
        return gettext("Yes") if value else gettext("No")
    if isinstance(value, dict) and value:
        rows = ((_name(member), in_words(one, member)) for member, one in value.items())
        body = format_html_join("", "<tr><th scope=row>{}</th><td>{}</td></tr>", rows)
        return format_html('<table class="facts"><tbody>{}</tbody></table>', body)
    if isinstance(value, list | tuple) and value:
        return format_html_join("\n", "<div>{}</div>", ((in_words(one, name),) for one in value))
    if isinstance(value, str) and value:
        return kind_in_words(value) if name in _IDENTIFIERS else _text(value)
    return NOTHING if value in (None, "", [], {}, ()) else str(localize(value))


def _text(value: str) -> str:
    """A time by the reader's own clock; any other text as it is, also one that is no time after all."""
    try:
        at = localtime(datetime.fromisoformat(value)) if _TIME.fullmatch(value) else None
    except (ValueError, OverflowError):
        return value
    return value if at is None else date_format(at, "DATETIME_FORMAT")


def _name(name: str) -> str:
    return gettext(name.replace("_", " "))


def kind_in_words(value: str) -> str:
    """An identifier of an event or a state, also one with what it is about before it: `processing_consent.given`."""
    about, _dot, what = value.rpartition(".")
    if what not in WORDS:
        return value or NOTHING
    label = str(WORDS[what])
    return label if about in ("", "consent", "export") else f"{capfirst(_name(about))}: {label}"


@cache
def column(field: "models.Field[Any, Any]") -> Callable[[Any], str]:
    """A column or read-only field of the admin that shows this field of a row in words."""
    words = partial(in_words, name=field.name) if isinstance(field, models.JSONField) else kind_in_words

    @admin.display(description=field.verbose_name, ordering=field.name)
    def shown(row: Any) -> str:
        return words(getattr(row, field.name))

    shown.__name__ = field.name
    return shown


def has_raw_choices(field: Any) -> bool:
    """Whether the field's choices have their identifiers for labels."""
    return bool(field.choices) and all(value == label for value, label in field.flatchoices)


class ChoicesInWords(admin.ChoicesFieldListFilter):
    """A filter by the choices of a field, each in words."""

    def choices(self, changelist: Any) -> Any:
        words = {value: kind_in_words(value) for value, _label in self.field.flatchoices}
        for choice in super().choices(changelist):
            yield {**choice, "display": words.get(choice["display"], choice["display"])}
