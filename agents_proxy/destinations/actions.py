"""What the members of an app do with its destinations.

Keyword-only, the one who acts as `by=`; each change is written into the app's audit. None of them changes where a
destination leads: what people agreed to names it. For another address, make another destination.
"""

from django.db import transaction

from accounts.models import User
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.destinations.models import Destination
from common import encryption
from common.clock import database_now
from common.outbound.signing import new_secret
from developers.apps.audit import record
from developers.apps.models import App
from developers.apps.policies import lock_open_app
from developers.webhooks.policies import check_address, refused_address

MOST_DESTINATIONS = 20  # of one app


@transaction.atomic
def add_destination(*, app: App, name: str, url: str, by: User | None) -> tuple[Destination, str]:
    """A new destination and the secret that signs for it, which is told this once and kept encrypted.

    `name` is what people read: one line of plain text, 1 to 80 characters. Raises `InvalidRequest`.
    """
    check_address(url)
    locked = lock_open_app(app)
    existing = Destination.objects.filter(app=app, removed_at=None)
    if existing.count() >= MOST_DESTINATIONS:
        raise refused_address("too_many", f"An app has at most {MOST_DESTINATIONS} destinations.")
    if existing.filter(url=url).exists():
        raise refused_address("not_new", "The app has a destination with this address already.")
    secret = new_secret()
    destination = Destination.objects.create(app=locked, name=name, url=url, secret=encryption.sealed(secret))
    record(app=locked, by=by, action="destination.added", destination=destination.destination_id, name=name, url=url)
    return destination, secret


@transaction.atomic
def enable_destination(*, destination: Destination, by: User) -> bool:
    """Let people send there again; False where they can already."""
    disabled = Destination.objects.filter(pk=destination.pk, disabled_at__isnull=False, removed_at=None)
    changed = bool(disabled.update(disabled_at=None))
    if changed:
        record(app=destination.app, by=by, action="destination.enabled", name=destination.name)
    return changed


@transaction.atomic
def disable_destination(*, destination: Destination, by: User | None, reason: str = "") -> bool:
    """Send nothing there until it is enabled again, what waits neither; False where that is so already."""
    open_one = Destination.objects.filter(pk=destination.pk, disabled_at=None)
    changed = bool(open_one.update(disabled_at=database_now()))
    if changed:
        record(app=destination.app, by=by, action="destination.disabled", name=destination.name, reason=reason)
    return changed


@transaction.atomic
def renew_secret(*, destination: Destination, by: User) -> str:
    """A new secret, which signs every attempt from now on in place of the old one. Raises `UnknownDestination`."""
    secret = new_secret()
    live = Destination.objects.filter(pk=destination.pk, removed_at=None)
    if not live.update(secret=encryption.sealed(secret)):
        raise UnknownDestination
    record(app=destination.app, by=by, action="destination.secret_renewed", name=destination.name)
    return secret


@transaction.atomic
def remove_destination(*, destination: Destination, by: User) -> bool:
    """End it for good, with its secret; what waits is not sent. False where it was gone."""
    now = database_now()
    Destination.objects.filter(pk=destination.pk, disabled_at=None).update(disabled_at=now)
    there = Destination.objects.filter(pk=destination.pk, removed_at=None)
    changed = bool(there.update(removed_at=now, secret=""))
    if changed:
        record(app=destination.app, by=by, action="destination.removed", name=destination.name)
    return changed
