"""What is asked about deliveries more than once."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q, QuerySet

from common.problems import NotFound
from consent.notices.models import DeliveryStatus, WebhookDelivery
from developers.webhooks.models import WebhookEndpoint

# Given up, or still tried after a failure.
FAILED = Q(status=DeliveryStatus.GIVEN_UP) | Q(status=DeliveryStatus.WAITING, attempt__gt=0)


def deliveries_of(endpoint: WebhookEndpoint) -> QuerySet[WebhookDelivery]:
    """The endpoint's deliveries with their notices, the newest notice first."""
    newest = WebhookDelivery.objects.filter(endpoint=endpoint).order_by("-notice_id")
    return newest.select_related("notice").defer("notice__facts")


def failed_since(endpoint: WebhookEndpoint, since: datetime) -> QuerySet[WebhookDelivery]:
    """What of the endpoint's notices since then did not arrive, the oldest first."""
    return WebhookDelivery.objects.filter(FAILED, endpoint=endpoint, notice__at__gte=since).order_by("notice_id")


def count_pending_deliveries(endpoint: WebhookEndpoint) -> int:
    """How many deliveries are still to be made there."""
    return WebhookDelivery.objects.filter(endpoint=endpoint, status=DeliveryStatus.WAITING).count()


def delivery_of(app_pks: Sequence[int], delivery_pk: int) -> WebhookDelivery:
    """This delivery, where it is of one of these apps; raises `NotFound` for another app's as for none."""
    of_apps = WebhookDelivery.objects.filter(pk=delivery_pk, endpoint__app__in=app_pks)
    found = of_apps.select_related("endpoint__app", "notice").defer("notice__facts").first()
    if found is None:
        raise NotFound("There is no such delivery, or it is not yours.")
    return found
