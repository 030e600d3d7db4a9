"""Consent to processing (contract 4.2): given with the words that were shown, asked for at every call, withdrawable."""

import logging
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext

from accounts.models import User
from agents_proxy.destinations.models import Destination
from agents_proxy.errors import ConsentEnded, UnknownConsent
from agents_proxy.processing_consent import identifiers
from agents_proxy.processing_consent.events import notify_app, notify_apps_of
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.processing_consent.origins import App
from agents_proxy.signals import consent_withdrawn
from agents_proxy.statements import VERSION, statement
from agents_proxy.states import Duration, EndReason, ProcessingStatus, Purpose, Reach
from common.clock import database_now, rfc3339
from common.identifiers import secret_digest
from common.limits import Count, Limit, count
from common.problems import TooManyRequests
from common.sql.dialect import clock
from common.sql.statements import lock_for_transaction, rows
from developers.app_events import ProcessingEvent

EXPIRY_NOTICE_WINDOW = timedelta(days=30)  # what ran out before that, an app is not told any more
MOST_LASTING = 50  # live consents of one person to their own calls, and as many to those of each app
PER_PERSON = Limit("consents-per-person", 60, 3600, in_database=True)  # given, also where withdrawn since
LISTED_ENDED = 500  # of those that ended, the newest
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
 WHERE user_id = %(user_pk)s AND reach = 'own' AND withdrawn_at IS NULL AND expires_at > {clock} ORDER BY id DESC
"""
_SITES = """
SELECT c.id, c.user_id, c.app_id, c.purposes, c.destinations, c.origin, a.origins
  FROM processing_consents c JOIN developer_apps a ON a.id = c.app_id JOIN users u ON u.id = c.user_id
 WHERE c.token_digest = %(digest)s AND c.withdrawn_at IS NULL AND c.expires_at > {clock} AND a.status = 'active'
   AND u.is_active
"""


def give(
    *,
    by: User,
    purposes: Sequence[Purpose],
    named: identifiers.Identifiers | None = None,
    reach: Reach = Reach.OWN,
    origin: str = "",
    lasts: timedelta | None = None,
    destinations: Sequence[Destination] = (),
    wording: Wording | None = None,
) -> ProcessingConsent:
    """Keep that this person agreed, in the words of this moment, to calls of their own or to one analysis.

    `named` is the one address and the one number that it covers, as far as its purposes use them; by default those
    that come first. It holds for a day unless `lasts` says otherwise. Raises `AddressNotVerified` for what is not
    verified as theirs, and `TooManyRequests`, but for one analysis or sending, whose own budgets bound it.
    `activation` needs `destinations`, with their apps; `wording` is what was shown in place of the general statement.
    """
    kept = {"origin": origin or settings.BASE_URL}
    return _keep(by, purposes, named, gettext("This service"), lasts, reach, destinations, wording, **kept)


def give_to_site(
    *,
    by: User,
    purposes: Sequence[Purpose],
    app: App,
    origin: str,
    named: identifiers.Identifiers | None = None,
    lasts: timedelta | None = None,
    destinations: Sequence[Destination] = (),
) -> Token:
    """Keep that this person agreed to calls of one site, and make the token that the site calls with.

    `named` and `lasts` as in `give`, and what is raised.
    """
    secret = secrets.token_urlsafe(32)
    kept = {"origin": origin, "app_id": app.pk, "token_digest": secret_digest(secret)}
    return Token(secret, _keep(by, purposes, named, app.name, lasts, Reach.SITE, destinations, None, **kept))


@transaction.atomic
def _keep(
    by: User,
    purposes: Sequence[Purpose],
    named: identifiers.Identifiers | None,
    requester: str,
    lasts: timedelta | None,
    reach: Reach,
    destinations: Sequence[Destination],
    wording: Wording | None,
    **columns: Any,
) -> ProcessingConsent:
    if reach != Reach.RUN:
        _require_room(by, columns.get("app_id"))
    own = identifiers.verified_by(by.pk, lock=True)  # whoever takes one of these away finds this consent afterwards
    named = (named or own.first()).needed_for(purposes)
    identifiers.require_verified(named, own)
    ordered = [purpose for purpose in Purpose if purpose in purposes]
    now = database_now()
    lasting = lasts or Duration.DAY.length
    described = [destination.described for destination in destinations]
    words = statement(
        ordered, requester=requester, lasts=lasting, one_analysis=reach == Reach.RUN, destinations=described
    )
    shown = wording or Wording(VERSION, str(words))
    given = ProcessingConsent.objects.create(
        user=by,
        purposes=[purpose.value for purpose in ordered],
        destinations=[destination.destination_id for destination in destinations],
        statement_version=shown.version,
        statement=shown.text,
        reach=reach,
        given_at=now,
        expires_at=now + lasting,
        lasts=None if reach == Reach.RUN else int(lasting.total_seconds()),
        **identifiers.columns_of(named),
        **columns,
    )
    notify_app(given, ProcessingEvent.CONSENT_GIVEN, status=ProcessingStatus.LIVE, at=now)
    return given


def _require_room(by: User, app_pk: int | None) -> None:
    """Raises `TooManyRequests` where this person gave too many lately, or too many hold that cover the same calls.

    Of several that are given at once each finds those before it.
    """
    lock_for_transaction(f"consents of {by.pk}")
    now = database_now()
    detail = gettext(
        "You have agreed too often. Withdraw what you no longer need, under Agreements, or try again later."
    )
    lasting = ProcessingConsent.objects.lasting(now).filter(user=by, app=app_pk).order_by("expires_at")
    ends = list(lasting.values_list("expires_at", flat=True))
    if len(ends) >= MOST_LASTING:
        wait = int((ends[0] - now).total_seconds()) + 1
        Count(Limit("lasting-consents", MOST_LASTING, 0), len(ends) + 1, 0, wait).require(TooManyRequests, detail)
    count(PER_PERSON, str(by.pk)).require(TooManyRequests, detail)


def withdraw(*, consent_id: str, by: User) -> None:
    """End a person's own consent now, with what is under way under it; again is the same. Raises `UnknownConsent`."""
    with transaction.atomic():
        own = ProcessingConsent.objects.filter(consent_id=consent_id, user=by)
        found = own.first()
        if found is None:
            raise UnknownConsent()
        consent_withdrawn.send(sender=ProcessingConsent, consent_pk=found.pk)
        now = database_now()
        if own.filter(withdrawn_at=None).update(withdrawn_at=now):
            notify_withdrawn([found], now)


@transaction.atomic
def renew(*, consent_id: str, by: User) -> ProcessingConsent:
    """Let a person's own consent that holds end later by the time that they had chosen, which they may repeat.

    However often, it ends no later than twice that time from now. Raises `UnknownConsent`, also for one to a single
    analysis, and `ConsentEnded`.
    """
    found = renewable(by).select_for_update(of=("self",)).filter(consent_id=consent_id).first()
    if found is None:
        raise UnknownConsent()
    now = database_now()
    if found.status_at(now) != ProcessingStatus.LIVE:
        raise ConsentEnded
    found.lasts, found.expires_at = int(found.length.total_seconds()), found.renewed_until(now)
    found.renewed_at, found.reminded_at = now, None
    found.save(update_fields=["expires_at", "lasts", "renewed_at", "reminded_at"])
    return found


def renewable(user: User) -> QuerySet[ProcessingConsent]:
    """Those of this person that are not for one analysis or sending alone."""
    return ProcessingConsent.objects.filter(user=user).exclude(reach=Reach.RUN).select_related("app")


def end_naming(
    *, person_pks: Sequence[int], reason: EndReason, email: str = "", number_digests: Sequence[str] = ()
) -> None:
    """End these people's live consents that name an address or a number which is theirs no more.

    What hangs on them ends as where somebody withdraws, in the caller's transaction.
    """
    naming = Q(email=identifiers.folded(email)) if email else Q(number_digest__in=number_digests)
    with transaction.atomic():
        now = database_now()
        live = list(ProcessingConsent.objects.live(now).filter(naming, user__in=person_pks).order_by("pk"))
        for consent in live:
            consent_withdrawn.send(sender=ProcessingConsent, consent_pk=consent.pk)
            ProcessingConsent.objects.filter(pk=consent.pk, withdrawn_at=None).update(
                withdrawn_at=now, end_reason=reason.value
            )
        notify_withdrawn(live, now)


def notify_withdrawn(consents: Iterable[ProcessingConsent], now: datetime) -> None:
    """Tell the apps of those that still held: what had run out before ended as `expired`."""
    live = [consent for consent in consents if consent.status_at(now) == ProcessingStatus.LIVE]
    notify_apps_of(live, ProcessingEvent.CONSENT_WITHDRAWN, status=ProcessingStatus.WITHDRAWN, at=now)


@transaction.atomic
def write_down_expiry(*, at_once: int = 500) -> int:
    """Tell apps of the consents that ran out since the last time, at most `at_once` of them; returns how many."""
    now = database_now()
    over = _expired(now).select_for_update(skip_locked=True).order_by("pk")[:at_once]
    found = list(over)
    ProcessingConsent.objects.filter(pk__in=[consent.pk for consent in found]).update(expiry_told_at=now)
    notify_apps_of(found, ProcessingEvent.CONSENT_EXPIRED, status=ProcessingStatus.EXPIRED, at=now)
    return len(found)


def is_expiry_due() -> bool:
    """Whether any of them ran out since then."""
    return _expired(database_now()).exists()


def _expired(now: datetime) -> QuerySet[ProcessingConsent]:
    ran_out = Q(withdrawn_at=None) | Q(withdrawn_at__gte=F("expires_at"))
    lately = {"expires_at__lte": now, "expires_at__gt": now - EXPIRY_NOTICE_WINDOW}
    return ProcessingConsent.objects.filter(ran_out, app__isnull=False, expiry_told_at=None, **lately)


def was_withdrawn(consent_pk: int) -> bool:
    """Whether it ended by its person's will meanwhile; one that has run out since was not withdrawn."""
    return not ProcessingConsent.objects.filter(pk=consent_pk, withdrawn_at=None).exists()


def listed(user: User) -> list[dict[str, Any]]:
    """A person's consents, newest first, as the address lists them: all that are live, and the newest that ended."""
    now, verified = database_now(), identifiers.verified_by(user.pk)
    own = ProcessingConsent.objects.filter(user=user)
    found = [*own.live(now), *own.ended(now)[:LISTED_ENDED]]
    found.sort(key=lambda consent: (consent.given_at, consent.pk), reverse=True)
    return [
        {
            "consentId": consent.consent_id,
            "status": consent.status_at(now),
            "purposes": consent.purposes,
            "destinations": consent.destinations,
            "subject": identifiers.named_by(consent, verified).body(),
            "covers": consent.reach,
            "origin": consent.origin,
            "statement": consent.statement,
            "statementVersion": consent.statement_version,
            "givenAt": rfc3339(consent.given_at),
            "expiresAt": rfc3339(consent.expires_at),
            "renewedAt": rfc3339(consent.renewed_at),
            "withdrawnAt": rfc3339(consent.withdrawn_at),
            "endReason": consent.end_reason or None,
        }
        for consent in found
    ]


def own(user: User, purpose: Purpose) -> int | None:
    """The primary key of the live consent that covers this person's own calls for `purpose`, or None.

    Of several the newest: whoever agrees again may have chosen another address or number.
    """
    at = clock()
    found = rows(_OWN.format(clock=at.sql), {**at.parameters, "user_pk": user.pk})
    return next((row["id"] for row in found if purpose in orjson.loads(row["purposes"])), None)


def own_for_destination(user: User, destination_id: str) -> ProcessingConsent | None:
    """The live consent that covers this person's own sendings to a destination, or None."""
    live = ProcessingConsent.objects.live(database_now()).filter(user=user, reach=Reach.OWN).order_by("-pk")
    return next((consent for consent in live if destination_id in consent.destinations), None)


def own_named(user: User, purpose: Purpose) -> identifiers.Identifiers | None:
    """What the consent of `own` names of what is still theirs; None where there is none, or nothing is left of it."""
    consent_pk = own(user, purpose)
    named = identifiers.Identifiers() if consent_pk is None else named_subject(consent_pk)
    return named if named.all else None


def named_subject(consent_pk: int) -> identifiers.Identifiers:
    """What this consent names of what its person verified."""
    consent = ProcessingConsent.objects.only("user", "email", "number_digest").get(pk=consent_pk)
    return identifiers.named_by(consent, identifiers.verified_by(consent.user_id))


def own_subject(user: User) -> identifiers.Identifiers:
    """What this person's own live consents name."""
    live = ProcessingConsent.objects.live(database_now()).filter(user=user, reach=Reach.OWN)
    own_ones = identifiers.verified_by(user.pk)
    return own_ones.within(*(identifiers.named_by(consent, own_ones) for consent in live))


def own_destinations(user: User) -> frozenset[str]:
    """The IDs of the destinations that live consents of this person's own cover."""
    live = ProcessingConsent.objects.live(database_now()).filter(user=user, reach=Reach.OWN)
    return frozenset(name for names in live.values_list("destinations", flat=True) for name in names)


def of_token(token: str, purpose: Purpose | None, origin: str | None) -> "Covered | None":
    """What the live consent behind `token` covers, if `purpose` is in it and it comes from where it was given for.

    None for `purpose` takes any: what the token may look at, it may look at whatever else it covers.

    A backend sends no origin. The app behind it must still be active and must still have the origin registered.
    """
    at = clock()
    for row in rows(_SITES.format(clock=at.sql), {**at.parameters, "digest": secret_digest(token)}):
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
