"""What rooms tell apps that do not keep the apps' notices: events of processing, in each app's one sequence (1.6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field

from common.shapes import Shape
from developers.signals import processing_occurred


class ProcessingEvent(StrEnum):
    """An event of profile agents' processing, by the type of its notice; `when` it comes is for the app's people."""

    _value_: str
    when: str

    def __new__(cls, name: str, when: str) -> Self:
        """A string like any other, which knows when it comes."""
        member = str.__new__(cls, name)
        member._value_, member.when = name, when
        return member

    CONSENT_GIVEN = "processing_consent.given", "the person agreed to processing, at your site's request"
    CONSENT_WITHDRAWN = (
        "processing_consent.withdrawn",
        "a consent to processing ended early: withdrawn, with the account, or with the address or number that it names",
    )
    CONSENT_EXPIRED = "processing_consent.expired", "the time of a consent to processing is over"
    ANALYSIS_COMPLETED = "analysis.completed", "an analysis ended with a profile, be it with gaps"
    ANALYSIS_FAILED = "analysis.failed", "an analysis ended, and no agent answered it"
    ACTIVATION_DELIVERED = "activation.delivered", "a destination took what was sent to it"
    ACTIVATION_FAILED = "activation.failed", "what was to be sent to a destination is not sent any more"
    DELETION_CONFIRMED = "deletion.confirmed", "an agent or a destination said that it deleted what it got"


class ProcessingNotice(Shape):
    """What an app is told of processing: which, by its IDs, and where it stands. It holds nothing about the person."""

    consent_id: Annotated[str, Field(examples=["pcn_zq4xk5m3cwi6q7ezu6c4qiyn7a"])]
    analysis_id: Annotated[
        str | None,
        Field(description="Of an analysis, or of what was sent of it.", examples=["ana_7ezu6c4qiyn7azq4xk5m3cwi6q"]),
    ]
    activation_id: Annotated[str | None, Field(examples=["act_m3cwi6q7ezu6c4qiyn7azq4xk5"])]
    deletion_id: Annotated[str | None, Field(examples=["del_c4qiyn7azq4xk5m3cwi6q7ezu6"])]
    status: Annotated[str, Field(description="Where what the event is about stands with it.", examples=["completed"])]
    sequence: Annotated[int, Field(description="The app's own number of this event, which orders them.", examples=[43])]


@dataclass(frozen=True)
class Occurrence:
    """One event for one app; `status` is of the analysis, sending, deletion or consent that the event is about."""

    event: ProcessingEvent
    app_pk: int
    consent_id: str
    status: str
    analysis_id: str | None = None
    activation_id: str | None = None
    deletion_id: str | None = None


def notify_apps(occurred: Sequence[Occurrence], *, at: datetime) -> None:
    """Tell the apps of these, in the transaction in which they take place."""
    if occurred:
        processing_occurred.send(sender=Occurrence, occurred=occurred, at=at)
