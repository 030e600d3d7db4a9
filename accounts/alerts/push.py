"""What browsers show: an action leaves sealed rows in its transaction, one task of the worker sends them (RFC 8030).

A message says who asks for what kind of thing, and never a value. A browser that its push service knows no more is
forgotten.
"""

import json
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import translation

from accounts.alerts import encryption
from accounts.alerts.settings import ensure_settings
from accounts.language import language_for
from accounts.models import OutgoingPush, PushSubscription, User
from common.broker import enqueue
from common.clock import database_now
from common.encryption import DecryptionFailed, opened, sealed
from common.identifiers import secret_digest
from common.outbound.client import Client, chosen_by_app
from common.outbound.failures import ExchangeFailed
from common.problems import FieldError, InvalidRequest
from common.shutdown import shutdown

MOST = 10  # browsers of a person; the one that subscribed longest ago makes room
LASTS = timedelta(days=1)  # how long a message is tried, and kept for a browser that is off
_TASK = "accounts.tasks.send_pushes"
_MEMBER = "push"  # the session's member that names the browser's subscription
_LONGEST_ENDPOINT = 1024
_LONGEST_WORDS = 300  # characters of a line
_FORGOTTEN_AFTER = 8  # failures one after the other, which takes hours
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=2), timedelta(hours=2)
_SECONDS, _MOST_SECONDS = 5.0, 20.0  # of one message, and of one run
_log = logging.getLogger(__name__)


_client = Client(may_reach=chosen_by_app, connect_seconds=3)


@transaction.atomic
def subscribe(*, by: User, request: HttpRequest, endpoint: str, public_key: str, auth: str) -> None:
    """Send this browser what its person wants to hear of. An endpoint that was somebody else's is theirs from now on:
    there is one for each browser and site, which nobody else can know. Raises `InvalidRequest`."""
    _check(endpoint, public_key, auth)
    keys = {"endpoint": endpoint, "public_key": public_key, "auth": auth}
    PushSubscription.objects.filter(digest=secret_digest(endpoint)).exclude(user=by).delete()
    given = {
        "sealed": sealed(json.dumps(keys)),
        "user_agent": request.headers.get("User-Agent", "")[:200],
        "failures": 0,
        "made_at": database_now(),
    }
    made, _ = PushSubscription.objects.update_or_create(user=by, digest=secret_digest(endpoint), defaults=given)
    newest = list(subscriptions_of(by).values_list("pk", flat=True)[:MOST])
    PushSubscription.objects.filter(user=by).exclude(pk__in=newest).delete()
    ensure_settings(by)
    request.session[_MEMBER] = made.pk


def unsubscribe(*, by: User, endpoint: str) -> None:
    """Send this browser nothing any more; nothing happens where it got nothing."""
    PushSubscription.objects.filter(user=by, digest=secret_digest(endpoint)).delete()


def unsubscribe_all(user: User, **_: Any) -> None:
    PushSubscription.objects.filter(user=user).delete()


def unsubscribe_elsewhere(*, request: HttpRequest, user: User, **_: Any) -> None:
    """Every browser of theirs but this one: a new password signs all others out."""
    PushSubscription.objects.filter(user=user).exclude(pk=request.session.get(_MEMBER, 0)).delete()


def forget_signed_out(*, request: HttpRequest, user: User | None, **_: Any) -> None:
    """Who signs out of a browser is told nothing there any more."""
    made = request.session.get(_MEMBER) if user is not None else None
    if made is not None:
        PushSubscription.objects.filter(pk=made, user=user).delete()


def subscriptions_of(user: User) -> QuerySet[PushSubscription]:
    """The browsers that are told, the newest first."""
    return PushSubscription.objects.filter(user=user).order_by("-made_at", "-pk")


@transaction.atomic
def send_push(*, to: User, words: Callable[[], tuple[str, str]], path: str, tag: str) -> None:
    """Leave a message for each browser of `to`. `words` are its title and its text, made in their language. It leads to
    `path`; a later one with the same `tag` takes its place on the screen."""
    subscriptions = list(PushSubscription.objects.filter(user=to))
    if not subscriptions:
        return
    with translation.override(language_for(to)):
        title, text = (" ".join(line.split())[:_LONGEST_WORDS] for line in words())
    message = sealed(json.dumps({"title": title, "text": text, "path": path, "tag": tag}))
    now = database_now()
    OutgoingPush.objects.bulk_create(
        OutgoingPush(subscription=one, sealed=message, due_at=now, until=now + LASTS) for one in subscriptions
    )
    transaction.on_commit(partial(enqueue, _TASK))


def is_due() -> bool:
    """Whether anything waits to be sent now."""
    return _due().exists()


def send_due_pushes() -> int:
    """Send what is due, for so long; returns how many messages a push service took. Each is tried once in a run."""
    OutgoingPush.objects.filter(until__lte=database_now()).delete()
    ends_at, sent = time.monotonic() + _MOST_SECONDS, 0
    for row in _due().select_related("subscription")[:1000]:
        if shutdown.has_begun() or time.monotonic() > ends_at:
            break
        sent += _send(row)
    return sent


def _due() -> QuerySet[OutgoingPush]:
    """Those that a push service takes first: whoever subscribes with one that hangs delays nobody else."""
    due = OutgoingPush.objects.filter(due_at__lte=database_now())
    return due.order_by("subscription__failures", "due_at", "pk")


def _send(row: OutgoingPush) -> bool:
    """Whether it was taken. The claim is the next try's time, as of a mail."""
    now = database_now()
    pause = min(_FIRST_PAUSE * 2 ** min(row.tries, 10), _LONGEST_PAUSE)
    claimed = OutgoingPush.objects.filter(pk=row.pk, tries=row.tries)
    if not claimed.update(tries=F("tries") + 1, due_at=now + pause):
        return False  # another worker has it
    browser = PushSubscription.objects.filter(pk=row.subscription_id)
    status = _answered(row)
    if status in (404, 410):
        browser.delete()
    elif status is not None and (200 <= status < 300 or (400 <= status < 500 and status not in (408, 429))):
        # what is refused for what it is would be refused again; a key of ours that is not the browser's, too
        OutgoingPush.objects.filter(pk=row.pk).delete()
        browser.update(failures=0 if status < 300 else F("failures") + 1)
    else:
        browser.update(failures=F("failures") + 1)
    browser.filter(failures__gte=_FORGOTTEN_AFTER).delete()
    return status is not None and 200 <= status < 300


def _answered(row: OutgoingPush) -> int | None:
    """The push service's status; None for no answer. Neither endpoint nor words are in the log."""
    try:
        to, message = json.loads(opened(row.subscription.sealed)), opened(row.sealed)
        body = encryption.encrypted(message.encode(), public_key=to["public_key"], auth=to["auth"])
    except (DecryptionFailed, ValueError):
        return 410  # sealed under a key that is gone: the browser subscribes anew
    headers = {
        "Authorization": encryption.authorization(to["endpoint"]),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(LASTS.total_seconds())),
        "Urgency": "normal",
    }
    try:
        status = _client.post(to["endpoint"], body, headers=headers, seconds=_SECONDS, limit=0).status
    except ExchangeFailed as failure:
        _log.info("a message to a browser cannot be delivered: %s", type(failure).__name__)
        return None
    if status >= 400:
        _log.info("a message to a browser was answered %d", status)
    return status


def _check(endpoint: str, public_key: str, auth: str) -> None:
    errors: list[FieldError] = []
    if not _is_endpoint(endpoint):
        errors.append({"field": "endpoint", "code": "not_an_endpoint", "message": "an https address of a push service"})
    try:
        encryption.point_of(public_key)
    except ValueError:
        errors.append({"field": "public_key", "code": "not_a_key", "message": "a point of P-256 in base64url"})
    try:
        fits = len(encryption.octets_of(auth)) == 16
    except ValueError:
        fits = False
    if not fits:
        errors.append({"field": "auth", "code": "not_a_secret", "message": "16 octets in base64url"})
    if errors:
        raise InvalidRequest("This is no subscription of a browser.", errors=errors)


def _is_endpoint(endpoint: str) -> bool:
    try:
        parts = urlsplit(endpoint)
        _ = parts.port
    except ValueError:
        return False
    schemes = ("https", "http") if settings.WEBHOOK_INTERNAL_ADDRESSES else ("https",)
    fits = len(endpoint) <= _LONGEST_ENDPOINT and endpoint.isascii() and endpoint.isprintable() and " " not in endpoint
    return fits and parts.scheme in schemes and bool(parts.hostname) and "@" not in parts.netloc and not parts.fragment
