"""What is asked about endpoints more than once."""

from django.db.models import QuerySet

from common.problems import NotFound
from developers.apps.models import App
from developers.webhooks.models import WebhookEndpoint


def endpoints_of(app: App) -> QuerySet[WebhookEndpoint]:
    """The app's endpoints, the oldest first, without their secrets."""
    return WebhookEndpoint.objects.filter(app=app).defer("secret", "previous_secret").order_by("pk")


def endpoint_of(app: App, endpoint_pk: int) -> WebhookEndpoint:
    """This one of the app's endpoints; raises `NotFound` for another app's as for none."""
    found = endpoints_of(app).filter(pk=endpoint_pk).first()
    if found is None:
        raise NotFound("The app has no such endpoint.")
    return found
