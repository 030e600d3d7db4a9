"""The bodies of sendings."""

from typing import Annotated

from pydantic import Field

from agents_proxy.states import ActivationStatus
from common.admission.schemas import Strict
from common.shapes import Shape, Time, literal_of

EXAMPLE = "act_3sw6kq2m5zt4v7xj"
ActivationId = Annotated[str, Field(examples=[EXAMPLE])]
StatusUrl = Annotated[str, Field(examples=[f"/api/a2a/analyses/ana_4tx2mjm3cwi6q7ez/activations/{EXAMPLE}"])]
DestinationId = Annotated[str, Field(examples=["des_5w2q4k6m7n2p4r6t3v5x7z2b4d"])]


class ActivationBody(Strict):
    """`POST /api/a2a/analyses/{analysisId}/activations`."""

    destinationId: Annotated[  # the contract's spelling
        str, Field(pattern=r"^des_[a-z2-7]{1,60}\Z", examples=["des_5w2q4k6m7n2p4r6t3v5x7z2b4d"])
    ]
    sending: Annotated[
        int,
        Field(
            ge=0,
            lt=100,
            description="Which sending of this analysis to this destination it is. One that comes again is answered "
            "with what became of it, and nothing is sent a second time; to send again, take the next number.",
        ),
    ] = 0


class Activation(Shape):
    """One sending to a destination. `errorCode` is of the last attempt, also where another one follows."""

    activationId: ActivationId
    status: Annotated[str, literal_of(ActivationStatus)]
    statusUrl: StatusUrl
    destinationId: DestinationId
    destination: Annotated[str, Field(description="Its name.", examples=["Trips CRM"])]
    sending: Annotated[int, Field(examples=[0])]
    attempts: Annotated[int, Field(examples=[0])]
    statusCode: Annotated[int | None, Field(description="What the destination answered last.")]
    errorCode: str | None
    digest: Annotated[
        str, Field(description="SHA-256 of the body that is sent, in hexadecimal.", examples=["9f86d081884c7d65"])
    ]
    createdAt: Time
    nextAttemptAt: Time | None
    finishedAt: Time | None


class Activations(Shape):
    """Newest first."""

    activations: list[Activation]


class ActivationAccepted(Shape):
    """A sending that waits for a worker, or what became of it where it was asked for before."""

    activationId: ActivationId
    status: Annotated[str, literal_of(ActivationStatus)]
    statusUrl: StatusUrl


class AgentDestination(Shape):
    """Where an app has brand affinities sent."""

    destinationId: DestinationId
    name: Annotated[str, Field(examples=["Trips CRM"])]
    host: Annotated[str, Field(examples=["trips.example"])]
    app: Annotated[str, Field(examples=["Trip Planner"])]
    agreed: Annotated[bool, Field(description="Whether the caller's consent covers it.")]


class AgentDestinations(Shape):
    destinations: list[AgentDestination]
