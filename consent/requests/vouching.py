"""Who vouches for the key of a request: the app's domain, its owners, or nobody."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import pkm.sealed
from common.clock import database_now, rfc3339
from consent.connector_keys.models import ConnectorKey, PublishedKeys
from consent.connector_keys.registered import is_genuine, proved_entry
from consent.ledger.models import AuditEntry
from consent.ledger.proofs import as_hashed
from consent.requests.models import ConsentRequest
from consent.requests.published_keys import open_fetched_keys


@dataclass(frozen=True)
class Vouching:
    """`domain` is the app's proved one, where a published key is published; `since` is when a registered one was.

    `entry` says so in the app's chain: programs of the person prove it by the log, and take nobody's word.

    A sandbox person has nothing real, so that nobody has to vouch.
    """

    by: Literal["published", "registered", "sandbox", "nobody"]
    domain: str | None = None
    since: datetime | None = None
    entry: AuditEntry | None = None

    @property
    def is_missing(self) -> bool:
        return self.by == "nobody"

    def as_body(self) -> dict[str, Any]:
        """As the owner's address answers it."""
        entry = None if self.entry is None else as_hashed(self.entry)
        return {"by": self.by, "domain": self.domain, "since": rfc3339(self.since), "entry": entry}


def vouching_of(request: ConsentRequest) -> Vouching:
    """By what is kept here alone: nothing is fetched. Needs the request's app."""
    if request.app.is_test and request.app.sandbox_people.filter(user=request.user_id).exists():
        return Vouching("sandbox")
    app, domain = request.app, request.app.proved_domain or None
    kept = PublishedKeys.objects.filter(request=request).values_list("token", flat=True).first()
    published = open_fetched_keys(
        kept or "",
        app_id=app.app_id,
        domain=app.proved_domain,
        request_id=request.request_id,
        since=request.created_at,
        now=database_now(),
    )
    if any(pkm.sealed.thumbprint(key) == request.connector_thumbprint for key in published):
        return Vouching("published", domain)
    usable = ConnectorKey.objects.usable(database_now()).filter(app=app, thumbprint=request.connector_thumbprint)
    key = usable.select_related("app").first()
    if key is not None and is_genuine(key) and (entry := proved_entry(key)) is not None:
        return Vouching("registered", domain, key.registered_at, entry)
    return Vouching("nobody", domain)
