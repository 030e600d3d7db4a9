"""An app's webhooks by program, with a personal management token (contract 5.1)."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from common.admission.cursors import cursor_of, position_of
from common.admission.schemas import Nothing, PageQuery
from common.json_bodies import json_answer
from common.operations import operation, path_parameter
from common.problems import NotFound
from consent.notices import actions as notice_actions
from consent.notices import queries as notice_queries
from consent.notices import schemas
from developers.apps.models import App
from developers.errors import AppSuspended
from developers.manage.base import APP_ID, ManagementView
from developers.webhooks import actions as webhooks
from developers.webhooks import queries as webhook_queries
from developers.webhooks.errors import EndpointDisabled
from developers.webhooks.models import WebhookEndpoint

_ENDPOINT_ID = path_parameter("endpoint_id", "The endpoint.", schemas.EXAMPLE_ENDPOINT_ID)


def _key(text: str) -> int:
    """The number that an ID stands for; raises `NotFound` for what cannot be one."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise NotFound("The app has nothing of this ID.")
    return int(text)


class Endpoints(ManagementView):
    takes_query = True

    @operation(
        name="listWebhookEndpoints",
        summary="The webhook endpoints of an app",
        description="Newest first, in pages. Secrets are told once, where they are made, and never here.",
        query=PageQuery,
        answers={200: schemas.ManagedEndpoints},
    )
    def get(self, request: HttpRequest, app_id: str) -> HttpResponse:
        self.query(PageQuery)  # before what the path names is looked up
        app = self.member().app
        return json_answer(self.page(webhook_queries.endpoints_of(app), schemas.endpoint_body))

    @operation(
        name="addWebhookEndpoint",
        summary="Add a webhook endpoint",
        description="The answer holds the secret that signs, this once. An app has at most 20 endpoints.",
        body=schemas.NewEndpointBody,
        answers={201: schemas.ManagedEndpointWithSecret},
    )
    def post(self, request: HttpRequest, app_id: str) -> HttpResponse:
        body = self.body(schemas.NewEndpointBody)
        endpoint, secret = webhooks.add_endpoint(
            app=self.member().app, url=body.url, types=body.types, by=self.manager.user
        )
        return json_answer({**schemas.endpoint_body(endpoint), "secret": secret}, status=201)


class EndpointView(ManagementView):
    """What the addresses of one endpoint share."""

    path_parameters = [APP_ID, _ENDPOINT_ID]

    def endpoint(self) -> WebhookEndpoint:
        """The endpoint in the path; raises `NotFound`."""
        app: App = self.member().app
        return webhook_queries.endpoint_of(app, _key(self.kwargs["endpoint_id"]))


class Endpoint(EndpointView):
    body_required = False

    @operation(
        name="changeWebhookEndpoint",
        summary="Change, disable or enable a webhook endpoint",
        description="What waits goes to the new address. While it is disabled nothing is sent there, and notices of "
        "that time never are.",
        body=schemas.ChangedEndpointBody,
        answers={200: schemas.ManagedEndpoint},
    )
    def patch(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        body = self.body(schemas.ChangedEndpointBody)
        endpoint = webhooks.update_endpoint(
            endpoint=self.endpoint(), url=body.url, types=body.types, enabled=body.enabled, by=self.manager.user
        )
        return json_answer(schemas.endpoint_body(endpoint))

    @operation(
        name="deleteWebhookEndpoint",
        summary="Delete a webhook endpoint",
        description="With its secret and its deliveries; what waits is not sent.",
        answers={204: None},
    )
    def delete(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        self.body(Nothing)
        webhooks.delete_endpoint(endpoint=self.endpoint(), by=self.manager.user)
        return HttpResponse(status=204)


class EndpointTest(EndpointView):
    """Try an endpoint out."""

    body_required = False

    @operation(
        name="testWebhookEndpoint",
        summary="Send a test to a webhook endpoint",
        description="One signed `consent.test`, now, and what became of it. Its `data` is a status body of nobody: "
        "`request_id` is `req_test`, `user_id` is `usr_test`, `sequence` null. It is not repeated, takes no number of "
        "the app's sequence and is sent whatever types the endpoint wants. Ten a minute.",
        body=Nothing,
        answers={200: schemas.TestOutcome},
        refusals=[AppSuspended],
    )
    def post(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        self.body(Nothing)
        outcome = notice_actions.send_test(endpoint=self.endpoint(), by=self.manager.user)
        return json_answer(schemas.outcome_body(outcome))


class EndpointSecret(EndpointView):
    """Renew what signs."""

    body_required = False

    @operation(
        name="rotateWebhookSecret",
        summary="Renew the secret of a webhook endpoint",
        description="The answer holds the new secret, this once. Until the overlap is over each delivery carries two "
        "signatures in `webhook-signature`; renewed once more within it, the oldest secret signs nothing any more.",
        body=schemas.RotationBody,
        answers={200: schemas.ManagedEndpointWithSecret},
        example={"old_secret_until": "2026-11-21T10:00:00Z"},
    )
    def post(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        body = self.body(schemas.RotationBody)
        endpoint = self.endpoint()
        overlap = timedelta(seconds=body.overlap)
        secret = webhooks.renew_secret(endpoint=endpoint, by=self.manager.user, overlap=overlap)
        renewed = webhook_queries.endpoint_of(endpoint.app, endpoint.pk)
        return json_answer({**schemas.endpoint_body(renewed), "secret": secret})


class EndpointDeliveries(EndpointView):
    takes_query = True

    @operation(
        name="listWebhookDeliveries",
        summary="What became of each delivery to an endpoint",
        description="The newest notice first, in pages.",
        query=PageQuery,
        answers={200: schemas.ManagedDeliveries},
    )
    def get(self, request: HttpRequest, app_id: str, endpoint_id: str) -> HttpResponse:
        query = self.query(PageQuery)
        found = notice_queries.deliveries_of(self.endpoint())
        if query.cursor is not None:
            found = found.filter(notice_id__lt=position_of(query.cursor))
        rows = list(found[: query.limit + 1])
        shown = rows[: query.limit]
        answer: schemas.ManagedDeliveries = {
            "items": [schemas.delivery_body(row, app_id) for row in shown],
            "next_cursor": cursor_of(shown[-1].notice_id) if len(rows) > query.limit else None,
        }
        return json_answer(answer)


class DeliveryReplay(ManagementView):
    """Send one delivery once more."""

    body_required = False
    about = "the app of the delivery"

    @operation(
        name="replayWebhookDelivery",
        summary="Send a delivery once more",
        description="Whatever became of it, soon and under the same `webhook-id`, with all its attempts anew.",
        parameters=[path_parameter("delivery_id", "The delivery.", schemas.EXAMPLE_DELIVERY_ID)],
        body=Nothing,
        answers={200: schemas.ManagedDelivery},
        example={"attempts": 0, "error": None},
        refusals=[EndpointDisabled],
    )
    def post(self, request: HttpRequest, delivery_id: str) -> HttpResponse:
        self.body(Nothing)
        managed = [member.app_id for member in self.memberships()]
        delivery = notice_queries.delivery_of(managed, _key(delivery_id))
        notice_actions.replay_delivery(delivery=delivery, by=self.manager.user)
        delivery.refresh_from_db()
        return json_answer(schemas.delivery_body(delivery, delivery.endpoint.app.app_id))
