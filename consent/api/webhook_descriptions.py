"""What the OpenAPI document says of the management of webhooks."""

from common.admission.shapes import Nothing
from common.problems import TooManyRequests
from consent.api import webhook_shapes as shapes
from developers.errors import AppSuspended
from developers.manage.descriptions import APP_ID, PAGE, manages
from developers.operations import path_parameter
from developers.webhooks.errors import EndpointDisabled

_ENDPOINT_ID = path_parameter("endpoint_id", "The endpoint.", "12")
_DELIVERY_ID = path_parameter("delivery_id", "The delivery.", "4711")
_URL = "https://trips.example/hooks/consent"
_ENDPOINT = {
    "endpoint_id": "12", "url": _URL, "types": ["consent.approved", "consent.revoked"], "enabled": True,
    "disabled_at": None, "disabled_reason": None, "old_secret_until": None, "created_at": "2026-11-20T10:00:00Z",
}  # fmt: skip
_SECRET = {"secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
_DELIVERY = {
    "delivery_id": "4711", "webhook_id": "msg_app_o7w3vq5d2ykx6bq4m2nrzj5cfe_41", "type": "consent.approved",
    "sequence": 41, "at": "2026-11-20T10:00:00Z", "status": "waiting", "attempts": 1, "status_code": 500, "ms": 31,
    "error": "it answered 500", "tried_at": "2026-11-20T10:00:01Z", "next_at": "2026-11-20T10:00:06Z",
    "finished_at": None,
}  # fmt: skip

list_endpoints = manages(
    name="listWebhookEndpoints",
    summary="The webhook endpoints of an app",
    description="Newest first, in pages. Secrets are told once, where they are made, and never here.",
    parameters=[APP_ID, *PAGE],
    answers={200: shapes.ManagedEndpoints},
    example={"items": [_ENDPOINT], "next_cursor": None},
)
add_endpoint = manages(
    name="addWebhookEndpoint",
    summary="Add a webhook endpoint",
    description="The answer holds the secret that signs, this once. An app has at most 20 endpoints.",
    parameters=[APP_ID],
    writes=True,
    body=shapes.NewEndpointBody,
    body_example={"url": _URL, "types": ["consent.approved", "consent.revoked"]},
    answers={201: shapes.ManagedEndpointWithSecret},
    example={**_ENDPOINT, **_SECRET},
)
change_endpoint = manages(
    name="changeWebhookEndpoint",
    summary="Change, disable or enable a webhook endpoint",
    description="What waits goes to the new address. While it is disabled nothing is sent there, and notices of that "
    "time never are.",
    parameters=[APP_ID, _ENDPOINT_ID],
    writes=True,
    body=shapes.ChangedEndpointBody,
    body_example={"enabled": True},
    answers={200: shapes.ManagedEndpoint},
    example=_ENDPOINT,
)
delete_endpoint = manages(
    name="deleteWebhookEndpoint",
    summary="Delete a webhook endpoint",
    description="With its secret and its deliveries; what waits is not sent.",
    parameters=[APP_ID, _ENDPOINT_ID],
    writes=True,
    no_content=True,
)
test_endpoint = manages(
    name="testWebhookEndpoint",
    summary="Send a test to a webhook endpoint",
    description="One signed `consent.test`, now, and what became of it. Its `data` is a status body of nobody: "
    "`request_id` is `req_test`, `user_id` is `usr_test`, `sequence` null. It is not repeated, takes no number of the "
    "app's sequence and is sent whatever types the endpoint wants. Ten a minute.",
    parameters=[APP_ID, _ENDPOINT_ID],
    writes=True,
    body=Nothing,
    body_example={},
    answers={200: shapes.TestOutcome},
    example={"delivered": True, "status_code": 204, "ms": 31, "error": None},
    refusals=[AppSuspended, TooManyRequests],
)
rotate_secret = manages(
    name="rotateWebhookSecret",
    summary="Renew the secret of a webhook endpoint",
    description="The answer holds the new secret, this once. Until the overlap is over each delivery carries two "
    "signatures in `webhook-signature`; renewed once more within it, the oldest secret signs nothing any more.",
    parameters=[APP_ID, _ENDPOINT_ID],
    writes=True,
    body=shapes.RotationBody,
    body_example={"overlap": 86400},
    answers={200: shapes.ManagedEndpointWithSecret},
    example={**_ENDPOINT, "old_secret_until": "2026-11-21T10:00:00Z", **_SECRET},
)
list_deliveries = manages(
    name="listWebhookDeliveries",
    summary="What became of each delivery to an endpoint",
    description="The newest notice first, in pages.",
    parameters=[APP_ID, _ENDPOINT_ID, *PAGE],
    answers={200: shapes.ManagedDeliveries},
    example={"items": [_DELIVERY], "next_cursor": None},
)
replay_delivery = manages(
    name="replayWebhookDelivery",
    summary="Send a delivery once more",
    description="Whatever became of it, soon and under the same `webhook-id`, with all its attempts anew.",
    permission="`write` for the app of the delivery, in a management token",
    parameters=[_DELIVERY_ID],
    writes=True,
    body=Nothing,
    body_example={},
    answers={200: shapes.ManagedDelivery},
    example={**_DELIVERY, "attempts": 0, "error": None},
    refusals=[EndpointDisabled, TooManyRequests],
)
