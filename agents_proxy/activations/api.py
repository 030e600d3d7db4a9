"""The addresses of sendings and of the destinations that a caller may send to (contract 4.3)."""

from collections.abc import Sequence

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.activations import actions as activation_actions
from agents_proxy.activations import queries as activation_queries
from agents_proxy.activations import schemas
from agents_proxy.activations.errors import ActivationBudgetSpent, NothingToActivate, SendingTaken, UnknownActivation
from agents_proxy.analyses.errors import UnknownAnalysis
from agents_proxy.analyses.queries import own_run
from agents_proxy.analyses.schemas import ANALYSIS_ID
from agents_proxy.budgets import Budget, usage
from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.errors import AddressNotVerified
from agents_proxy.owner_api import LimitedPost
from agents_proxy.processing_consent import actions as consents
from agents_proxy.proxy.shared_views import SharedView
from agents_proxy.states import Purpose
from common.json_bodies import json_answer
from common.limits import Count
from common.operations import operation, path_parameter


class Activations(LimitedPost, SharedView):
    """Every sending of an analysis, and a new one."""

    def needs(self) -> Sequence[Purpose]:
        return (Purpose.ACTIVATION,) if self.request.method == "POST" else ()

    @operation(
        name="listActivations",
        summary="What was sent of an analysis",
        description="Every sending to a destination, newest first. What was sent is kept as a digest alone.",
        parameters=[ANALYSIS_ID],
        answers={200: schemas.Activations},
        refusals=[UnknownAnalysis],
    )
    def get(self, request: Request, analysis_id: str) -> HttpResponse:
        run = own_run(self.person, analysis_id, under=self.under)
        found = activation_queries.activations_of(run, under=self.under)
        return json_answer({"activations": [activation_queries.activation_body(analysis_id, one) for one in found]})

    @operation(
        name="activateAnalysis",
        summary="Send the brand affinity to a destination",
        description="Needs a consent to `activation` that names the destination. It is sent signed, as Standard "
        "Webhooks say, and tried again for most of a day. The same `sending` again is answered with what became of "
        "it, and nothing is sent twice.",
        parameters=[ANALYSIS_ID],
        body=schemas.ActivationBody,
        answers={202: schemas.ActivationAccepted},
        refusals=[
            UnknownAnalysis,
            UnknownDestination,
            AddressNotVerified,
            NothingToActivate,
            SendingTaken,
            ActivationBudgetSpent,
        ],
    )
    def post(self, request: Request, analysis_id: str) -> HttpResponse:
        body = self.body(schemas.ActivationBody)
        activation, _ = activation_actions.activate(
            by=self.person,
            analysis_id=analysis_id,
            destination_id=body.destinationId,
            number=body.sending,
            under=self.under,
        )
        where = activation_queries.where(analysis_id, activation)
        answer = {"activationId": activation.activation_id, "status": activation.status, "statusUrl": where}
        return json_answer(answer, status=202, headers={"Location": where})

    def counts(self) -> Sequence[Count]:
        return usage(Budget.ACTIVATIONS, person_pk=self.person.pk, app_pk=self.app_pk)


class Activation(SharedView):
    """One sending, and what became of it."""

    @operation(
        name="getActivation",
        summary="How a sending stands",
        description="Until it is `delivered` or `failed`.",
        parameters=[ANALYSIS_ID, path_parameter("activation_id", "As the sending was answered.", schemas.EXAMPLE)],
        answers={200: schemas.Activation},
        refusals=[UnknownAnalysis, UnknownActivation],
    )
    def get(self, request: Request, analysis_id: str, activation_id: str) -> HttpResponse:
        run = own_run(self.person, analysis_id, under=self.under)
        found = activation_queries.activation_of(run, activation_id, under=self.under)
        return json_answer(activation_queries.activation_body(analysis_id, found))


class Destinations(SharedView):
    """Where the token's app has brand affinities sent; to a person, those of the apps that they met here."""

    @operation(
        name="listAgentDestinations",
        summary="Where one may send",
        description="The destinations of the token's app; to a person, those of the apps that they agreed to.",
        answers={200: schemas.AgentDestinations},
    )
    def get(self, request: Request) -> HttpResponse:
        if self.covered is not None:
            found = destination_queries.destinations_reaching(self.person).filter(app=self.covered.app_pk)
            agreed = self.covered.destinations
        else:
            agreed = consents.own_destinations(self.person)
            found = destination_queries.destinations_for(self.person, agreed=agreed)
        bodies = [
            activation_queries.destination_body(destination, agreed=destination.destination_id in agreed)
            for destination in found
        ]
        return json_answer({"destinations": bodies})
