"""What can be seen of sendings, always starting from the analysis or the person they belong to."""

from typing import Any

from django.db.models import Max, QuerySet

from accounts.models import User
from agents_proxy.activations.errors import UnknownActivation
from agents_proxy.activations.models import Activation
from agents_proxy.analyses.models import Run
from agents_proxy.destinations.models import Destination
from common.clock import rfc3339
from common.identifiers import is_identifier


def activations_of(run: Run, *, under: int | None = None) -> QuerySet[Activation]:
    """Every sending of an analysis, newest first, without what was sent; with `under`, those of this consent alone."""
    found = Activation.objects.filter(run=run).select_related("destination__app")
    if under is not None:
        found = found.filter(consent=under)
    return found.defer("body", "destination__secret").order_by("-id")


def activation_of(run: Run, activation_id: str, *, under: int | None = None) -> Activation:
    """This one of the analysis; raises `UnknownActivation`."""
    listed = activations_of(run, under=under)
    found = listed.filter(activation_id=activation_id).first() if is_identifier(activation_id) else None
    if found is None:
        raise UnknownActivation()
    return found


def activations_of_person(person: User) -> QuerySet[Activation]:
    """Everything that was sent about somebody, that of deleted analyses too."""
    found = Activation.objects.filter(consent__user=person).select_related("destination__app", "run")
    return found.defer("body", "destination__secret").order_by("-id")


def next_number(run: Run, destination: Destination) -> int:
    """Which sending of this analysis to this destination the next one is."""
    newest = Activation.objects.filter(run=run, destination=destination).aggregate(newest=Max("number"))["newest"]
    return 0 if newest is None else newest + 1


def where(analysis_id: str, activation: Activation) -> str:
    return f"/api/a2a/analyses/{analysis_id}/activations/{activation.activation_id}"


def activation_body(analysis_id: str, activation: Activation) -> dict[str, Any]:
    """`GET …/activations/{activationId}`; `errorCode` is of the last attempt, also where another one follows."""
    return {
        "activationId": activation.activation_id,
        "status": activation.status,
        "statusUrl": where(analysis_id, activation),
        "destinationId": activation.destination.destination_id,
        "destination": activation.destination.name,
        "sending": activation.number,
        "attempts": activation.attempts,
        "statusCode": activation.status_code,
        "errorCode": activation.error_code or None,
        "digest": activation.digest,
        "createdAt": rfc3339(activation.created_at),
        "nextAttemptAt": rfc3339(activation.next_attempt_at),
        "finishedAt": rfc3339(activation.finished_at),
    }


def destination_body(destination: Destination, *, agreed: bool) -> dict[str, Any]:
    """One destination as `GET /api/a2a/destinations` lists it; `agreed`: the caller's consent covers it."""
    return {
        "destinationId": destination.destination_id,
        "name": destination.name,
        "host": destination.host,
        "app": destination.app.name,
        "agreed": agreed,
    }
