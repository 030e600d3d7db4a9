"""Endpoints and deliveries as the management addresses take and tell them (contract 5.1)."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from common.admission.schemas import Strict
from common.clock import rfc3339
from common.shapes import NextCursor, Shape, Time, literal_of
from consent.event_types import WEBHOOK_TYPES
from consent.notices.models import DeliveryStatus, WebhookDelivery
from consent.notices.webhook_client import Outcome
from consent.notices.webhooks import message_id
from developers.manage.base import EXAMPLE_APP_ID
from developers.webhooks.actions import LONGEST_OVERLAP, OVERLAP
from developers.webhooks.models import WebhookEndpoint
from developers.webhooks.policies import LONGEST_ADDRESS

EXAMPLE_ENDPOINT_ID, EXAMPLE_DELIVERY_ID = "12", "4711"
_URL = "https://trips.example/hooks/consent"
_TYPES = ["consent.approved", "consent.revoked"]


def _known(types: list[str]) -> list[str]:
    if not set(types) <= set(WEBHOOK_TYPES):
        raise PydanticCustomError("unknown_type", "name types of webhooks alone")
    return [kind for kind in WEBHOOK_TYPES if kind in types]


Types = Annotated[
    list[str],
    Field(max_length=50, description="Which notices are sent there; none means every type, also later ones."),
    AfterValidator(_known),
]
Url = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_ADDRESS,
        description="Public and https, without a name, a password or a fragment.",
        examples=[_URL],
    ),
]


class NewEndpointBody(Strict):
    """`POST …/webhooks`."""

    url: Url
    types: Annotated[Types, Field(examples=[_TYPES])] = []


class ChangedEndpointBody(Strict):
    """`PATCH …/webhooks/{endpoint_id}`: what is absent stays."""

    url: Url | None = None
    types: Types | None = None
    enabled: Annotated[bool | None, Field(description="Whether anything is sent there.", examples=[True])] = None


class RotationBody(Strict):
    """`POST …/rotate-secret`."""

    null_is_absent = False

    overlap: Annotated[
        int,
        Field(
            ge=0,
            le=int(LONGEST_OVERLAP.total_seconds()),
            description="Seconds for which the old secret signs beside the new one; 0 where it leaked.",
            examples=[86400],
        ),
    ] = int(OVERLAP.total_seconds())


class ManagedEndpoint(Shape):
    """Where an app wants to be told."""

    endpoint_id: Annotated[str, Field(examples=[EXAMPLE_ENDPOINT_ID])]
    url: Annotated[str, Field(examples=[_URL])]
    types: Annotated[list[str], Field(examples=[_TYPES])]
    enabled: bool
    disabled_at: Time | None
    disabled_reason: str | None
    old_secret_until: Annotated[Time | None, Field(description="Until when two secrets sign.")]
    created_at: Time


class ManagedEndpointWithSecret(ManagedEndpoint):
    """An endpoint with its secret, which is told this once."""

    secret: Annotated[
        str,
        Field(
            description="`whsec_…`, for a library of Standard Webhooks.",
            examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        ),
    ]


class ManagedEndpoints(Shape):
    """An app's endpoints, newest first."""

    items: list[ManagedEndpoint]
    next_cursor: NextCursor


class TestOutcome(Shape):
    """What became of a test."""

    delivered: bool
    status_code: Annotated[int | None, Field(description="Of the answer; null where there was none.", examples=[204])]
    ms: Annotated[int | None, Field(description="Milliseconds until it was answered.", examples=[31])]
    error: str | None


class ManagedDelivery(Shape):
    """One notice on its way to one endpoint."""

    delivery_id: Annotated[str, Field(examples=[EXAMPLE_DELIVERY_ID])]
    webhook_id: Annotated[
        str, Field(description="The `webhook-id` of every attempt.", examples=[f"msg_{EXAMPLE_APP_ID}_41"])
    ]
    type: Annotated[str, Field(examples=["consent.approved"])]
    sequence: Annotated[int, Field(examples=[41])]
    at: Time
    status: Annotated[str, literal_of(DeliveryStatus), Field(examples=["waiting"])]
    attempts: int
    status_code: Annotated[int | None, Field(examples=[500])]
    ms: Annotated[int | None, Field(examples=[31])]
    error: Annotated[str | None, Field(examples=["it answered 500"])]
    tried_at: Annotated[Time | None, Field(examples=["2026-11-20T10:00:01Z"])]
    next_at: Annotated[
        Time | None, Field(description="Null once it arrived or was given up.", examples=["2026-11-20T10:00:06Z"])
    ]
    finished_at: Time | None


class ManagedDeliveries(Shape):
    """One page of an endpoint's deliveries, the newest notice first."""

    items: list[ManagedDelivery]
    next_cursor: NextCursor


def endpoint_body(row: WebhookEndpoint) -> ManagedEndpoint:
    return {
        "endpoint_id": str(row.pk),
        "url": row.url,
        "types": list(row.types),
        "enabled": row.disabled_at is None,
        "disabled_at": rfc3339(row.disabled_at),
        "disabled_reason": row.reason or None,
        "old_secret_until": rfc3339(row.previous_until),
        "created_at": rfc3339(row.created_at),
    }


def outcome_body(outcome: Outcome) -> TestOutcome:
    answered = outcome.status_code is not None
    return {
        "delivered": outcome.delivered,
        "status_code": outcome.status_code,
        "ms": outcome.ms if answered else None,
        "error": outcome.failure or None,
    }


def delivery_body(row: WebhookDelivery, app_id: str) -> ManagedDelivery:
    is_waiting = row.status == DeliveryStatus.WAITING
    return {
        "delivery_id": str(row.pk),
        "webhook_id": message_id(app_id, row.notice.sequence),
        "type": row.notice.kind,
        "sequence": row.notice.sequence,
        "at": rfc3339(row.notice.at),
        "status": row.status,
        "attempts": row.attempt,
        "status_code": row.status_code,
        "ms": row.ms,
        "error": row.failure or None,
        "tried_at": rfc3339(row.tried_at),
        "next_at": rfc3339(row.next_at) if is_waiting else None,
        "finished_at": rfc3339(row.finished_at),
    }
