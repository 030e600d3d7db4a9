"""The bodies of consents to processing."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from agents_proxy.states import Duration, EndReason, ProcessingStatus, Purpose, Reach
from common.admission.schemas import MustBeTrue, Strict
from common.shapes import Shape, Time, literal_of

ConsentId = Annotated[str, Field(examples=["con_6q3m5x7k2v4r"])]


def _once_each(purposes: list[Purpose]) -> list[Purpose]:
    if len(set(purposes)) != len(purposes):
        raise ValueError("name each purpose once")
    return purposes


class ConsentBody(Strict):
    """A signed-in person's agreement to calls of their own."""

    purposes: Annotated[
        list[Annotated[Purpose, Field(strict=False)]],
        Field(min_length=1, max_length=len(Purpose), examples=[["profile", "brand_affinity"]]),
        AfterValidator(_once_each),
    ]
    agreed: MustBeTrue
    duration: Annotated[
        Annotated[Duration, Field(strict=False)], Field(description="How long it holds: 1, 30 or 365 days.")
    ] = Duration.DAY
    destinations: Annotated[
        list[Annotated[str, Field(pattern=r"^des_[a-z2-7]{1,60}\Z")]],
        Field(max_length=20, description="What `activation` covers, by their ID; with that purpose alone."),
    ] = []

    email: Annotated[
        str | None,
        Field(min_length=3, max_length=254, description="The verified address that it covers; else the primary one."),
    ] = None
    phoneNumber: Annotated[  # the wire's name
        str | None,
        Field(pattern=r"^\+[0-9]{4,15}\Z", description="The verified number that it covers; else the newest one."),
    ] = None

    @model_validator(mode="after")
    def _together(self) -> "ConsentBody":
        if (Purpose.ACTIVATION in self.purposes) != bool(self.destinations):
            raise PydanticCustomError(
                "destinations", "name destinations with the purpose activation, and with it alone"
            )
        return self


class AgentConsentGiven(Shape):
    """A consent to processing that was given or renewed a moment ago."""

    consentId: ConsentId
    purposes: list[Annotated[str, literal_of(Purpose)]]
    expiresAt: Time


class AgentSubject(Shape):
    """Verified addresses, in lower case, and numbers, in E.164."""

    emails: Annotated[list[str], Field(examples=[["ada@example.org"]])]
    phone_numbers: Annotated[list[str], Field(examples=[["+4915123456789"]])]


class AgentConsent(Shape):
    """A consent to processing: what was agreed to, in which words, and where it stands."""

    consentId: ConsentId
    status: Annotated[str, literal_of(ProcessingStatus)]
    purposes: list[Annotated[str, literal_of(Purpose)]]
    destinations: Annotated[list[str], Field(description="What `activation` covers, by their ID.", examples=[[]])]
    subject: Annotated[AgentSubject, Field(description="What it names: one of each at most.")]
    covers: Annotated[str, literal_of(Reach)]
    origin: Annotated[str, Field(examples=[""])]
    statement: Annotated[str, Field(examples=["I agree that agents put my profile together."])]
    statementVersion: Annotated[str, Field(examples=["1"])]
    givenAt: Time
    expiresAt: Time
    renewedAt: Time | None
    withdrawnAt: Time | None
    endReason: Annotated[
        Annotated[str, literal_of(EndReason)] | None,
        Field(description="Why it ended without being withdrawn: what it names is the person's no more."),
    ]


class AgentConsents(Shape):
    """Newest first."""

    consents: list[AgentConsent]
