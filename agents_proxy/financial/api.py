"""`/api/a2a/financial/`: a signed-in person's linked institutions. No token of the aggregator is ever answered."""

from django.http import HttpResponse
from rest_framework.request import Request

from agents_proxy.financial import items as linked_items
from agents_proxy.financial import links
from agents_proxy.financial.refreshes import start_refresh
from agents_proxy.owner_api import QuerylessOwnerView
from common.admission.shapes import Nothing
from common.clock import rfc3339
from common.json_bodies import json_answer


class Links(QuerylessOwnerView):
    """Open a visit to the aggregator's own page."""

    def post(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        link = links.start_link(by=self.person)
        told = {"linkId": link.link_id, "url": link.url, "expiresAt": rfc3339(link.expires_at)}
        return json_answer(told, status=201)


class Items(QuerylessOwnerView):
    def get(self, request: Request) -> HttpResponse:
        linked_items.require_consent(self.person)
        return json_answer({"items": linked_items.items_of(self.person)})


class OneItem(QuerylessOwnerView):
    def get(self, request: Request, item_id: str) -> HttpResponse:
        linked_items.require_consent(self.person)
        return json_answer(linked_items.item_of(self.person, item_id))

    def delete(self, request: Request, item_id: str) -> HttpResponse:
        linked_items.remove_item(by=self.person, item_id=item_id)
        return HttpResponse(status=204)


class Refreshes(QuerylessOwnerView):
    """Ask for a refresh; one that is under way already is the answer to another."""

    def post(self, request: Request, item_id: str) -> HttpResponse:
        self.body(Nothing)
        linked_items.require_consent(self.person)
        run = start_refresh(linked_items.own_item(self.person, item_id))
        return json_answer(linked_items.refresh_body(run), status=202)


class Identity(QuerylessOwnerView):
    """Who the institution says this person is, asked at this moment."""

    def post(self, request: Request, item_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_answer(linked_items.identity_of(by=self.person, item_id=item_id))


class Signals(QuerylessOwnerView):
    """What the brand agent's prompt gets of this person's purchases."""

    def get(self, request: Request) -> HttpResponse:
        linked_items.require_consent(self.person)
        return json_answer({"signals": linked_items.financial_signals(self.person)})
