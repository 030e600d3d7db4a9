"""Where apps want to be told: endpoints, and the secrets that sign what they are sent."""

import base64
import secrets
from collections.abc import Iterable

from django.utils import timezone

from common import encryption
from developers.models import App, WebhookEndpoint


def add_endpoint(*, app: App, url: str, types: Iterable[str] = ()) -> tuple[WebhookEndpoint, str]:
    """A new endpoint and its secret, which is told this once and kept encrypted. No types: every type."""
    secret = _new_secret()
    endpoint = WebhookEndpoint.objects.create(app=app, url=url, types=list(types), secret=encryption.sealed(secret))
    return endpoint, secret


def renew_secret(*, endpoint: WebhookEndpoint) -> str:
    """A new secret, which signs from the next delivery on; the old one signs nothing any more."""
    secret = _new_secret()
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(secret=encryption.sealed(secret))
    return secret


def disable_endpoint(*, endpoint: WebhookEndpoint, reason: str) -> bool:
    """Send nothing there until it is enabled again; False where nothing was sent already."""
    live = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at=None)
    return bool(live.update(disabled_at=timezone.now(), reason=reason))


def enable_endpoint(*, endpoint: WebhookEndpoint) -> bool:
    """Send there again; False where it was not disabled."""
    disabled = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=False)
    return bool(disabled.update(disabled_at=None, reason=""))


def _new_secret() -> str:
    """As Standard Webhooks write them: 32 random octets in base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
