"""An app's webhooks by program, with a personal management token (contract 5.1)."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from common.admission.cursors import cursor_of, position_of
from common.admission.shapes import Nothing, PageQuery
from common.json_bodies import json_answer
from common.problems import NotFound
from consent.api import webhook_descriptions as described
from consent.api.webhook_shapes import (
    ChangedEndpointBody,
    ManagedDeliveries,
    NewEndpointBody,
    RotationBody,
    delivery_body,
    endpoint_body,
    outcome_body,
)
from consent.notices import actions as notice_actions
from consent.notices import queries as notice_queries
from developers.manage.base import ManagementView
from developers.models import App, WebhookEndpoint
from developers.webhooks import actions as webhooks
from developers.webhooks import queries as webhook_queries


def _key(text: str) -> int:
    """The number that an ID stands for; raises `NotFound` for what cannot be one."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise NotFound("The app has nothing of this ID.")
    return int(text)


class Endpoints(ManagementView):
    """All endpoints of an app."""

    http_method_names = ["get", "post"]
    takes_query = True

    @described.list_endpoints
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        app = self.member().app
        return json_answer(self.page(webhook_queries.endpoints_of(app), endpoint_body))

    @described.add_endpoint
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        asked = self.body(NewEndpointBody)
        endpoint, secret = webhooks.add_endpoint(
            app=self.member().app, url=asked.url, types=asked.types, by=self.manager.user
        )
        return json_answer({**endpoint_body(endpoint), "secret": secret}, status=201)


class EndpointView(ManagementView):
    """What the addresses of one endpoint share."""

    def endpoint(self) -> WebhookEndpoint:
        """The endpoint in the path; raises `NotFound`."""
        app: App = self.member().app
        return webhook_queries.endpoint_of(app, _key(self.kwargs["endpoint_id"]))


class Endpoint(EndpointView):
    """One endpoint."""

    http_method_names = ["patch", "delete"]
    body_required = False

    @described.change_endpoint
    def patch(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        asked = self.body(ChangedEndpointBody)
        endpoint = webhooks.update_endpoint(
            endpoint=self.endpoint(), url=asked.url, types=asked.types, enabled=asked.enabled, by=self.manager.user
        )
        return json_answer(endpoint_body(endpoint))

    @described.delete_endpoint
    def delete(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        self.body(Nothing)
        webhooks.delete_endpoint(endpoint=self.endpoint(), by=self.manager.user)
        return HttpResponse(status=204)


class EndpointTest(EndpointView):
    """Try an endpoint out."""

    http_method_names = ["post"]
    body_required = False

    @described.test_endpoint
    def post(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        self.body(Nothing)
        outcome = notice_actions.send_test(endpoint=self.endpoint(), by=self.manager.user)
        return json_answer(outcome_body(outcome))


class EndpointSecret(EndpointView):
    """Renew what signs."""

    http_method_names = ["post"]
    body_required = False

    @described.rotate_secret
    def post(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        asked = self.body(RotationBody)
        endpoint = self.endpoint()
        overlap = timedelta(seconds=asked.overlap)
        secret = webhooks.renew_secret(endpoint=endpoint, by=self.manager.user, overlap=overlap)
        renewed = webhook_queries.endpoint_of(endpoint.app, endpoint.pk)
        return json_answer({**endpoint_body(renewed), "secret": secret})


class EndpointDeliveries(EndpointView):
    """The log of an endpoint."""

    takes_query = True

    @described.list_deliveries
    def get(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        query = self.query(PageQuery)
        found = notice_queries.deliveries_of(self.endpoint())
        if query.cursor is not None:
            found = found.filter(notice_id__lt=position_of(query.cursor))
        rows = list(found[: query.limit + 1])
        shown = rows[: query.limit]
        answer: ManagedDeliveries = {
            "items": [delivery_body(row, app_id) for row in shown],
            "next_cursor": cursor_of(shown[-1].notice_id) if len(rows) > query.limit else None,
        }
        return json_answer(answer)


class DeliveryReplay(ManagementView):
    """Send one delivery once more."""

    http_method_names = ["post"]
    body_required = False

    @described.replay_delivery
    def post(self, request: HttpRequest, delivery_id: str) -> HttpResponse:
        self.body(Nothing)
        managed = [member.app_id for member in self.memberships()]
        delivery = notice_queries.delivery_of(managed, _key(delivery_id))
        notice_actions.replay_delivery(delivery=delivery, by=self.manager.user)
        delivery.refresh_from_db()
        return json_answer(delivery_body(delivery, delivery.endpoint.app.app_id))
