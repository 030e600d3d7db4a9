"""Linked institutions: visits to the aggregator's own page, what was linked, and what its purchases say.

Everything here needs the person's live consent to `financial`, and who they are at their bank one to `identity` too.
Access tokens are sealed at rest and reach nobody; without a consent the sweeper ends the access at the aggregator.
"""

import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts import atrest
from accounts.database import database_now, rfc3339
from agents_proxy import aggregator_client as client
from agents_proxy import aggregator_ledger, callers, consents
from agents_proxy.aggregator_errors import (
    AggregatorNotConfigured,
    AggregatorProblem,
    AggregatorRefused,
    FinancialConsentRequired,
    UnknownItem,
    UnknownLink,
)
from agents_proxy.aggregator_ledger import Ledger
from agents_proxy.aggregator_mapping import mapped, purchases
from agents_proxy.aggregator_shapes import Exchanged, Owner
from agents_proxy.models import Item, LinkSession, RefreshRun
from agents_proxy.states import ItemStatus, LinkStatus, Purpose, RefreshStatus

if TYPE_CHECKING:
    from accounts.models import User

LINK_HOLDS = timedelta(minutes=30)


@dataclass(frozen=True)
class Link:
    """An open visit; `url` is the aggregator's page."""

    link_id: str
    url: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True)
class Known:
    """What is kept of an institution, opened."""

    ledger: Ledger
    accounts: list[dict[str, Any]]

    def sealed(self) -> str:
        return atrest.sealed(json.dumps({"ledger": aggregator_ledger.written(self.ledger), "accounts": self.accounts}))


def known_of(item: Item) -> Known:
    if item.signals is None:
        return Known({}, [])
    kept = json.loads(atrest.opened(item.signals))
    return Known(aggregator_ledger.read(kept["ledger"]), kept["accounts"])


def require_consent(user: "User", purpose: Purpose = Purpose.FINANCIAL) -> int:
    """The live consent's primary key; raises `AggregatorNotConfigured` or `FinancialConsentRequired`."""
    if not client.is_configured():
        raise AggregatorNotConfigured
    pk = consents.own(user, purpose)
    if pk is None:
        raise FinancialConsentRequired(consent_url=callers.consent_url(purpose, None))
    return pk


def start_link(*, by: "User") -> Link:
    """Open a visit to the aggregator's page; it leads back with a state that works once, and for `by` alone."""
    consent_pk = require_consent(by)
    state = secrets.token_urlsafe(32)
    expires_at = database_now() + LINK_HOLDS
    made = client.create_link_token(
        person=by.public_id,
        redirect_url=f"{settings.BASE_URL}/profile/financial/linked/?{urlencode({'state': state})}",
        identity=consents.own(by, Purpose.IDENTITY) is not None,
        seconds=int(LINK_HOLDS.total_seconds()),
    )
    if not _is_page(made.hosted_link_url):
        raise AggregatorRefused
    kept = atrest.sealed(json.dumps({"token": made.link_token, "url": made.hosted_link_url}))
    session = LinkSession.objects.create(
        user=by, consent_id=consent_pk, state_digest=consents.digest(state), link_token=kept, expires_at=expires_at
    )
    return Link(session.link_id, made.hosted_link_url, expires_at)


def open_link(*, by: "User", link_id: str) -> Link:
    """An open visit, to go on with it. Raises `UnknownLink`."""
    session = LinkSession.objects.filter(
        user=by, link_id=link_id, status=LinkStatus.OPEN, expires_at__gt=database_now()
    ).first()
    if session is None:
        raise UnknownLink
    return Link(session.link_id, _opened(session)["url"], session.expires_at)


def finish_link(*, by: "User", state: str) -> Item | None:
    """Take what came of a visit: the new item, or None where the page was left without linking anything.

    The state is taken before the public token is exchanged, so of two returns only one exchanges it; where the
    aggregator fails, the state is put back and the return can be repeated. Raises `UnknownLink`, `AggregatorProblem`.
    """
    consent_pk = require_consent(by)
    held = consents.digest(state)
    session = LinkSession.objects.filter(
        user=by, state_digest=held, status=LinkStatus.OPEN, expires_at__gt=database_now()
    ).first()
    row = LinkSession.objects.filter(state_digest=held, status=LinkStatus.OPEN)
    if session is None or not row.update(state_digest=consents.digest(secrets.token_urlsafe(32))):
        raise UnknownLink
    try:
        public_token = client.link_state(_opened(session)["token"]).public_token
        exchanged = client.exchange(public_token) if public_token else None
    except AggregatorProblem:
        LinkSession.objects.filter(pk=session.pk, status=LinkStatus.OPEN).update(state_digest=held)
        raise
    if exchanged is None:
        end_link(session.pk, LinkStatus.EXITED)
        return None
    return _linked(session, exchanged, consent_pk)


def _linked(session: LinkSession, exchanged: Exchanged, consent_pk: int) -> Item:
    from agents_proxy.aggregator_refresh import start_refresh

    try:
        with transaction.atomic():
            item = Item.objects.create(
                user_id=session.user_id,
                consent_id=consent_pk,
                upstream_id=exchanged.item_id,
                access_token=atrest.sealed(exchanged.access_token),
            )
            end_link(session.pk, LinkStatus.COMPLETED, item=item)
            start_refresh(item)
    except IntegrityError:  # the aggregator gave an item that is here already, or the visit ended meanwhile
        raise AggregatorRefused from None
    return item


def end_link(session_pk: int, status: LinkStatus, item: Item | None = None) -> None:
    LinkSession.objects.filter(pk=session_pk, status=LinkStatus.OPEN).update(
        status=status, item=item, link_token=None, finished_at=database_now()
    )


def own_item(user: "User", item_id: str) -> Item:
    """Raises `UnknownItem`."""
    item = Item.objects.filter(user=user, item_id=item_id).exclude(status=ItemStatus.REMOVED).first()
    if item is None:
        raise UnknownItem
    return item


def remove_item(*, by: "User", item_id: str) -> None:
    """End the access at the aggregator, then forget it here. Where the first fails nothing has changed."""
    item = own_item(by, item_id)
    client.remove_item(access_token(item))
    forget(item.pk)


def forget(item_pk: int) -> None:
    """Of a removed item only the row stays: neither its token nor what was read."""
    with transaction.atomic():
        Item.objects.filter(pk=item_pk).update(
            status=ItemStatus.REMOVED, access_token=None, signals=None, cursor="", updated_at=database_now()
        )
        RefreshRun.objects.filter(item=item_pk, status__in=[RefreshStatus.QUEUED, RefreshStatus.RUNNING]).update(
            status=RefreshStatus.FAILED, error_code="item_removed", lease_until=None, finished_at=database_now()
        )


def access_token(item: Item) -> str:
    """Raises `UnknownItem` for an item that was removed meanwhile."""
    if item.access_token is None:
        raise UnknownItem
    return atrest.opened(item.access_token)


def identity_of(*, by: "User", item_id: str) -> dict[str, Any]:
    """Who the institution says `by` is; read at this moment and kept nowhere. Needs a consent to `identity`."""
    require_consent(by)
    require_consent(by, Purpose.IDENTITY)
    found = client.identity(access_token(own_item(by, item_id)))
    owners = [owner for account in found.accounts for owner in account.owners]
    return {
        "names": _once(name for owner in owners for name in owner.names),
        "emails": _once(mail.data for owner in owners for mail in owner.emails),
        "phoneNumbers": _once(number.data for owner in owners for number in owner.phone_numbers),
        "addresses": _addresses(owners),
    }


def financial_signals(user: "User") -> dict[str, Any]:
    """What a person's purchases say, in the brand-affinity fields; empty without a live consent to `financial`."""
    if not client.is_configured() or consents.own(user, Purpose.FINANCIAL) is None:
        return {}
    items = list(Item.objects.filter(user=user).exclude(status=ItemStatus.REMOVED))
    twice = linked_anew(items)
    entries = [entry for item in items if item not in twice for entry in known_of(item).ledger.values()]
    return mapped(entries, database_now().date())


def linked_anew(items: Iterable[Item]) -> list[Item]:
    """Those of one person's items whose accounts are all read through a later link to the same institution too."""
    found: list[Item] = []
    later: list[tuple[str, set[str]]] = []
    for item in sorted(items, key=lambda item: item.pk, reverse=True):
        accounts = {json.dumps(account, sort_keys=True) for account in known_of(item).accounts}
        if accounts and any(item.institution == name and accounts <= others for name, others in later):
            found.append(item)
        elif item.status == ItemStatus.ACTIVE:
            later.append((item.institution, accounts))
    return found


def items_of(user: "User") -> list[dict[str, Any]]:
    """A person's linked institutions, newest first, each with its latest refresh."""
    items = Item.objects.filter(user=user).exclude(status=ItemStatus.REMOVED).prefetch_related("refresh_runs")
    return [item_body(item) for item in items]


def item_body(item: Item) -> dict[str, Any]:
    known = known_of(item)
    latest = max(item.refresh_runs.all(), key=lambda run: run.pk, default=None)
    return {
        "itemId": item.item_id,
        "institution": item.institution or None,
        "status": item.status,
        "linkedAt": rfc3339(item.created_at),
        "accounts": known.accounts,
        "transactions": purchases(known.ledger.values(), database_now().date()),
        "refresh": refresh_body(latest) if latest else None,
    }


def refresh_body(run: RefreshRun) -> dict[str, Any]:
    return {
        "status": run.status,
        "pages": run.pages,
        "added": run.added,
        "modified": run.modified,
        "removed": run.removed,
        "errorCode": run.error_code or None,
        "startedAt": rfc3339(run.started_at),
        "finishedAt": rfc3339(run.finished_at),
    }


def _opened(session: LinkSession) -> dict[str, str]:
    if session.link_token is None:
        raise UnknownLink
    kept: dict[str, str] = json.loads(atrest.opened(session.link_token))
    return kept


def _is_page(url: str) -> bool:
    """The aggregator's page is https, unless the aggregator itself is a local stand-in."""
    secure = ("https",) if client.is_encrypted() else ("https", "http")
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in secure and bool(parts.hostname) and "@" not in parts.netloc


def _once(texts: Any) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _addresses(owners: list[Owner]) -> list[dict[str, str]]:
    told = [
        {name: value for name, value in address.data.items() if value}
        for owner in owners
        for address in owner.addresses
    ]
    return [address for position, address in enumerate(told) if address and address not in told[:position]]
