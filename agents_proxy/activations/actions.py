"""Sending an analysis's brand affinity to a destination. What is asked for here is a row; `deliveries` takes it there.

A sending is known by its analysis, its destination and its number: what comes again, from a form or a program, finds
the row that there is and sends nothing a second time.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from accounts.models import User
from agents_proxy.activations import payloads
from agents_proxy.activations.errors import ActivationBudgetSpent, ChangedSinceShown, NothingToActivate, SendingTaken
from agents_proxy.activations.models import Activation
from agents_proxy.activations.queries import next_number
from agents_proxy.analyses.affinity import affinity_of
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.queries import opened_json, own_run, subject_of_run
from agents_proxy.budgets import Budget, spend
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.models import Destination
from agents_proxy.errors import AddressNotVerified, AgreementRequired
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.events import notify_app
from agents_proxy.processing_consent.identifiers import Identifiers, named_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.proxy.callers import consent_url
from agents_proxy.states import ActivationStatus, Purpose, Reach
from common import encryption
from common.broker import enqueue
from common.clock import database_now
from developers.app_events import ProcessingEvent

VERSION = "activation-2026-11-3"
MOST_SENDINGS = 100  # of one analysis to one destination
SEND = "agents_proxy.tasks.send_activation"


def statement(destination: Destination) -> str:
    """What a person agrees to who sends one analysis to one destination, in the active language."""
    return gettext(
        "Send my name, e-mail, phone, likes, dislikes, brand affinities, shopping preferences and how sure the agents "
        "are of them, from this analysis to %(where)s, once, now. What was sent cannot be recalled from there."
    ) % {"where": destination.described}


def agree_and_activate(
    *, by: User, analysis_id: str, destination_id: str, number: int, shown: str | None = None
) -> tuple[Activation, bool]:
    """Keep that the person agreed to this one sending, and ask for it; False where it was asked for before.

    `shown` is `payloads.shown_digest` of what they read. Raises `UnknownAnalysis`, `UnknownDestination`,
    `AddressNotVerified`, `NothingToActivate`, `ChangedSinceShown`, `ActivationBudgetSpent`.
    """

    def agreed(named: Identifiers) -> ProcessingConsent:
        return consents.give(
            by=by, purposes=[Purpose.ACTIVATION], named=named, reach=Reach.RUN, destinations=[destination],
            wording=consents.Wording(VERSION, statement(destination)),
        )  # fmt: skip

    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True)
        [destination] = destination_queries.named([destination_id], person=by)
        return _get_or_create(run, destination, number, agreed, shown)


def activate(
    *, by: User, analysis_id: str, destination_id: str, number: int, under: int | None = None
) -> tuple[Activation, bool]:
    """Ask for a sending under a consent that names the destination; False where it was asked for before.

    `under` is the primary key of the consent behind a token, which reaches the analyses that were made with it alone;
    without it, a consent of the person's own counts. Raises `UnknownAnalysis`, `UnknownDestination`,
    `AgreementRequired`, `AddressNotVerified`, `NothingToActivate`, `SendingTaken`, `ActivationBudgetSpent`.
    """
    with transaction.atomic():
        run = own_run(by, analysis_id, lock=True, under=under)
        consent = ProcessingConsent.objects.select_related("app").filter(pk=under).first() if under else None
        [destination] = destination_queries.named(
            [destination_id], person=by, app_pk=consent.app_id if consent else None
        )
        if consent is None:
            consent = consents.own_for_destination(by, destination_id)
        if consent is None or destination_id not in consent.destinations:
            origin = consent.origin if consent else None
            raise AgreementRequired(consent_url=consent_url(Purpose.ACTIVATION, origin, destination_id))
        activation, is_new = _get_or_create(run, destination, number, consent, None)
        if under is not None and activation.consent_id != under:
            raise SendingTaken()
        return activation, is_new


def _get_or_create(
    run: Run,
    destination: Destination,
    number: int,
    under: ProcessingConsent | Callable[[Identifiers], ProcessingConsent],
    shown: str | None,
) -> tuple[Activation, bool]:
    """The caller holds the run locked, so that of two who ask at once the second finds the row of the first.

    `under` is the consent that covers it, or makes one that names these identifiers.
    """
    existing = Activation.objects.filter(run=run, destination=destination, number=number).first()
    if existing is not None:
        return existing, False
    named = subject_of_run(run)
    if isinstance(under, ProcessingConsent):
        named = named.within(named_by(under, named))
        if not named.all:
            origin = under.origin if under.reach == Reach.SITE else None
            raise AgreementRequired(consent_url=consent_url(Purpose.ACTIVATION, origin, destination.destination_id))
    data = payloads.data_of(run, named)
    if shown is not None and shown != payloads.shown_digest(data, statement(destination)):
        raise ChangedSinceShown()
    consent = under if isinstance(under, ProcessingConsent) else under(named)
    _spend(consent)
    now = database_now()
    body = payloads.message(data, now)
    activation = Activation.objects.create(
        run=run,
        destination=destination,
        consent=consent,
        number=number,
        next_attempt_at=now,
        body=encryption.sealed(body),
        digest=payloads.digest(body),
        created_at=now,
    )
    transaction.on_commit(partial(enqueue, SEND, activation.pk))
    return activation, True


def _spend(consent: ProcessingConsent) -> None:
    """What came before is answered without this: only a new sending is counted."""
    exceeded = spend(Budget.ACTIVATIONS, person_pk=consent.user_id, app_pk=consent.app_id)
    if exceeded is not None:
        raise ActivationBudgetSpent(
            f"At most {exceeded.limit.allowed} sendings an hour ({exceeded.limit.name}).",
            headers={"Retry-After": str(exceeded.resets_in)},
        )


def end_sendings_under(consent_pk: int) -> None:
    """End what waits under a consent that is being withdrawn, and keep none of it.

    An attempt that is under way cannot be called back; should it fail, no other follows.
    """
    now = database_now()
    waiting = Activation.objects.filter(consent=consent_pk, status=ActivationStatus.QUEUED)
    rows = list(waiting.select_related("consent", "run").select_for_update(of=("self",)).order_by("pk"))
    ended = {"status": ActivationStatus.FAILED, "error_code": "consent_ended", "finished_at": now}
    mine = Activation.objects.filter(pk__in=[row.pk for row in rows])
    mine.update(**ended, body=None, next_attempt_at=None, lease_until=None)
    notify_apps(rows, ActivationStatus.FAILED, now)


def send_corrected(run: Run, before: dict[str, Any]) -> list[str]:
    """Send what a corrected analysis says now to those who got `before`, under the consents that let it be sent again.

    Returns the destinations that it may be sent to under a new consent alone. The caller holds the run locked.
    """
    if affinity_of(before).affinity == affinity_of(opened_json(run.profile) or {}).affinity:
        return []
    delivered = Activation.objects.filter(run=run, status=ActivationStatus.DELIVERED).order_by("number")
    newest = {row.destination_id: row for row in delivered.select_related("destination__app", "consent")}
    undelivered = []
    for row in newest.values():
        number = next_number(run, row.destination)
        lasting = row.consent.reach != Reach.RUN and consents.is_live(row.consent, Purpose.ACTIVATION)
        if not lasting or number >= MOST_SENDINGS:
            undelivered.append(row.destination.described)
            continue
        with suppress(NothingToActivate, AddressNotVerified, AgreementRequired, ActivationBudgetSpent):
            _get_or_create(run, row.destination, number, row.consent, None)
    return undelivered


def notify_apps(rows: Iterable[Activation], status: ActivationStatus, now: datetime) -> None:
    """Tell the apps of sendings that ended so. `consent` and `run` must be loaded."""
    delivered = status == ActivationStatus.DELIVERED
    event = ProcessingEvent.ACTIVATION_DELIVERED if delivered else ProcessingEvent.ACTIVATION_FAILED
    for row in rows:
        names = {"analysis_id": row.run.analysis_id if row.run else None, "activation_id": row.activation_id}
        notify_app(row.consent, event, status=status, at=now, **names)
