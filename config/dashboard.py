"""What waits for staff, with how many there are and how long the oldest has waited."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.staff_lists import MOST_COUNTED
from common.text import StrOrPromise
from pkm.registry.sync import registry_drift

_AUDIT = "consent/auditentry/"


@dataclass(frozen=True)
class Waiting:
    """One line of the dashboard; `alarm` says that somebody should look now."""

    label: StrOrPromise
    count: int
    oldest: datetime | None
    url: str
    alarm: bool = False

    @property
    def is_more(self) -> bool:
        """Whether there are more than were counted."""
        return self.count > MOST_COUNTED


def waiting(request: HttpRequest) -> list[Waiting]:
    """The lines that this member of staff may see; counts only, nobody's rows."""
    return [line for permission, line in _lines() if line.count and request.user.has_perm(permission)]


def _lines() -> Iterator[tuple[str, Waiting]]:
    """Each with the permission that it takes to see it."""
    now = timezone.now()
    yield from _to_decide()
    yield from _of_the_registry(now)
    yield from _of_people(now)
    yield from _of_apps(now)
    yield from _of_the_audit(now)


def _to_decide() -> Iterator[tuple[str, Waiting]]:
    applications = _rows("developers.DeveloperApplication").filter(status="submitted")
    yield (
        "developers.view_developerapplication",
        _line(
            _("applications to decide"),
            applications,
            "created_at",
            "developers/developerapplication/?status__exact=submitted",
        ),
    )
    yield "consent.view_appreport", _line(
        _("reports about apps"), _rows("consent.AppReport").filter(handled_at=None), "created_at",
        "consent/appreport/?handled_at__isempty=1",
    )  # fmt: skip
    proposed = _rows("consent.ScopeTemplate").filter(approved_by=None)
    yield "consent.view_scopetemplate", _line(
        _("templates awaiting a second approval"), proposed, "created_at",
        "consent/scopetemplate/?approved_by__isempty=1",
    )  # fmt: skip
    wording = _rows("agents_proxy.MessageTemplate").filter(approved_by=None)
    yield "agents_proxy.view_messagetemplate", _line(
        _("wording of messages awaiting a second approval"), wording, "created_at",
        "agents_proxy/messagetemplate/?approved_by__isempty=1",
    )  # fmt: skip


def _of_the_registry(now: datetime) -> Iterator[tuple[str, Waiting]]:
    yield (
        "pkm.view_scopeentry",
        Waiting(
            _("domains and scopes behind the starter list: run sync_registry"),
            len(registry_drift()),
            None,
            "pkm/scopeentry/?starter=differs",
        ),
    )
    unfinished = _rows("consent.ScopeWithdrawal").filter(finished_at=None)
    under_way = _line(
        _("withdrawn scopes on which requests still wait"), unfinished, "at",
        "consent/scopewithdrawal/?finished_at__isempty=1",
    )  # fmt: skip
    yield "consent.view_scopewithdrawal", _late(under_way, now - timedelta(minutes=30))


def _of_people(now: datetime) -> Iterator[tuple[str, Waiting]]:
    requests = _rows("consent.ConsentRequest")
    overdue = _line(
        _("expiries not written down yet"), requests.overdue(now), "expires_at", "consent/consentrequest/",
        first="expires_at",
    )  # fmt: skip
    yield "consent.view_consentrequest", _late(overdue, now - timedelta(minutes=5))


def _of_apps(now: datetime) -> Iterator[tuple[str, Waiting]]:
    given_up = _rows("consent.WebhookDelivery").filter(status="given_up", finished_at__gt=now - timedelta(days=7))
    yield "consent.view_webhookdelivery", _line(
        _("webhooks given up within a week"), given_up, "finished_at",
        "consent/webhookdelivery/?status__exact=given_up",
    )  # fmt: skip
    disabled = _rows("developers.WebhookEndpoint").filter(disabled_at__isnull=False)
    yield "developers.view_webhookendpoint", _line(
        _("webhook endpoints that are disabled"), disabled, "disabled_at",
        "developers/webhookendpoint/?disabled_at__isempty=0",
    )  # fmt: skip
    tokens = _rows("developers.DeveloperToken").filter(
        revoked_at=None, expires_at__gt=now, expires_at__lte=now + timedelta(days=7)
    )
    yield (
        "developers.view_developertoken",
        _line(_("tokens that expire within a week"), tokens, "created_at", "developers/developertoken/"),
    )


def _of_the_audit(now: datetime) -> Iterator[tuple[str, Waiting]]:
    unchained = _line(
        _("reads not in the audit chain yet"), _rows("consent.Read").filter(batch=""), "at", "consent/read/",
        first="pk",
    )  # fmt: skip
    yield "consent.view_read", _late(unchained, now - timedelta(minutes=5))
    pending = _line(
        _("audit entries that could not be written yet"), _rows("consent.AuditPending"), "at", _AUDIT, first="pk"
    )
    yield "consent.view_auditentry", _late(pending, now - timedelta(minutes=10))
    late = _line(_("audit entries not in the public log yet"), _rows("consent.LogQueue"), "at", _AUDIT, first="pk")
    yield "consent.view_auditentry", _late(late, now - timedelta(minutes=10))


def _rows(model: str) -> Any:
    """All rows of a model that is known by its name alone, in the model's own kind of queryset."""
    return apps.get_model(model)._default_manager.all()


def _line(label: StrOrPromise, rows: QuerySet[Any], since: str, url: str, *, first: str = "") -> Waiting:
    """`first`: a column in whose order the oldest row stands first, and an index serves it.

    Without one, the oldest of more than `MOST_COUNTED` rows is not looked for.
    """
    some = rows.order_by().values("pk", since)[: MOST_COUNTED + 1]
    found = some.aggregate(count=Count("pk"), oldest=Min(since))
    oldest = found["oldest"] if found["count"] <= MOST_COUNTED else None
    if first:
        oldest = rows.order_by(first).values_list(since, flat=True).first()
    return Waiting(label, found["count"], oldest, url)


def _late(line: Waiting, before: datetime) -> Waiting:
    """Work of the background: nothing for staff, unless nobody does it any more."""
    late = line.oldest is not None and line.oldest < before
    return Waiting(line.label, line.count if late else 0, line.oldest, line.url, late)
