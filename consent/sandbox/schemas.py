"""What the sandbox's addresses take beside the owner's bodies, and what they answer beside the status body."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from common.admission.schemas import Identifier, Strict, plain_text
from common.operations import example_of
from common.shapes import Shape, Time, literal_of
from consent import shapes
from consent.schemas import RequestConsentBody
from consent.states import ConnectionStatus
from developers.app_events import ProcessingEvent
from pkm.shapes import ScopeEntry
from pkm.web.schemas import EXAMPLE_JWE, EXAMPLE_KEY_ID

EXAMPLE_WRAPPER_ID = "wrp_2h6wq4n7c5b3zj5yk6q2m4t7ue"
_CREATED, _BODY = example_of(shapes.MadeRequest), example_of(RequestConsentBody)
Jwe = Annotated[str, Field(examples=[EXAMPLE_JWE])]
WrapperId = Annotated[str, Field(examples=[EXAMPLE_WRAPPER_ID])]
Attributes = Annotated[list[str], Field(examples=[["favorite_cuisine"]])]
Size = Annotated[int, Field(examples=[len(EXAMPLE_JWE)])]
_NAME = "Trip Planner (test)"
_LONGEST = 10 * 365 * 86400  # seconds; further than anything lasts


class SandboxPersonBody(Strict):
    """`POST /sandbox/people`."""

    label: Annotated[
        Annotated[str, Field(max_length=80), AfterValidator(lambda text: plain_text(text) if text else text)] | None,
        Field(description="Your own name for this person.", examples=["Ada, who likes Thai"]),
    ] = None


class SandboxEventBody(Strict):
    """`POST /sandbox/events`."""

    type: Annotated[
        ProcessingEvent,
        Field(strict=False, description="As in the webhook.", examples=[ProcessingEvent.ANALYSIS_COMPLETED.value]),
    ]


class ClockBody(Strict):
    """`POST /sandbox/people/{user_id}/clock`."""

    seconds: Annotated[int, Field(ge=1, le=_LONGEST, description="How far the clock is moved ahead.", examples=[86400])]


class SandboxConnectionBody(Strict):
    """`POST /sandbox/people/{user_id}/connections`."""

    connection_id: Annotated[
        Identifier, Field(description="One of your app's.", examples=[shapes.EXAMPLE_CONNECTION_ID])
    ]
    decision: Annotated[Literal["connect", "decline"], Field(description="What the person presses.")]


class SandboxConnection(Shape):
    """What became of it, as the person's browser would know it."""

    status: Annotated[ConnectionStatus, literal_of(ConnectionStatus)]
    request_id: Annotated[
        str | None,
        Field(description="Of the request that rode along, for them to decide.", examples=[shapes.EXAMPLE_REQUEST_ID]),
    ]
    refusal: Annotated[str | None, Field(description="Why nothing was asked.", examples=["invalid_scope"])]
    return_to: Annotated[
        str | None,
        Field(
            description="Where their browser goes then, with the code that completes the connection; null without a "
            "`return_url`.",
            examples=[f"https://trips.example/connected?connection_id={shapes.EXAMPLE_CONNECTION_ID}&status=declined"],
        ),
    ]


class SandboxPerson(Shape):
    """A person whom a test app plays."""

    user_id: shapes.UserId
    label: Annotated[
        str,
        Field(
            description="Your own name for this person; empty where you gave none.", examples=["Ada, who likes Thai"]
        ),
    ]


class SandboxPeople(Shape):
    """The test app's sandbox people, the newest first."""

    people: list[SandboxPerson]


class Empty(Shape):
    """Done; there is nothing to tell."""


class VaultWrapper(Shape):
    """The vault key sealed under one secret."""

    wrapper_id: WrapperId
    kind: Literal["passphrase", "recovery", "passkey"]
    label: Annotated[str, Field(examples=["Passphrase"])]
    credential_id: str | None
    jwe: Jwe
    created_at: Time
    last_used_at: Time | None


class VaultRotation(Shape):
    """A change of the vault's key that is under way: the key to come, and how many segments are sealed under it."""

    key_id: Annotated[str, Field(examples=[EXAMPLE_KEY_ID])]
    done: int
    total: int


class VaultKeys(Shape):
    """A vault and the ways into it; `absent` and without any before it is made."""

    user_id: shapes.UserId
    key_id: Annotated[str | None, Field(examples=[EXAMPLE_KEY_ID])]
    vault_status: Annotated[Literal["absent", "active", "locked_out", "rotating"], Field(examples=["active"])]
    primary_wrapper_id: Annotated[str | None, Field(examples=[EXAMPLE_WRAPPER_ID])]
    wrappers: list[VaultWrapper]
    signing_public_key: Annotated[
        dict[str, str] | None,
        Field(
            description="The root that approvals are signed from; null before there is one.",
            examples=[shapes.EXAMPLE_KEY],
        ),
    ]
    signing_jwe: Annotated[
        str | None, Field(description="Its secret, sealed under the vault key.", examples=[EXAMPLE_JWE])
    ]
    rotation: Annotated[VaultRotation | None, Field(examples=[None])]


class StandingApproval(Shape):
    """The newest approval of a grant."""

    request_id: Annotated[str, Field(examples=[_CREATED["request_id"]])]
    approval: Annotated[str, Field(examples=[shapes.EXAMPLE_JWS])]
    access_duration: Annotated[int, Field(examples=[86400])]
    ends_at: Annotated[int, Field(description="Seconds since 1970.", examples=[1795774930])]


class ResumeNonce(Shape):
    """What the next resumption has to name."""

    nonce: Annotated[str, Field(examples=["q8Zb1yq0m3nW7hJt5sVx2kLc9dRf4gPe"])]


class VaultSegment(Shape):
    """One sealed segment as it is now."""

    domain: Annotated[str, Field(examples=["lifestyle"])]
    segment_id: Annotated[str, Field(examples=["food"])]
    content_revision: int
    manifest_revision: int
    attributes: Attributes
    jwe: Jwe
    size_bytes: Size
    updated_at: Time


class VaultSegments(Shape):
    """The segments that were asked for."""

    segments: list[VaultSegment]


class SegmentRevisions(Shape):
    """What a segment became by being written or deleted."""

    domain: Annotated[str, Field(examples=["lifestyle"])]
    segment_id: Annotated[str, Field(examples=["food"])]
    content_revision: int
    manifest_revision: int
    attributes: Attributes
    size_bytes: Size
    updated_at: Time


class AskingApp(Shape):
    """Who asks, as the person is shown it."""

    app_id: Annotated[str, Field(examples=[shapes.EXAMPLE_APP_ID])]
    name: Annotated[str, Field(examples=[_NAME])]
    legal_name: Annotated[str, Field(examples=[""])]
    verified: Annotated[bool, Field(examples=[False])]
    website: Annotated[str, Field(examples=[""])]
    privacy_policy: Annotated[str, Field(examples=[""])]


class Vouching(Shape):
    """Who vouches for the connector key. Nobody needs to for a sandbox person, who has nothing real."""

    by: Annotated[Literal["published", "registered", "sandbox", "nobody"], Field(examples=["sandbox"])]
    domain: Annotated[str | None, Field(description="The domain that the app proved.")]
    since: Annotated[Time | None, Field(description="When the key was registered, if it was.")]
    entry: Annotated[dict[str, Any] | None, Field(description="The entry that says so, as it was hashed.")]


class RequestData(Shape):
    """What the person decides on, and what the export is sealed to."""

    request: Annotated[
        dict[str, Any],
        Field(
            description="The members that `request_digest` is of.",
            examples=[{**example_of(shapes.FrozenRequest), "app_name": _NAME}],
        ),
    ]
    request_digest: Annotated[str, Field(examples=[_CREATED["request_digest"]])]
    status: shapes.RequestState
    connector_public_key: Annotated[dict[str, Any], Field(examples=[_BODY["connector_public_key"]])]
    connector_key_id: Annotated[str, Field(examples=[_BODY["connector_key_id"]])]
    app: AskingApp
    scope_entry: ScopeEntry
    issuer: Annotated[str, Field(examples=[_CREATED["issuer"]])]
    export_revision: int
    known_connector_key: Annotated[bool, Field(examples=[False])]
    vouching: Vouching
