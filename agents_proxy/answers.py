"""What the agents' addresses answer with, for the OpenAPI document. A test holds real answers against these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agents_proxy.states import ActivationStatus, ConsentStanding, EndReason, Purpose, Reach, RunStatus, StepStatus

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-20T10:00:00Z"])]


def _one_of(states: type[Any]) -> Any:
    """A text with the values of an enumeration in place, which would be a component of its own otherwise."""
    return Annotated[str, Field(json_schema_extra={"enum": [str(state) for state in states]})]


class Answer(BaseModel):
    """Exactly the members that are named, all of them always there."""

    model_config = ConfigDict(extra="forbid")


class AgentConsentGiven(Answer):
    """A consent to processing that was given a moment ago."""

    consentId: str  # noqa: N815  # the wire's names, here and below
    purposes: list[_one_of(Purpose)]  # type: ignore[valid-type]  # made above
    expiresAt: Time  # noqa: N815


class AgentSubject(Answer):
    """Verified addresses, in lower case, and numbers, in E.164."""

    emails: list[str]
    phone_numbers: list[str]


class AgentConsent(Answer):
    """A consent to processing: what was agreed to, in which words, and where it stands."""

    consentId: str  # noqa: N815
    status: _one_of(ConsentStanding)  # type: ignore[valid-type]
    purposes: list[_one_of(Purpose)]  # type: ignore[valid-type]
    destinations: Annotated[list[str], Field(description="What `activation` covers, by their ID.")]
    subject: Annotated[AgentSubject, Field(description="What it names: one of each at most.")]
    covers: _one_of(Reach)  # type: ignore[valid-type]
    origin: str
    statement: str
    statementVersion: str  # noqa: N815
    givenAt: Time  # noqa: N815
    expiresAt: Time  # noqa: N815
    withdrawnAt: Time | None  # noqa: N815
    endReason: Annotated[  # noqa: N815
        _one_of(EndReason) | None,  # type: ignore[valid-type]
        Field(description="Why it ended without being withdrawn: what it names is the person's no more."),
    ]


class AgentConsents(Answer):
    """Newest first."""

    consents: list[AgentConsent]


class AnalysisAccepted(Answer):
    """An analysis that waits for a worker."""

    analysisId: str  # noqa: N815
    status: _one_of(RunStatus)  # type: ignore[valid-type]
    statusUrl: str  # noqa: N815


class AnalysisProgress(Answer):
    """How many of its steps have ended."""

    done: int
    total: int


class AnalysisStep(Answer):
    """One agent's part of an analysis."""

    agent: str
    status: _one_of(StepStatus)  # type: ignore[valid-type]
    startedAt: Time | None  # noqa: N815
    durationMs: int | None  # noqa: N815
    fieldCount: int | None  # noqa: N815
    repaired: bool
    errorCode: str | None  # noqa: N815


class AnalysisMetadata(Answer):
    """What is known of the answers as a whole. A score is there where an agent gave one, of itself.

    `coverage`: the share of the specification's fields that are filled. `agreement`: of the fields that several agents
    gave, the share in which they agree; absent where there is none. Both are absent from analyses that ended before
    they were measured. `response_time_ms` is the average of those that answered.
    """

    total_fields: int
    response_time_ms: int | None
    confidence_score: float = Field(default_factory=float)  # a factory: neither required nor with a default of ours
    accuracy_score: float = Field(default_factory=float)
    coverage: float = Field(default_factory=float, ge=0, le=1)
    agreement: float = Field(default_factory=float, ge=0, le=1)


class AnalysisStatus(Answer):
    """An analysis; `profile`, `provenance` (field → agent) and `metadata` are null until it ends."""

    analysisId: str  # noqa: N815
    status: _one_of(RunStatus)  # type: ignore[valid-type]
    progress: AnalysisProgress
    steps: list[AnalysisStep]
    profile: dict[str, Any] | None
    provenance: dict[str, Any] | None
    metadata: AnalysisMetadata | None


class AnalysisEntry(Answer):
    """An analysis in a list, without what agents said."""

    analysisId: str  # noqa: N815
    status: _one_of(RunStatus)  # type: ignore[valid-type]
    progress: AnalysisProgress
    createdAt: Time  # noqa: N815
    finishedAt: Time | None  # noqa: N815
    deletedOn: Time  # noqa: N815
    app: Annotated[str | None, Field(description="Whose token it was started with.")]


class AnalysisPage(Answer):
    """Newest first."""

    analyses: list[AnalysisEntry]
    nextCursor: str | None  # noqa: N815


class AnalysisRaw(Answer):
    """What went in, what each agent answered in full, and what was made of it."""

    analysisId: str  # noqa: N815
    status: _one_of(RunStatus)  # type: ignore[valid-type]
    input: dict[str, Any]
    profile: dict[str, Any] | None
    provenance: dict[str, Any] | None
    results: dict[str, dict[str, Any]]
    metadata: AnalysisMetadata | None


class Activation(Answer):
    """One sending to a destination. `errorCode` is of the last attempt, also where another one follows."""

    activationId: str  # noqa: N815
    status: _one_of(ActivationStatus)  # type: ignore[valid-type]
    statusUrl: str  # noqa: N815
    destinationId: str  # noqa: N815
    destination: Annotated[str, Field(description="Its name.")]
    sending: int
    attempts: int
    statusCode: Annotated[int | None, Field(description="What the destination answered last.")]  # noqa: N815
    errorCode: str | None  # noqa: N815
    digest: Annotated[str, Field(description="SHA-256 of the body that is sent, in hexadecimal.")]
    createdAt: Time  # noqa: N815
    nextAttemptAt: Time | None  # noqa: N815
    finishedAt: Time | None  # noqa: N815


class Activations(Answer):
    """Newest first."""

    activations: list[Activation]


class ActivationAccepted(Answer):
    """A sending that waits for a worker, or what became of it where it was asked for before."""

    activationId: str  # noqa: N815
    status: _one_of(ActivationStatus)  # type: ignore[valid-type]
    statusUrl: str  # noqa: N815


class AgentDestination(Answer):
    """Where an app has brand affinities sent."""

    destinationId: str  # noqa: N815
    name: str
    host: str
    app: str
    agreed: Annotated[bool, Field(description="Whether the caller's consent covers it.")]


class AgentDestinations(Answer):
    destinations: list[AgentDestination]


class PhoneNumber(Answer):
    """A verified number of one's own."""

    numberId: int  # noqa: N815
    number: str
    verifiedAt: Time  # noqa: N815


class PhoneNumbers(Answer):
    numbers: list[PhoneNumber]


class CodeSent(Answer):
    status: Literal["code_sent"]
    expiresIn: Annotated[int, Field(description="Seconds that the code holds.")]  # noqa: N815


class NumberVerified(Answer):
    status: Literal["verified"]


class SentMessage(Answer):
    """A message that was sent; neither the number nor the words were kept."""

    messageId: str  # noqa: N815
    id: str
    template: str | None
    status: str
    errorCode: str | None  # noqa: N815
    createdAt: Time  # noqa: N815
    updatedAt: Time  # noqa: N815


class SentMessages(Answer):
    """Newest first."""

    messages: list[SentMessage]


class FinancialLink(Answer):
    """A visit to the aggregator's own page."""

    linkId: str  # noqa: N815
    url: str
    expiresAt: Time  # noqa: N815


class FinancialRefresh(Answer):
    """How a refresh stands."""

    status: str
    pages: int
    added: int
    modified: int
    removed: int
    errorCode: str | None  # noqa: N815
    startedAt: Time | None  # noqa: N815
    finishedAt: Time | None  # noqa: N815


class FinancialItem(Answer):
    """A linked institution."""

    itemId: str  # noqa: N815
    institution: str | None
    status: str
    linkedAt: Time  # noqa: N815
    accounts: list[dict[str, Any]]
    transactions: int
    refresh: FinancialRefresh | None


class FinancialItems(Answer):
    items: list[FinancialItem]


class FinancialIdentity(Answer):
    """Who the institution says this person is; kept nowhere."""

    names: list[str]
    emails: list[str]
    phoneNumbers: list[str]  # noqa: N815
    addresses: list[Any]


class FinancialSignals(Answer):
    """What purchases say, in the brand-affinity fields."""

    signals: dict[str, Any]


class AgentError(BaseModel):
    """`code` as JSON-RPC has it; `data.code` names a refusal of ours."""

    code: int
    message: str
    data: dict[str, Any] | None = None


class AgentAnswer(BaseModel):
    """A JSON-RPC object: the agent's `result`, without what it says beside it, or its `error`."""

    jsonrpc: Literal["2.0"]
    id: str | None
    result: Any = None
    error: AgentError | None = None


class AgentRefusal(BaseModel):
    """A JSON-RPC error of the proxy's own."""

    jsonrpc: Literal["2.0"]
    id: str | None
    error: AgentError
