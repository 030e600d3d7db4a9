"""`/api/a2a/financial/`: a signed-in person's linked institutions. No token of the aggregator is ever answered."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.answers import json_answer
from accounts.database import rfc3339
from accounts.errors import checked
from agents_proxy import aggregator
from agents_proxy.aggregator_refresh import start_refresh
from agents_proxy.api.consents import OwnerView
from agents_proxy.api.schemas_messaging import Nothing


class Links(OwnerView):
    """Open a visit to the aggregator's own page."""

    def post(self, request: Request) -> HttpResponse:
        checked(Nothing, request.data)
        link = aggregator.start_link(by=self.person)
        told = {"linkId": link.link_id, "url": link.url, "expiresAt": rfc3339(link.expires_at)}
        return json_answer(told, status=201)


class Items(OwnerView):
    def get(self, request: Request) -> HttpResponse:
        aggregator.require_consent(self.person)
        return json_answer({"items": aggregator.items_of(self.person)})


class OneItem(OwnerView):
    def get(self, request: Request, item_id: str) -> HttpResponse:
        aggregator.require_consent(self.person)
        return json_answer(aggregator.item_body(aggregator.own_item(self.person, item_id)))

    def delete(self, request: Request, item_id: str) -> HttpResponse:
        aggregator.remove_item(by=self.person, item_id=item_id)
        return HttpResponse(status=204)


class Refreshes(OwnerView):
    """Ask for a refresh; one that is under way already is the answer to another."""

    def post(self, request: Request, item_id: str) -> HttpResponse:
        checked(Nothing, request.data)
        aggregator.require_consent(self.person)
        run = start_refresh(aggregator.own_item(self.person, item_id))
        return json_answer(aggregator.refresh_body(run), status=202)


class Identity(OwnerView):
    """Who the institution says this person is, asked at this moment."""

    def post(self, request: Request, item_id: str) -> HttpResponse:
        checked(Nothing, request.data)
        return json_answer(aggregator.identity_of(by=self.person, item_id=item_id))


class Signals(OwnerView):
    """What the brand agent's prompt gets of this person's purchases."""

    def get(self, request: Request) -> HttpResponse:
        aggregator.require_consent(self.person)
        return json_answer({"signals": aggregator.financial_signals(self.person)})
