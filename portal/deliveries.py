"""Deliveries as the log of an endpoint shows them, on the page and to the script that keeps it fresh."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext

from common.clock import database_now, rfc3339
from consent.notices.models import DeliveryStatus, WebhookDelivery
from consent.notices.queries import FAILED, deliveries_of
from developers.apps.models import AppStatus
from developers.webhooks.models import WebhookEndpoint

PAGE = 50


class LogFilter(forms.Form):
    """What of the log is shown; anything unknown shows the newest of everything."""

    show = forms.ChoiceField(required=False, choices=[("", ""), ("failed", "")])
    before = forms.IntegerField(required=False, min_value=1)

    def chosen(self) -> tuple[bool, int | None]:
        """Whether only what failed, and before which notice."""
        self.is_valid()
        return self.cleaned_data.get("show") == "failed", self.cleaned_data.get("before")


@dataclass(frozen=True)
class DeliveryRow:
    delivery_pk: int
    kind: str
    sequence: int
    at: datetime
    status: str
    label: str
    attempts: int
    status_code: int | None
    ms: int | None
    tried_at: datetime | None
    next_at: datetime | None
    is_due: bool
    error: str
    replay_url: str

    def as_json(self) -> dict[str, Any]:
        """For the script: times as RFC 3339, everything else as it is shown."""
        times = {name: rfc3339(getattr(self, name)) for name in ("at", "tried_at", "next_at")}
        return {**self.__dict__, **times}


@dataclass(frozen=True)
class DeliveryPage:
    """A part of the log; `older` is what `before` has to be for the next one, None at the end."""

    rows: list[DeliveryRow]
    older: int | None


def page_of_deliveries(
    endpoint: WebhookEndpoint, *, app_id: str, only_failed: bool, before: int | None
) -> DeliveryPage:
    """The newest notices' deliveries, or those before a notice."""
    found = deliveries_of(endpoint)
    if only_failed:
        found = found.filter(FAILED)
    if before is not None:
        found = found.filter(notice_id__lt=before)
    rows = list(found[: PAGE + 1])
    shown = rows[:PAGE]
    older = shown[-1].notice_id if len(rows) > PAGE else None
    sends = endpoint.disabled_at is None and endpoint.app.status == AppStatus.ACTIVE
    now = database_now() if sends else None
    return DeliveryPage([_row(delivery, app_id, now) for delivery in shown], older)


def newest_of_each(endpoints: QuerySet[WebhookEndpoint]) -> QuerySet[WebhookEndpoint]:
    """The endpoints, each with `last_tried_at`, `last_status_code` and `last_failure` of its newest notice tried."""
    tried = WebhookDelivery.objects.filter(endpoint=OuterRef("pk"), tried_at__isnull=False).order_by("-notice_id")
    return endpoints.annotate(
        last_tried_at=Subquery(tried.values("tried_at")[:1]),
        last_status_code=Subquery(tried.values("status_code")[:1]),
        last_failure=Subquery(tried.values("failure")[:1]),
    )


def _row(delivery: WebhookDelivery, app_id: str, now: datetime | None) -> DeliveryRow:
    """Without `now` nothing is sent: what waits is for when the endpoint and its app are there again."""
    is_waiting = delivery.status == DeliveryStatus.WAITING
    return DeliveryRow(
        delivery_pk=delivery.pk,
        kind=delivery.notice.kind,
        sequence=delivery.notice.sequence,
        at=delivery.notice.at,
        status=delivery.status,
        label=str(DeliveryStatus(delivery.status).label),
        attempts=delivery.attempt,
        status_code=delivery.status_code,
        ms=delivery.ms,
        tried_at=delivery.tried_at,
        next_at=delivery.next_at if is_waiting and now else None,
        is_due=bool(is_waiting and now and delivery.next_at <= now),
        error=failure_in_words(delivery.failure, delivery.status_code),
        replay_url=reverse("portal:webhook-replay", args=[app_id, delivery.endpoint_id, delivery.pk]),
    )


def failure_in_words(failure: str, status_code: int | None) -> str:
    """Why an attempt came to nothing, in the reader's language; "" where it did not fail."""
    if not failure:
        return ""
    if failure == "the endpoint is disabled":
        return gettext("The endpoint was disabled.")
    if status_code is None:
        return gettext("It cannot be reached: no public address, no connection, or no answer in time.")
    if 300 <= status_code < 400:
        return gettext("It redirects, which is not followed.")
    return gettext("It answered %(code)s.") % {"code": status_code}
