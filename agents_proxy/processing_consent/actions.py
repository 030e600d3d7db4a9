"""Consent to processing (contract 4.2): given with the words that were shown, asked for at every call, withdrawable."""

import hashlib
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from agents_proxy.destinations.models import Destination
from agents_proxy.errors import UnknownConsent
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.processing_consent.origins import App
from agents_proxy.signals import consent_withdrawn
from agents_proxy.statements import VERSION, statement
from agents_proxy.states import Purpose, Reach
from common.clock import database_now, rfc3339
from common.sql.dialect import clock
from common.sql.statements import rows

if TYPE_CHECKING:
    from accounts.models import User

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Token:
    """What a site calls the agents with; `secret` is shown to it once and kept nowhere."""

    secret: str
    consent: ProcessingConsent


@dataclass(frozen=True)
class Covered:
    """A live consent behind a token: whose it is and which app's, as primary keys, and what it covers."""

    consent_pk: int
    person_pk: int
    app_pk: int
    purposes: frozenset[str]
    destinations: frozenset[str]


@dataclass(frozen=True)
class Wording:
    """What a person was shown in place of the general statement, and which version of it."""

    version: str
    text: str


# Asked with every call: one round trip each, by the database's clock.
_OWN = """
SELECT id, purposes FROM processing_consents
 WHERE user_id = %(user_pk)s AND reach = 'own' AND withdrawn_at IS NULL AND expires_at > {clock} ORDER BY id
"""
_SITES = """
SELECT c.id, c.user_id, c.app_id, c.purposes, c.destinations, c.origin, a.origins
  FROM processing_consents c JOIN developer_apps a ON a.id = c.app_id JOIN users u ON u.id = c.user_id
 WHERE c.token_digest = %(digest)s AND c.withdrawn_at IS NULL AND c.expires_at > {clock} AND a.status = 'active'
   AND u.is_active
"""


def give(
    *,
    by: "User",
    purposes: Sequence[Purpose],
    reach: Reach = Reach.OWN,
    origin: str = "",
    lasts: timedelta | None = None,
    destinations: Sequence[Destination] = (),
    wording: Wording | None = None,
) -> ProcessingConsent:
    """Keep that this person agreed, in the words of this moment, to calls of their own or to one analysis.

    `activation` needs `destinations`, with their apps; `wording` is what was shown in place of the general statement.
    """
    kept = {"origin": origin or settings.BASE_URL}
    return _keep(by, purposes, gettext("This service"), lasts, reach, destinations, wording, **kept)


def give_to_site(
    *, by: "User", purposes: Sequence[Purpose], app: App, origin: str, destinations: Sequence[Destination] = ()
) -> Token:
    """Keep that this person agreed to calls of one site, and make the token that the site calls with."""
    secret = secrets.token_urlsafe(32)
    kept = {"origin": origin, "app_id": app.pk, "token_digest": digest(secret)}
    return Token(secret, _keep(by, purposes, app.name, None, Reach.SITE, destinations, None, **kept))


def _keep(
    by: "User",
    purposes: Sequence[Purpose],
    asks: str,
    lasts: timedelta | None,
    reach: Reach,
    destinations: Sequence[Destination],
    wording: Wording | None,
    **columns: Any,
) -> ProcessingConsent:
    ordered = [purpose for purpose in Purpose if purpose in purposes]
    now = database_now()
    lasting = lasts or lifetime()
    shown = wording or Wording(
        VERSION,
        str(
            statement(
                ordered,
                asks=asks,
                lasts=lasting,
                one_analysis=reach == Reach.RUN,
                destinations=[destination.described for destination in destinations],
            )
        ),
    )
    return ProcessingConsent.objects.create(
        user=by,
        purposes=[purpose.value for purpose in ordered],
        destinations=[destination.destination_id for destination in destinations],
        statement_version=shown.version,
        statement=shown.text,
        reach=reach,
        given_at=now,
        expires_at=now + lasting,
        **columns,
    )


def withdraw(*, consent_id: str, by: "User") -> None:
    """End a person's own consent now, with what is under way under it; again is the same. Raises `UnknownConsent`."""
    with transaction.atomic():
        own = ProcessingConsent.objects.filter(consent_id=consent_id, user=by)
        found = own.values_list("pk", flat=True).first()
        if found is None:
            raise UnknownConsent
        consent_withdrawn.send(sender=ProcessingConsent, consent_pk=found)
        own.filter(withdrawn_at=None).update(withdrawn_at=database_now())


def was_withdrawn(consent_pk: int) -> bool:
    """Whether it ended by its person's will meanwhile; one that has run out since was not withdrawn."""
    return not ProcessingConsent.objects.filter(pk=consent_pk, withdrawn_at=None).exists()


def listed(user: "User") -> list[dict[str, Any]]:
    """A person's consents, newest first, as the address lists them."""
    now = database_now()
    return [
        {
            "consentId": consent.consent_id,
            "status": consent.standing(now),
            "purposes": consent.purposes,
            "destinations": consent.destinations,
            "covers": consent.reach,
            "origin": consent.origin,
            "statement": consent.statement,
            "statementVersion": consent.statement_version,
            "givenAt": rfc3339(consent.given_at),
            "expiresAt": rfc3339(consent.expires_at),
            "withdrawnAt": rfc3339(consent.withdrawn_at),
        }
        for consent in ProcessingConsent.objects.filter(user=user)
    ]


def own(user: "User", purpose: Purpose) -> int | None:
    """The primary key of a live consent that covers this person's own calls for `purpose`, or None."""
    at = clock()
    found = rows(_OWN.format(clock=at.sql), {**at.parameters, "user_pk": user.pk})
    return next((row["id"] for row in found if purpose in orjson.loads(row["purposes"])), None)


def own_for_destination(user: "User", destination_id: str) -> ProcessingConsent | None:
    """The live consent that covers this person's own sendings to a destination, or None."""
    live = ProcessingConsent.objects.live(database_now()).filter(user=user, reach=Reach.OWN).order_by("pk")
    return next((consent for consent in live if destination_id in consent.destinations), None)


def own_destinations(user: "User") -> frozenset[str]:
    """The IDs of the destinations that live consents of this person's own cover."""
    live = ProcessingConsent.objects.live(database_now()).filter(user=user, reach=Reach.OWN)
    return frozenset(name for names in live.values_list("destinations", flat=True) for name in names)


def of_token(token: str, purpose: Purpose | None, origin: str | None) -> "Covered | None":
    """What the live consent behind `token` covers, if `purpose` is in it and it comes from where it was given for.

    None for `purpose` takes any: what the token may look at, it may look at whatever else it covers.

    A backend sends no origin. The app behind it must still be active and must still have the origin registered.
    """
    at = clock()
    for row in rows(_SITES.format(clock=at.sql), {**at.parameters, "digest": digest(token)}):
        registered, given_for = orjson.loads(row["origins"]), row["origin"]
        purposes = frozenset(orjson.loads(row["purposes"]))
        fits = purpose is None or purpose in purposes
        if fits and origin in (None, given_for) and given_for in registered:
            destinations = frozenset(orjson.loads(row["destinations"]))
            return Covered(row["id"], row["user_id"], row["app_id"], purposes, destinations)
    return None


def is_live(consent: ProcessingConsent, purpose: Purpose | None = None) -> bool:
    """Whether this consent still holds, as the database has it now: asked before every step of an analysis.

    That of a site holds for as long as its app is active.
    """
    live = ProcessingConsent.objects.live(database_now()).filter(pk=consent.pk, user__is_active=True)
    covers = live.filter(Q(app=None) | Q(app__status="active"))
    return covers.exists() and (purpose is None or purpose in consent.purposes)


def are_required() -> bool:
    """False only where a deployment tests its upstreams; every call then says so in the log."""
    if not settings.A2A_REQUIRE_CONSENT:
        _log.warning("A2A_REQUIRE_CONSENT is false: an agent is asked WITHOUT ANYBODY'S CONSENT")
    return bool(settings.A2A_REQUIRE_CONSENT)


def digest(token: str) -> str:
    """What is kept of a token: 256 random bits need no key and no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def lifetime() -> timedelta:
    """How long a consent that is given now holds, unless it says otherwise."""
    return timedelta(seconds=settings.A2A_CONSENT_SECONDS)
