"""`/api/a2a/consents` (contract 4.2): a signed-in person's own consent to processing."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.destinations import queries as destination_queries
from agents_proxy.destinations.errors import UnknownDestination
from agents_proxy.errors import AddressNotVerified, ConsentEnded, UnknownConsent
from agents_proxy.owner_api import CONSENT, QuerylessOwnerView
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers, folded, verified_by
from agents_proxy.processing_consent.models import ProcessingConsent
from agents_proxy.processing_consent.schemas import AgentConsentGiven, AgentConsents, ConsentBody
from common.admission.schemas import Nothing
from common.clock import rfc3339
from common.json_bodies import json_answer
from common.operations import operation, path_parameter
from common.problems import TooManyRequests

_CONSENT_ID = path_parameter("consent_id", "As the list has it.", {"type": "string", "minLength": 1})


class Consents(QuerylessOwnerView):
    """Agree, and see what one agreed to."""

    @operation(
        name="listAgentConsents",
        tag=CONSENT,
        summary="What one agreed to",
        description=f"Every consent that is live, and the newest {consents.LISTED_ENDED} that ended, newest first, in "
        "the words that were agreed to.",
        answers={200: AgentConsents},
    )
    def get(self, request: Request) -> HttpResponse:
        return json_answer({"consents": consents.listed(self.person)})

    @operation(
        name="giveAgentConsent",
        tag=CONSENT,
        summary="Agree to processing",
        description="Covers one's own calls with these purposes, and with `activation` what one sends "
        "to the destinations that it names.",
        body=ConsentBody,
        answers={201: AgentConsentGiven},
        refusals=[UnknownDestination, AddressNotVerified, TooManyRequests],
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(ConsentBody)
        destinations = destination_queries.named(body.destinations, person=self.person)
        first = verified_by(self.person.pk).first()
        named = Identifiers(
            (folded(body.email),) if body.email else first.emails,
            (body.phoneNumber,) if body.phoneNumber else first.phone_numbers,
        )
        lasts = body.duration.length
        given = consents.give(
            by=self.person, purposes=body.purposes, named=named, lasts=lasts, destinations=destinations
        )
        return json_answer(_body_of(given), status=201)


def _body_of(consent: ProcessingConsent) -> dict[str, Any]:
    return {"consentId": consent.consent_id, "purposes": consent.purposes, "expiresAt": rfc3339(consent.expires_at)}


class Renewal(QuerylessOwnerView):
    """Let one hold longer, by the time that its person had chosen."""

    @operation(
        name="renewAgentConsent",
        tag=CONSENT,
        summary="Let a consent hold longer",
        description="By the time that was chosen when it was given. However often, it ends no later than twice that "
        "time from now. A site's token goes on working with it. One to a single analysis is not renewed.",
        parameters=[_CONSENT_ID],
        body=Nothing,
        answers={200: AgentConsentGiven},
        refusals=[UnknownConsent, ConsentEnded],
    )
    def post(self, request: Request, consent_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_answer(_body_of(consents.renew(consent_id=consent_id, by=self.person)))


class OneConsent(QuerylessOwnerView):
    """Withdraw one, at once."""

    @operation(
        name="withdrawAgentConsent",
        tag=CONSENT,
        summary="Withdraw a consent",
        description="Ends it at once. A repeated call answers the same.",
        parameters=[_CONSENT_ID],
        answers={204: None},
        refusals=[UnknownConsent],
    )
    def delete(self, request: Request, consent_id: str) -> HttpResponse:
        self.body(Nothing)
        consents.withdraw(consent_id=consent_id, by=self.person)
        return HttpResponse(status=204)
