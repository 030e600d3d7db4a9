"""Visits to the aggregator's own page, and what comes of them."""

import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.language import language_for
from accounts.models import User
from agents_proxy.financial import client
from agents_proxy.financial.errors import AggregatorProblem, AggregatorRefused, ItemRevoked, UnknownLink
from agents_proxy.financial.items import access_token, end_link, note_problem, own_item, require_consent
from agents_proxy.financial.models import Item, LinkSession
from agents_proxy.financial.refreshes import start_refresh
from agents_proxy.financial.shapes import Exchanged, LinkToken
from agents_proxy.processing_consent import actions as consents
from agents_proxy.signing import pairwise
from agents_proxy.states import ItemStatus, LinkStatus, Purpose
from common import encryption
from common.clock import database_now
from common.identifiers import secret_digest

LINK_LIFETIME = timedelta(minutes=30)


@dataclass(frozen=True)
class Link:
    """An open visit; `url` is the aggregator's page."""

    link_id: str
    url: str = field(repr=False)
    expires_at: datetime


def start_link(*, by: User, item_id: str = "") -> Link:
    """Open a visit to the aggregator's page; it leads back with a state that works once, and for `by` alone.

    With `item_id` the person signs in there once more, for an institution that is linked already. Raises `UnknownItem`.
    """
    consent_pk = require_consent(by)
    item = own_item(by, item_id) if item_id else None
    state = secrets.token_urlsafe(32)
    expires_at = database_now() + LINK_LIFETIME
    try:
        made = _opened_page(by, state, item)
    except ItemRevoked:
        if item is not None:
            note_problem(item.pk, ItemRevoked)
        raise
    if not _is_page(made.hosted_link_url):
        raise AggregatorRefused
    opened = {"token": made.link_token, "url": made.hosted_link_url, "item": item.pk if item else None}
    kept = encryption.sealed(json.dumps(opened))
    session = LinkSession.objects.create(
        user=by, consent_id=consent_pk, state_digest=secret_digest(state), link_token=kept, expires_at=expires_at
    )
    return Link(session.link_id, made.hosted_link_url, expires_at)


def _opened_page(by: User, state: str, item: Item | None) -> LinkToken:
    return client.create_link_token(
        person=pairwise(client.origin(), by.pk),
        language=language_for(by)[:2],
        redirect_url=f"{settings.BASE_URL}/profile/financial/linked/?{urlencode({'state': state})}",
        webhook=_webhook(),
        identity=consents.own(by, Purpose.IDENTITY) is not None,
        seconds=int(LINK_LIFETIME.total_seconds()),
        access_token=access_token(item) if item else "",
    )


def open_link(*, by: User, link_id: str) -> Link:
    """An open visit, to go on with it. Raises `UnknownLink`."""
    session = LinkSession.objects.filter(
        user=by, link_id=link_id, status=LinkStatus.OPEN, expires_at__gt=database_now()
    ).first()
    if session is None:
        raise UnknownLink()
    return Link(session.link_id, opened_session(session)["url"], session.expires_at)


def finish_link(*, by: User, state: str) -> Item | None:
    """Take what came of a visit: the item, or None where the page was left without linking anything.

    The state is taken before the public token is exchanged, so of two returns only one exchanges it; where the
    aggregator fails, the state is put back and the return can be repeated. Raises `UnknownLink`, `AggregatorProblem`.
    """
    consent_pk = require_consent(by)
    digest = secret_digest(state)
    session = LinkSession.objects.filter(
        user=by, state_digest=digest, status=LinkStatus.OPEN, expires_at__gt=database_now()
    ).first()
    row = LinkSession.objects.filter(state_digest=digest, status=LinkStatus.OPEN)
    if session is None or not row.update(state_digest=secret_digest(secrets.token_urlsafe(32))):
        raise UnknownLink()
    opened = opened_session(session)
    item_pk = opened.get("item")
    try:
        visited = client.link_state(opened["token"])
        exchanged = client.exchange(visited.public_token) if visited.public_token and not item_pk else None
    except AggregatorProblem:
        LinkSession.objects.filter(pk=session.pk, status=LinkStatus.OPEN).update(state_digest=digest)
        raise
    if item_pk and visited.is_done:
        return _signed_in_again(session, item_pk)
    if exchanged is None:
        end_link(session.pk, LinkStatus.EXITED)
        return None
    return _linked(session, exchanged, consent_pk)


def _signed_in_again(session: LinkSession, item_pk: int) -> Item | None:
    """Whether the institution lets us read once more, the refresh finds out."""
    with transaction.atomic():
        item = Item.objects.select_for_update().filter(pk=item_pk).exclude(status=ItemStatus.REMOVED).first()
        end_link(session.pk, LinkStatus.COMPLETED if item else LinkStatus.EXITED, item=item)
        if item is not None:
            Item.objects.filter(pk=item.pk).update(ends_at=None)
            start_refresh(item)
    return item


def _linked(session: LinkSession, exchanged: Exchanged, consent_pk: int) -> Item:
    try:
        with transaction.atomic():
            item = Item.objects.create(
                user_id=session.user_id,
                consent_id=consent_pk,
                upstream_id=exchanged.item_id,
                access_token=encryption.sealed(exchanged.access_token),
            )
            end_link(session.pk, LinkStatus.COMPLETED, item=item)
            start_refresh(item)
    except IntegrityError:  # the aggregator gave an item that is here already, or the visit ended meanwhile
        raise AggregatorRefused from None
    return item


def opened_session(session: LinkSession) -> dict[str, Any]:
    if session.link_token is None:
        raise UnknownLink()
    kept: dict[str, Any] = json.loads(encryption.opened(session.link_token))
    return kept


def _webhook() -> str:
    """Where the aggregator tells what changed; none where it could not reach us, lest it refuse the link."""
    reachable = settings.BASE_URL.startswith("https://") or not client.is_encrypted()
    return f"{settings.BASE_URL}/api/a2a/financial/webhooks" if reachable else ""


def _is_page(url: str) -> bool:
    """The aggregator's page is https, unless the aggregator itself is a local stand-in."""
    secure = ("https",) if client.is_encrypted() else ("https", "http")
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    return has_port and parts.scheme in secure and bool(parts.hostname) and "@" not in parts.netloc
