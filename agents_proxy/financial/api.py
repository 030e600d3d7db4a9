"""`/api/a2a/financial/`: a signed-in person's linked institutions. No token of the aggregator is ever answered."""

from typing import cast

from django.http import HttpResponse
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from agents_proxy.errors import ReportNotSigned
from agents_proxy.financial import client, errors, links, schemas, webhooks
from agents_proxy.financial import items as linked_items
from agents_proxy.financial.refreshes import start_refresh
from agents_proxy.financial.shapes import Webhook
from agents_proxy.owner_api import INSTITUTIONS, QuerylessOwnerView
from common.admission.requests import JSONRequest
from common.admission.schemas import Nothing
from common.admission.views import JSONView
from common.clock import rfc3339
from common.json_bodies import json_answer
from common.network import client_address, network_of
from common.operations import operation, path_parameter

_ITEM = path_parameter("item_id", "As the list of institutions has it.", {"type": "string", "minLength": 1})
_FINANCIAL = (errors.AggregatorNotConfigured, errors.FinancialConsentRequired)
_AGGREGATOR = (
    errors.AggregatorNotConfigured,
    errors.AggregatorProblem,
    errors.AggregatorTimeout,
    errors.AggregatorBusy,
    errors.AggregatorRefused,
    errors.LoginRequired,
    errors.NotReady,
)


class InstitutionView(QuerylessOwnerView):
    tag = INSTITUTIONS
    path_parameters = [_ITEM]


class Links(InstitutionView):
    """Open a visit to the aggregator's own page."""

    @operation(
        name="linkInstitution",
        summary="Open a visit to the aggregator's page",
        description="The person signs in to their institution there.",
        answers={201: schemas.FinancialLink},
        refusals=[*_AGGREGATOR, errors.ItemRevoked, errors.FinancialConsentRequired],
    )
    def post(self, request: Request) -> HttpResponse:
        self.body(Nothing)
        return _opened(links.start_link(by=self.person))


def _opened(link: links.Link) -> HttpResponse:
    body = {"linkId": link.link_id, "url": link.url, "expiresAt": rfc3339(link.expires_at)}
    return json_answer(body, status=201)


class SignedWebhook(BaseAuthentication):
    """The aggregator's signature (webhooks.py). There is no user; `auth` is the name of the message."""

    def authenticate(self, request: Request) -> tuple[None, str] | None:
        if request.method == "OPTIONS":
            return None
        if not client.is_configured():
            raise ReportNotSigned("No reports are taken here.")
        report = cast("JSONRequest", request)
        report.check_size(Webhooks.body_limit)  # what is not read to its end cannot be verified
        network = network_of(client_address(report))
        signature = report.headers.get(webhooks.HEADER, "")
        return None, webhooks.require_signature(report.content, signature, network=network)


class Webhooks(JSONView):
    """What the aggregator tells by itself; not for browsers."""

    authentication_classes = (SignedWebhook,)
    http_method_names = ["post", "options"]

    def post(self, request: Request) -> HttpResponse:
        webhooks.take_webhook(self.body(Webhook), name=str(request.auth))
        return json_answer({})


class Items(InstitutionView):
    @operation(
        name="listInstitutions",
        summary="Linked institutions",
        description="Newest first, each with its latest refresh.",
        answers={200: schemas.FinancialItems},
        refusals=_FINANCIAL,
    )
    def get(self, request: Request) -> HttpResponse:
        linked_items.require_consent(self.person)
        return json_answer({"items": linked_items.items_of(self.person)})


class OneItem(InstitutionView):
    @operation(
        name="getInstitution",
        summary="One linked institution",
        description="With its latest refresh.",
        answers={200: schemas.FinancialItem},
        refusals=[*_FINANCIAL, errors.UnknownItem],
    )
    def get(self, request: Request, item_id: str) -> HttpResponse:
        linked_items.require_consent(self.person)
        return json_answer(linked_items.item_of(self.person, item_id))

    @operation(
        name="removeInstitution",
        summary="Remove an institution",
        description="Its access token is given back and everything of it deleted.",
        answers={204: None},
        refusals=[*_AGGREGATOR, errors.UnknownItem],
    )
    def delete(self, request: Request, item_id: str) -> HttpResponse:
        self.body(Nothing)
        linked_items.remove_item(by=self.person, item_id=item_id)
        return HttpResponse(status=204)


class ItemLinks(InstitutionView):
    """Open a visit to the aggregator's page for an institution that wants its person to sign in once more."""

    @operation(
        name="linkInstitutionAgain",
        summary="Open a visit to sign in at a linked institution again",
        description="For one that wants a sign-in, or says that it ends the access. What was read stays.",
        answers={201: schemas.FinancialLink},
        refusals=[*_AGGREGATOR, errors.ItemRevoked, errors.FinancialConsentRequired, errors.UnknownItem],
    )
    def post(self, request: Request, item_id: str) -> HttpResponse:
        self.body(Nothing)
        return _opened(links.start_link(by=self.person, item_id=item_id))


class Refreshes(InstitutionView):
    """Ask for a refresh; one that is under way already is the answer to another."""

    @operation(
        name="refreshInstitution",
        summary="Have an institution's purchases read anew",
        description="One that is under way is the answer to another.",
        answers={202: schemas.FinancialRefresh},
        refusals=[*_FINANCIAL, errors.UnknownItem],
    )
    def post(self, request: Request, item_id: str) -> HttpResponse:
        self.body(Nothing)
        linked_items.require_consent(self.person)
        run = start_refresh(linked_items.own_item(self.person, item_id))
        return json_answer(linked_items.refresh_body(run), status=202)


class Identity(InstitutionView):
    """Who the institution says this person is, asked at this moment."""

    @operation(
        name="readFinancialIdentity",
        summary="Who the institution says that one is",
        description="Needs a consent to `identity`, and is kept nowhere.",
        answers={200: schemas.FinancialIdentity},
        refusals=[*_AGGREGATOR, errors.ItemRevoked, errors.FinancialConsentRequired, errors.UnknownItem],
    )
    def post(self, request: Request, item_id: str) -> HttpResponse:
        self.body(Nothing)
        return json_answer(linked_items.identity_of(by=self.person, item_id=item_id))


class Signals(InstitutionView):
    """What the brand agent's prompt gets of this person's purchases."""

    @operation(
        name="getFinancialSignals",
        summary="What one's purchases say",
        description="As it goes into the brand agent's prompt.",
        answers={200: schemas.FinancialSignals},
        refusals=_FINANCIAL,
    )
    def get(self, request: Request) -> HttpResponse:
        linked_items.require_consent(self.person)
        return json_answer({"signals": linked_items.financial_signals(self.person)})
