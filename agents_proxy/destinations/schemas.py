"""Destinations as the management addresses take and tell them (contract 5.1)."""

from typing import Annotated, Any

from pydantic import Field

from agents_proxy.destinations.models import Destination
from common.admission.schemas import Strict
from common.clock import rfc3339
from common.shapes import NextCursor, Shape, Time
from developers.manage.schemas import Name
from developers.webhooks.policies import LONGEST_ADDRESS

EXAMPLE_ID, _URL = "des_5w2q4k6m7n2p4r6t3v5x7z2b4d", "https://trips.example/crm"


class NewDestinationBody(Strict):
    """`POST …/destinations`."""

    name: Annotated[
        Name, Field(description="What people read before they agree. It never changes.", examples=["Trips CRM"])
    ]
    url: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_ADDRESS,
            description="Public and https, without a name, a password or a fragment. It never changes.",
            examples=[_URL],
        ),
    ]


class ChangedDestinationBody(Strict):
    """`PATCH …/destinations/{destination_id}`."""

    enabled: Annotated[bool, Field(description="Whether anything is sent there.")]


class ManagedDestination(Shape):
    """A destination of an app, without its secret."""

    destination_id: Annotated[str, Field(examples=[EXAMPLE_ID])]
    name: Annotated[str, Field(examples=["Trips CRM"])]
    url: Annotated[str, Field(examples=[_URL])]
    enabled: bool
    disabled_at: Time | None
    created_at: Time


class ManagedDestinationWithSecret(ManagedDestination):
    """The same with what signs, this once."""

    secret: Annotated[
        str,
        Field(
            description="`whsec_…`, for a library of Standard Webhooks.",
            examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        ),
    ]


class ManagedDestinations(Shape):
    """One page of destinations, newest first."""

    items: list[ManagedDestination]
    next_cursor: NextCursor


def managed_body(destination: Destination) -> dict[str, Any]:
    return {
        "destination_id": destination.destination_id,
        "name": destination.name,
        "url": destination.url,
        "enabled": destination.disabled_at is None,
        "disabled_at": rfc3339(destination.disabled_at),
        "created_at": rfc3339(destination.created_at),
    }
