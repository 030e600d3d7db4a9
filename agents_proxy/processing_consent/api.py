"""`/api/a2a/consents` (contract 4.2): a signed-in person's own consent to processing."""

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.destinations import queries as destination_queries
from agents_proxy.owner_api import QuerylessOwnerView
from agents_proxy.processing_consent import actions as consents
from agents_proxy.processing_consent.identifiers import Identifiers, folded, verified_by
from agents_proxy.processing_consent.schemas import ConsentBody
from common.clock import rfc3339
from common.json_bodies import json_answer


class Consents(QuerylessOwnerView):
    """Agree, and see what one agreed to."""

    def get(self, request: Request) -> HttpResponse:
        return json_answer({"consents": consents.listed(self.person)})

    def post(self, request: Request) -> HttpResponse:
        body = self.body(ConsentBody)
        destinations = destination_queries.named(body.destinations, person=self.person)
        first = verified_by(self.person.pk).first()
        named = Identifiers(
            (folded(body.email),) if body.email else first.emails,
            (body.phoneNumber,) if body.phoneNumber else first.phone_numbers,
        )
        given = consents.give(by=self.person, purposes=body.purposes, named=named, destinations=destinations)
        told = {"consentId": given.consent_id, "purposes": given.purposes, "expiresAt": rfc3339(given.expires_at)}
        return json_answer(told, status=201)


class OneConsent(QuerylessOwnerView):
    """Withdraw one, at once."""

    def delete(self, request: Request, consent_id: str) -> HttpResponse:
        consents.withdraw(consent_id=consent_id, by=self.person)
        return HttpResponse(status=204)
