"""The states and lifecycles of this room (pure)."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum


class Purpose(StrEnum):
    """What a person can agree to have processed; contract 4.2."""

    PROFILE = "profile"
    ENRICHMENT = "enrichment"
    BRAND_AFFINITY = "brand_affinity"
    MESSAGING = "messaging"
    FINANCIAL = "financial"
    IDENTITY = "identity"  # what the aggregator knows of who somebody is, agreed to apart from `financial`
    ACTIVATION = "activation"  # sending a brand affinity to the destinations that the consent names


class Duration(StrEnum):
    """For how long a person agrees."""

    DAY = "day"
    MONTH = "month"
    YEAR = "year"

    @property
    def length(self) -> timedelta:
        return timedelta(days={Duration.DAY: 1, Duration.MONTH: 30, Duration.YEAR: 365}[self])


class Reach(StrEnum):
    """Which calls a consent covers: the person's own, those of one site with its token, or one analysis."""

    OWN = "own"
    SITE = "site"
    RUN = "run"


class ProcessingStatus(StrEnum):
    """Where a consent to processing stands."""

    LIVE = "live"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class EndReason(StrEnum):
    """Why a consent ended where its person did not withdraw it: what it names is theirs no more."""

    NUMBER_VERIFIED_BY_ANOTHER = "number_verified_by_another"
    NUMBER_REMOVED = "number_removed"
    EMAIL_REMOVED = "email_removed"


class CallOutcome(StrEnum):
    ANSWERED = "answered"
    AGENT_ERROR = "agent_error"
    AGENT_FAILED = "agent_failed"  # a task that failed, was rejected, called off or never authorised
    AGENT_REFUSED_US = "agent_refused_us"
    AGENT_BUSY = "agent_busy"
    INVALID_AGENT_RESPONSE = "invalid_agent_response"
    UPSTREAM_UNAVAILABLE = "upstream_unavailable"
    UPSTREAM_TIMEOUT = "upstream_timeout"


class RunStatus(StrEnum):
    """Where an analysis stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepStatus(StrEnum):
    """Where one agent's part of an analysis stands.

    `empty` is an answer without a value; with `input_required` it waits for the answer to the agent's question.
    """

    WAITING = "waiting"
    RUNNING = "running"
    INPUT_REQUIRED = "input_required"
    SUCCEEDED = "succeeded"
    EMPTY = "empty"
    FAILED = "failed"
    SKIPPED = "skipped"


class MessageStatus(StrEnum):
    """Where an outbound message stands; `unknown` is one whose answer never came, so that nobody sends it twice."""

    SENDING = "sending"
    SENT = "sent"
    DELIVERED = "delivered"
    FAILED = "failed"
    UNKNOWN = "unknown"


class ActivationStatus(StrEnum):
    """Where a sending to a destination stands; `queued` between two attempts, too."""

    QUEUED = "queued"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"


class DeletionStatus(StrEnum):
    """Where the deletion of what a receiver got of somebody stands.

    `disclosed`: it got something, and nothing is to be deleted. `queued` between two attempts, too. `unconfirmed`: it
    was asked for thirty days, and never said that it did.
    """

    DISCLOSED = "disclosed"
    QUEUED = "queued"
    SENDING = "sending"
    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"


class ItemStatus(StrEnum):
    """Whether an institution still lets us read."""

    ACTIVE = "active"
    LOGIN_REQUIRED = "login_required"
    REMOVED = "removed"


class History(StrEnum):
    """How much of an institution's transactions the aggregator has fetched: none, the newest, or all that it will."""

    NOT_READY = "not_ready"
    INITIAL = "initial"
    COMPLETE = "complete"


class LinkStatus(StrEnum):
    """Where a visit to the aggregator's own page stands."""

    OPEN = "open"
    COMPLETED = "completed"
    EXITED = "exited"
    EXPIRED = "expired"


class RefreshStatus(StrEnum):
    """Where a refresh of an item stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


UNFINISHED_RUNS = (RunStatus.QUEUED, RunStatus.RUNNING)
UNFINISHED_STEPS = (StepStatus.WAITING, StepStatus.RUNNING, StepStatus.INPUT_REQUIRED)
LEASED_STEPS = (StepStatus.RUNNING, StepStatus.INPUT_REQUIRED)  # until `lease_until`, by a worker or a question
ANSWERED_STEPS = (StepStatus.SUCCEEDED, StepStatus.EMPTY)
UNFINISHED_ACTIVATIONS = (ActivationStatus.QUEUED, ActivationStatus.SENDING)

# Retrying one step opens a run that ended with errors, or failed, again; calling that off ends it as before.
RUN_MOVES: Mapping[RunStatus, frozenset[RunStatus]] = {
    RunStatus.QUEUED: frozenset(
        {RunStatus.RUNNING, RunStatus.COMPLETED_WITH_ERRORS, RunStatus.CANCELLED, RunStatus.FAILED}
    ),
    RunStatus.RUNNING: frozenset(
        {RunStatus.COMPLETED, RunStatus.COMPLETED_WITH_ERRORS, RunStatus.FAILED, RunStatus.CANCELLED}
    ),
    RunStatus.COMPLETED_WITH_ERRORS: frozenset({RunStatus.QUEUED, RunStatus.RUNNING}),
    RunStatus.FAILED: frozenset({RunStatus.QUEUED, RunStatus.RUNNING}),
    RunStatus.COMPLETED: frozenset(),
    RunStatus.CANCELLED: frozenset(),
}
STEP_MOVES: Mapping[StepStatus, frozenset[StepStatus]] = {
    StepStatus.WAITING: frozenset({StepStatus.RUNNING, StepStatus.SKIPPED, StepStatus.FAILED}),
    StepStatus.RUNNING: frozenset(
        {StepStatus.SUCCEEDED, StepStatus.EMPTY, StepStatus.INPUT_REQUIRED, StepStatus.FAILED, StepStatus.SKIPPED}
    ),
    StepStatus.INPUT_REQUIRED: frozenset({StepStatus.WAITING, StepStatus.FAILED, StepStatus.SKIPPED}),
    StepStatus.FAILED: frozenset({StepStatus.WAITING}),
    StepStatus.SUCCEEDED: frozenset(),
    StepStatus.EMPTY: frozenset(),
    StepStatus.SKIPPED: frozenset(),
}
MESSAGE_MOVES: Mapping[MessageStatus, frozenset[MessageStatus]] = {
    MessageStatus.SENDING: frozenset({MessageStatus.SENT, MessageStatus.FAILED, MessageStatus.UNKNOWN}),
    MessageStatus.SENT: frozenset({MessageStatus.DELIVERED, MessageStatus.FAILED}),
    MessageStatus.UNKNOWN: frozenset({MessageStatus.SENT, MessageStatus.DELIVERED, MessageStatus.FAILED}),
    MessageStatus.DELIVERED: frozenset(),
    MessageStatus.FAILED: frozenset(),
}
ACTIVATION_MOVES: Mapping[ActivationStatus, frozenset[ActivationStatus]] = {
    ActivationStatus.QUEUED: frozenset({ActivationStatus.SENDING, ActivationStatus.FAILED}),
    ActivationStatus.SENDING: frozenset({ActivationStatus.QUEUED, ActivationStatus.DELIVERED, ActivationStatus.FAILED}),
    ActivationStatus.DELIVERED: frozenset(),
    ActivationStatus.FAILED: frozenset(),
}
# A receiver that got more after it confirmed is another row: of another consent.
DELETION_MOVES: Mapping[DeletionStatus, frozenset[DeletionStatus]] = {
    DeletionStatus.DISCLOSED: frozenset({DeletionStatus.QUEUED}),
    DeletionStatus.QUEUED: frozenset({DeletionStatus.SENDING, DeletionStatus.UNCONFIRMED}),
    DeletionStatus.SENDING: frozenset({DeletionStatus.QUEUED, DeletionStatus.CONFIRMED, DeletionStatus.UNCONFIRMED}),
    DeletionStatus.CONFIRMED: frozenset(),
    DeletionStatus.UNCONFIRMED: frozenset(),
}
