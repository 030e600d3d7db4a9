"""The connector keys that an app publishes under its proved domain, fetched for each request that waits.

`https://<domain>/.well-known/consent-connector-keys.json` is a JWKS (RFC 7517). It is fetched once the request is
committed, and again while it waits; never because somebody looks at the request, which would tell the app when. What
was found is kept as a token of a server key over whose it is, for which request, and when: whoever writes the database
can neither make one nor carry one over to another request.
"""

import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, connections, transaction
from django.db.models import QuerySet

import pkm.sealed
from common import addresses, encryption
from common.clock import database_now, rfc3339
from common.json_bodies import strict_json
from common.outbound.client import Client
from common.outbound.failures import ExchangeFailed
from common.problems import InvalidRequest
from common.shutdown import shutdown
from common.sql.statements import lock_for_transaction
from consent.connector_keys.models import PublishedKeys
from consent.requests.models import ConsentRequest
from developers.apps.models import AppStatus

WELL_KNOWN_PATH = "/.well-known/consent-connector-keys.json"
COUNTS_FOR = timedelta(hours=24)
FETCHED_EACH = timedelta(hours=1)
PURPOSE = "published connector keys"  # nothing else that is sealed at rest opens as one
_SECONDS, _LARGEST, _MOST_KEYS = 10.0, 64 * 1024, 100
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=6)
_LEASE = timedelta(seconds=60)  # longer than a fetch can take
_AT_ONCE = 8
_client = Client(may_reach=addresses.is_public, connect_seconds=5)

Jwk = dict[str, str]


@dataclass(frozen=True)
class _Claimed:
    """One app's requests for which a fetch is due."""

    app_id: str
    domain: str
    failures: int
    requests: dict[int, str]  # primary key → request_id


def is_due() -> bool:
    """Whether there is anything to fetch now."""
    return _due(database_now()).exists()


def fetch_due() -> int:
    """Fetch what is due, each app's set once for all of its requests; returns how many were tried."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return sum(pool.map(lambda _: _fetch_until_none_is_due(), range(_AT_ONCE))) if is_due() else 0


def forget_decided() -> int:
    """Delete what was fetched for requests that wait no more."""
    pending = ConsentRequest.objects.pending(database_now())
    gone, _ = PublishedKeys.objects.exclude(request__in=pending.values("pk")).delete()
    return gone


def open_fetched_keys(
    token: str, *, app_id: str, domain: str, request_id: str, since: datetime, now: datetime
) -> list[Jwk]:
    """The keys that this domain published, as this token has it; none where it is of another app, domain or request,
    older than the request (`since`) or than a day, or nothing that this server made."""
    if not (token and domain):
        return []
    try:
        claims = json.loads(encryption.opened(token, purpose=PURPOSE))
    except encryption.DecryptionFailed:
        return []
    if (claims["app_id"], claims["domain"], claims["request_id"]) != (app_id, domain, request_id):
        return []
    fetched_at = datetime.fromisoformat(claims["fetched_at"])
    if not max(since, now - COUNTS_FOR) <= fetched_at:
        return []
    keys: list[Jwk] = claims["jwks"]["keys"]
    return keys


def seal_fetched_keys(*, app_id: str, domain: str, request_id: str, fetched_at: datetime, keys: Sequence[Jwk]) -> str:
    """The token of a fetch, which `open_fetched_keys` reads."""
    claims = {"app_id": app_id, "domain": domain, "request_id": request_id, "fetched_at": rfc3339(fetched_at)}
    return encryption.sealed(json.dumps({**claims, "jwks": {"keys": list(keys)}}), purpose=PURPOSE)


def fetch_key_set(domain: str) -> list[Jwk] | None:
    """The usable public keys of a domain's set, without what else it says of them; None where no set could be read.

    No redirect is followed: it would be another site's word. A key with a private member is nobody's any more, and one
    of another kind is not for us (RFC 7517, 5): such are passed over.
    """
    listed = _fetch_listed(domain)
    return None if listed is None else [key for key in map(_usable, listed) if key is not None]


def fetch_published_key(domain: str, kid: str) -> Jwk | None:
    """The usable public key that the domain publishes by this name now."""
    named = (key for key in _fetch_listed(domain) or () if isinstance(key, dict) and key.get("kid") == kid)
    return next(filter(None, map(_usable, named)), None)


def _fetch_listed(domain: str) -> list[Any] | None:
    headers = {"User-Agent": "Consent-Runtime-Connector-Keys", "Accept": "application/jwk-set+json, application/json"}
    try:
        answer = _client.get(_address(domain), headers=headers, seconds=_SECONDS, limit=_LARGEST)
        found = strict_json(answer.body) if answer.status == 200 else None
    except (ExchangeFailed, InvalidRequest):
        return None
    listed = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
        return None
    return listed


def _usable(jwk: Any) -> Jwk | None:
    try:
        return pkm.sealed.check_connector_key(jwk)
    except pkm.sealed.InvalidHeader:
        return None


def _address(domain: str) -> str:
    return f"https://{domain}{WELL_KNOWN_PATH}"


def _due(now: datetime) -> QuerySet[PublishedKeys]:
    pending = ConsentRequest.objects.pending(now).filter(app__status=AppStatus.ACTIVE).exclude(app__proved_domain="")
    return PublishedKeys.objects.filter(due_at__lte=now, request__in=pending).order_by("due_at")


def _claim() -> _Claimed | None:
    """Lease whichever is due first, with all that is due of the same app. One at a time, so that no app is split."""
    with transaction.atomic():
        lock_for_transaction("fetch-published-keys")
        now = database_now()
        due = _due(now)
        first = due.select_related("request__app").first()
        if first is None:
            return None
        app = first.request.app
        rows = list(due.filter(request__app=app).values_list("pk", "request__request_id", "failures"))
        PublishedKeys.objects.filter(pk__in=[pk for pk, _, _ in rows]).update(due_at=now + _LEASE)
    requests = {pk: request_id for pk, request_id, _ in rows}
    return _Claimed(app.app_id, app.proved_domain, max(failures for _, _, failures in rows), requests)


def _fetch_until_none_is_due() -> int:
    tried = 0
    try:
        while not shutdown.has_begun() and (claimed := _claim()) is not None:
            at = database_now()
            connection.close()  # none is held while the other server takes its time
            _keep(claimed, fetch_key_set(claimed.domain), at)
            tried += 1
    finally:
        connections.close_all()  # this thread ends with its pool
    return tried


def _keep(claimed: _Claimed, keys: list[Jwk] | None, at: datetime) -> None:
    """What was found becomes each request's token; where nothing was, the last one counts for as long as it may."""
    rows = PublishedKeys.objects.filter(pk__in=claimed.requests)
    if keys is None:
        pause = min(_FIRST_PAUSE * 2 ** min(claimed.failures, 20), _LONGEST_PAUSE) * random.uniform(0.8, 1.2)  # noqa: S311  # jitter, not a secret
        rows.update(failures=min(claimed.failures + 1, 1000), due_at=database_now() + pause)
        return
    next_at = database_now() + FETCHED_EACH
    for row in rows:
        request_id = claimed.requests[row.pk]
        row.failures, row.due_at = 0, next_at
        row.token = seal_fetched_keys(
            app_id=claimed.app_id, domain=claimed.domain, request_id=request_id, fetched_at=at, keys=keys
        )
    PublishedKeys.objects.bulk_update(rows, ["token", "failures", "due_at"], batch_size=100)
