"""Where apps want to be told: endpoints, and the secrets that sign what they are sent.

Keyword-only, the one who acts as `by=`, which is None for the service itself; each change is written into the app's
audit. Which types of notices there are, the caller knows and has checked.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from common import encryption
from common.clock import database_now
from common.outbound.signing import new_secret
from common.problems import InvalidRequest, NotFound
from developers.apps.audit import record
from developers.apps.models import App
from developers.apps.policies import lock_open_app
from developers.webhooks.models import WebhookEndpoint
from developers.webhooks.policies import check_address, refused_address

MOST_ENDPOINTS = 20  # of one app
BY_MEMBER = "a member of the app"
OVERLAP, LONGEST_OVERLAP = timedelta(hours=24), timedelta(days=30)


@transaction.atomic
def add_endpoint(*, app: App, url: str, by: User | None, types: Sequence[str] = ()) -> tuple[WebhookEndpoint, str]:
    """A new endpoint and its secret, which is told this once and kept encrypted. No types: every type.

    Raises `InvalidRequest`.
    """
    check_address(url)
    lock_open_app(app)
    if WebhookEndpoint.objects.filter(app=app).count() >= MOST_ENDPOINTS:
        raise refused_address("too_many", f"An app has at most {MOST_ENDPOINTS} endpoints.")
    _must_be_free(app, url)
    secret = new_secret()
    endpoint = WebhookEndpoint.objects.create(app=app, url=url, types=list(types), secret=encryption.sealed(secret))
    record(app=app, by=by, action="webhook.added", endpoint=endpoint.pk, url=url, types=list(types))
    return endpoint, secret


@transaction.atomic
def change_endpoint(
    *, endpoint: WebhookEndpoint, url: str | None = None, types: Sequence[str] | None = None, by: User
) -> bool:
    """Send to `url` and of `types` from now on, what waits too; what is None stays. False where that is so already.

    Raises `InvalidRequest`, `NotFound`.
    """
    App.objects.select_for_update(no_key=True).get(pk=endpoint.app_id)
    current = _locked(endpoint)
    before = {"url": current.url, "types": list(current.types)}
    new_url = current.url if url is None else url
    after = {"url": new_url, "types": before["types"] if types is None else list(types)}
    if before == after:
        return False
    if new_url != current.url:
        check_address(new_url)
        _must_be_free(current.app, new_url)
    current.url, current.types = new_url, after["types"]
    current.save(update_fields=["url", "types"])
    facts = {"endpoint": current.pk, "url": current.url, "before": before, "after": after}
    record(app=current.app, by=by, action="webhook.changed", **facts)
    return True


@transaction.atomic
def update_endpoint(
    *, endpoint: WebhookEndpoint, by: User, url: str | None, types: Sequence[str] | None, enabled: bool | None
) -> WebhookEndpoint:
    """As `change_endpoint`, and on or off. Returns how it is then."""
    change_endpoint(endpoint=endpoint, url=url, types=types, by=by)
    if enabled is True:
        enable_endpoint(endpoint=endpoint, by=by)
    elif enabled is False:
        disable_endpoint(endpoint=endpoint, by=by, reason=BY_MEMBER)
    return WebhookEndpoint.objects.get(pk=endpoint.pk)


@transaction.atomic
def delete_endpoint(*, endpoint: WebhookEndpoint, by: User) -> bool:
    """Forget the endpoint with its secret, and its deliveries with what became of them; False where it was gone."""
    there = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    if there.select_for_update().first() is None:  # before its deliveries: one that is being written is in by then
        return False
    there.delete()
    record(app=endpoint.app, by=by, action="webhook.deleted", endpoint=endpoint.pk, url=endpoint.url)
    return True


@transaction.atomic
def renew_secret(*, endpoint: WebhookEndpoint, by: User, overlap: timedelta = OVERLAP) -> str:
    """A new secret, which signs from the next delivery on; for `overlap` the old one signs beside it.

    24 h by default, at most 30 days; none at all where the old one leaked. Renewed once more within an overlap, the
    oldest signs nothing any more. Raises `InvalidRequest`, `NotFound`.
    """
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise InvalidRequest("The old secret may sign for another 0 to 30 days.")
    locked = _locked(endpoint)
    secret = new_secret()
    locked.previous_secret, locked.previous_until = (locked.secret, database_now() + overlap) if overlap else ("", None)
    locked.secret = encryption.sealed(secret)
    locked.save(update_fields=["secret", "previous_secret", "previous_until"])
    facts = {"endpoint": locked.pk, "url": locked.url, "overlap": int(overlap.total_seconds())}
    record(app=endpoint.app, by=by, action="webhook.secret_renewed", **facts)
    return secret


def forget_previous_secrets(*, now: datetime) -> int:
    """Forget the old secrets whose overlap is over; returns how many."""
    over = WebhookEndpoint.objects.filter(previous_until__lte=now)
    return over.update(previous_secret="", previous_until=None)  # none


@transaction.atomic
def disable_endpoint(*, endpoint: WebhookEndpoint, by: User | None, reason: str) -> bool:
    """Send nothing there until it is enabled again; False where nothing was sent already."""
    live = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at=None)
    changed = bool(live.update(disabled_at=timezone.now(), reason=reason))
    if changed:
        facts = {"endpoint": endpoint.pk, "url": endpoint.url, "reason": reason}
        record(app=endpoint.app, by=by, action="webhook.disabled", **facts)
    return changed


@transaction.atomic
def enable_endpoint(*, endpoint: WebhookEndpoint, by: User) -> bool:
    """Send there again; False where it was not disabled."""
    disabled = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=False)
    changed = bool(disabled.update(disabled_at=None, reason=""))
    if changed:
        record(app=endpoint.app, by=by, action="webhook.enabled", endpoint=endpoint.pk, url=endpoint.url)
    return changed


def _locked(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """As it stands now."""
    found = WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk=endpoint.pk).first()
    if found is None:
        raise NotFound("The app has no such endpoint.")
    return found


def _must_be_free(app: App, url: str) -> None:
    """The caller holds the app, so that nobody takes the address meanwhile."""
    if WebhookEndpoint.objects.filter(app=app, url=url).exists():
        raise refused_address("not_new", "The app has an endpoint with this address already.")
