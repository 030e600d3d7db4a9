"""Visits to the aggregator's own page, and what comes of them."""

import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction

from agents_proxy.financial import client
from agents_proxy.financial.errors import AggregatorProblem, AggregatorRefused, UnknownLink
from agents_proxy.financial.items import end_link, require_consent
from agents_proxy.financial.models import Item, LinkSession
from agents_proxy.financial.shapes import Exchanged
from agents_proxy.processing_consent import actions as consents
from agents_proxy.signing import pairwise
from agents_proxy.states import LinkStatus, Purpose
from common import encryption
from common.clock import database_now

if TYPE_CHECKING:
    from accounts.models import User


LINK_HOLDS = timedelta(minutes=30)


@dataclass(frozen=True)
class Link:
    """An open visit; `url` is the aggregator's page."""

    link_id: str
    url: str = field(repr=False)
    expires_at: datetime


def start_link(*, by: "User") -> Link:
    """Open a visit to the aggregator's page; it leads back with a state that works once, and for `by` alone."""
    consent_pk = require_consent(by)
    state = secrets.token_urlsafe(32)
    expires_at = database_now() + LINK_HOLDS
    made = client.create_link_token(
        person=pairwise(client.origin(), by.pk),
        redirect_url=f"{settings.BASE_URL}/profile/financial/linked/?{urlencode({'state': state})}",
        identity=consents.own(by, Purpose.IDENTITY) is not None,
        seconds=int(LINK_HOLDS.total_seconds()),
    )
    if not _is_page(made.hosted_link_url):
        raise AggregatorRefused
    kept = encryption.sealed(json.dumps({"token": made.link_token, "url": made.hosted_link_url}))
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
    return Link(session.link_id, opened_session(session)["url"], session.expires_at)


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
        public_token = client.link_state(opened_session(session)["token"]).public_token
        exchanged = client.exchange(public_token) if public_token else None
    except AggregatorProblem:
        LinkSession.objects.filter(pk=session.pk, status=LinkStatus.OPEN).update(state_digest=held)
        raise
    if exchanged is None:
        end_link(session.pk, LinkStatus.EXITED)
        return None
    return _linked(session, exchanged, consent_pk)


def _linked(session: LinkSession, exchanged: Exchanged, consent_pk: int) -> Item:
    from agents_proxy.financial.refreshes import start_refresh

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


def opened_session(session: LinkSession) -> dict[str, str]:
    if session.link_token is None:
        raise UnknownLink
    kept: dict[str, str] = json.loads(encryption.opened(session.link_token))
    return kept


def _is_page(url: str) -> bool:
    """The aggregator's page is https, unless the aggregator itself is a local stand-in."""
    secure = ("https",) if client.is_encrypted() else ("https", "http")
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    return has_port and parts.scheme in secure and bool(parts.hostname) and "@" not in parts.netloc
