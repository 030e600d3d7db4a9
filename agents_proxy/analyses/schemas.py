"""The bodies and queries of analyses, strict: wrong types and unknown members are refused."""

import json
from typing import Annotated, Any, Literal, NotRequired

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, field_validator
from pydantic_core import PydanticCustomError

from agents_proxy.proxy.spelling import SCORES, canonical
from agents_proxy.states import RunStatus, StepStatus
from common.admission.schemas import Strict
from common.operations import path_parameter
from common.shapes import Shape, Time, literal_of
from common.text import is_plain

NOT_CORRECTED = frozenset({*SCORES, "user_id"})  # what agents say of themselves, and for programs
_EXAMPLE = "ana_4tx2mjm3cwi6q7ez"
AnalysisId = Annotated[str, Field(examples=[_EXAMPLE])]
ANALYSIS_ID = path_parameter("analysis_id", "As the start of the analysis was answered.", _EXAMPLE)


LONGEST_ANSWER = 4000  # characters
LONGEST_OWN = 20000  # characters of all of a page's own values
LONGEST_VALUE = 4000  # characters of its JSON


def _address(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        raise PydanticCustomError("email", "must be an e-mail address") from None
    return text


def _name(text: str) -> str:
    named = text.strip()
    if not is_plain(text):
        raise PydanticCustomError("plain_text", "must be one line of plain text without invisible characters")
    if not 2 <= len(named) <= 200:
        raise PydanticCustomError("length", "must have 2 to 200 characters")
    return named


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be blank")
    return text


def _yes(agreed: bool) -> bool:
    if not agreed:
        raise PydanticCustomError("agreement", "must be true: nothing is asked about anybody who did not agree")
    return agreed


class AnswerBody(Strict):
    """`POST /api/a2a/analyses/{analysis_id}/steps/{agent}/answer`."""

    text: Annotated[str, Field(max_length=LONGEST_ANSWER, examples=["The one in Porto."]), AfterValidator(_not_blank)]


def _field(name: str) -> str:
    found = canonical(name)
    if not found or found in NOT_CORRECTED:
        raise PydanticCustomError("unknown_field", "must be a field of the profile")
    return found


def _small(value: Any) -> Any:
    if len(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) > LONGEST_VALUE:
        raise PydanticCustomError("length", "must be shorter: at most 4,000 characters as JSON")
    return value


_Text = Annotated[str, Field(min_length=1, max_length=2000)]
_Scalar = _Text | bool | int | float
OwnValue = Annotated[_Scalar | list[_Scalar] | dict[_Text, _Scalar], AfterValidator(_small)]


_Name = Annotated[str, Field(max_length=120)]
_MOST = Field(min_length=1, max_length=50)


def _canonical(given: dict[str, Any]) -> dict[str, Any]:
    found = {_field(name): value for name, value in given.items()}
    if len(found) != len(given):
        raise PydanticCustomError("field_once", "must name each field once, in whatever spelling")
    return found


OwnValues = Annotated[dict[_Name, OwnValue], _MOST, AfterValidator(_canonical)]


class AnalysisBody(Strict):
    """`POST /api/a2a/analyses`; `agreed` is the consent to profile, enrichment and brand_affinity for this run."""

    email: Annotated[str, Field(max_length=254, examples=["ada@example.org"]), AfterValidator(_address)]
    fullName: Annotated[  # the contract's spelling
        str, Field(examples=["Ada Example"]), AfterValidator(_name)
    ]
    countryCode: Annotated[str, Field(pattern=r"^\+[0-9]{1,4}\Z", examples=["+49"])]
    phoneNumber: Annotated[str, Field(pattern=r"^[0-9]{10,15}\Z", examples=["15123456789"])]
    agreed: Annotated[bool, AfterValidator(_yes)]
    ownValues: Annotated[
        OwnValues | None,
        Field(
            description="Fields of the profile in the person's own words: they stand in place of what agents say, and "
            "no agent is told of them or asked for them. A session alone, no consent token.",
            examples=[{"city": "Porto", "likes": ["tea"]}],
        ),
    ] = None

    def submitted(self) -> dict[str, str]:
        """Whom the run is about."""
        return self.model_dump(exclude={"agreed", "ownValues"})


class OwnValuesText(RootModel[OwnValues]):
    """`ownValues` as a page's form has them."""

    model_config = ConfigDict(strict=True, frozen=True)


class CorrectionsBody(RootModel[Annotated[dict[_Name, OwnValue | None], _MOST, AfterValidator(_canonical)]]):
    """`PUT …/corrections`: field → its value, or null where what agents say is not true."""

    model_config = ConfigDict(strict=True, frozen=True, json_schema_extra={"examples": [{"age": 41, "likes": ["tea"]}]})


class ListQuery(BaseModel):
    """`GET /api/a2a/analyses`; a query's numbers come as text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cursor: Annotated[str, Field(pattern=r"^ana_[a-z2-7]{1,60}$")] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50

    @field_validator("limit", mode="before")
    @classmethod
    def _plain_number(cls, value: Any) -> Any:
        if isinstance(value, str) and not (value.isascii() and value.isdigit()):
            raise PydanticCustomError("int_parsing", "must be a whole number from 1 to 100")
        return value


class AnalysisAccepted(Shape):
    """An analysis that waits for a worker."""

    analysisId: AnalysisId
    status: Annotated[str, literal_of(RunStatus)]
    statusUrl: Annotated[str, Field(examples=[f"/api/a2a/analyses/{_EXAMPLE}"])]


class AnalysisProgress(Shape):
    """How many of its steps have ended."""

    done: int
    total: Annotated[int, Field(examples=[3])]


class AnalysisDropped(Shape):
    """A member of a reply that is in no profile."""

    name: Annotated[str, Field(examples=["city"])]
    why: Annotated[
        Literal["no_value", "not_a_number", "not_about_them", "outside_profile", "too_many"],
        Field(examples=["no_value"]),
    ]


class AnalysisReading(Shape):
    """How a reply was read: of so many objects in it the one at `place`, as a data part or in a text.

    `converted` names what was a number, or yes or no, in words; `dropped` at most 50 of `droppedCount` members. `state`
    alone is there where the agent has to be authorised before it does anything.
    """

    place: NotRequired[Annotated[str, Field(examples=["artifacts"])]]
    form: NotRequired[Annotated[Literal["data", "text"], Field(examples=["data"])]]
    candidates: NotRequired[Annotated[int, Field(examples=[1])]]
    draft: NotRequired[Annotated[bool, Field(description="It stood among the agent's thoughts.", examples=[False])]]
    repaired: NotRequired[Annotated[bool, Field(examples=[False])]]
    converted: NotRequired[list[str]]
    dropped: NotRequired[list[AnalysisDropped]]
    droppedCount: NotRequired[Annotated[int, Field(examples=[1])]]
    unquoted: NotRequired[Annotated[int, Field(description="Values of a model that the prompt does not say, dropped.")]]
    state: NotRequired[Annotated[Literal["auth-required"], Field(examples=["auth-required"])]]


class AnalysisStep(Shape):
    """One agent's part of an analysis."""

    agent: Annotated[str, Field(examples=["brand"])]
    status: Annotated[str, literal_of(StepStatus), Field(examples=["succeeded"])]
    startedAt: Time | None
    durationMs: Annotated[int | None, Field(examples=[840])]
    fieldCount: Annotated[int | None, Field(examples=[12])]
    repaired: Annotated[bool, Field(examples=[False])]
    errorCode: str | None
    question: Annotated[str | None, Field(description="What the agent asks, while it waits for the answer.")]
    answerBy: Annotated[Time | None, Field(description="The run goes on without the answer after this.")]
    arrived: Annotated[
        int | None, Field(description="Of an answer that streams: at least so many events of it are there by now.")
    ]
    reading: AnalysisReading | None


class AnalysisMetadata(Shape):
    """What is known of the answers as a whole. A score is there where an agent gave one, of itself.

    `coverage`: the share of the specification's fields that are filled. `agreement`: of the fields that several agents
    gave, the share in which they agree; null where there is none. Both are absent from analyses that ended before
    they were measured. `response_time_ms` is the average of those that answered.
    """

    total_fields: int
    response_time_ms: int | None
    confidence_score: NotRequired[float]
    accuracy_score: NotRequired[float]
    coverage: NotRequired[Annotated[float, Field(ge=0, le=1)]]
    agreement: NotRequired[Annotated[float, Field(ge=0, le=1)] | None]


class AnalysisStatus(Shape):
    """An analysis; `profile`, `provenance` (field → agent) and `metadata` are null until it ends."""

    analysisId: AnalysisId
    status: Annotated[str, literal_of(RunStatus)]
    progress: AnalysisProgress
    steps: list[AnalysisStep]
    profile: dict[str, Any] | None
    provenance: dict[str, Any] | None
    metadata: AnalysisMetadata | None


class AnalysisEntry(Shape):
    """An analysis in a list, without what agents said."""

    analysisId: AnalysisId
    status: Annotated[str, literal_of(RunStatus)]
    progress: AnalysisProgress
    createdAt: Time
    finishedAt: Time | None
    deletedOn: Time
    app: Annotated[str | None, Field(description="Whose token it was started with.")]
    inputRequired: Annotated[bool, Field(description="An agent asks something, and the run waits for the answer.")]


class AnalysisPage(Shape):
    """Newest first."""

    analyses: list[AnalysisEntry]
    nextCursor: str | None


class AnalysisRaw(Shape):
    """What went in, what each agent answered in full, and what was made of it."""

    analysisId: AnalysisId
    status: Annotated[str, literal_of(RunStatus)]
    input: dict[str, Any]
    profile: dict[str, Any] | None
    provenance: dict[str, Any] | None
    results: dict[str, dict[str, Any]]
    metadata: AnalysisMetadata | None
