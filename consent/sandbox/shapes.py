"""What the sandbox's addresses answer with, beside the status body."""

from typing import Annotated, Any, Literal

from pydantic import Field

from common.shapes import Shape, Time
from consent.shapes import RequestState, UserId
from pkm.shapes import ScopeEntry


class SandboxPerson(Shape):
    """A person whom a test app plays."""

    user_id: UserId
    label: Annotated[str, Field(description="Your own name for this person; empty where you gave none.")]


class SandboxPeople(Shape):
    """The test app's sandbox people, the newest first."""

    people: list[SandboxPerson]


class Empty(Shape):
    """Done; there is nothing to tell."""


class VaultWrapper(Shape):
    """The vault key sealed under one secret."""

    wrapper_id: str
    kind: Literal["passphrase", "recovery", "passkey"]
    label: str
    credential_id: str | None
    jwe: str
    created_at: Time
    last_used_at: Time | None


class VaultRotation(Shape):
    """A change of the vault's key that is under way: the key to come, and how many segments are sealed under it."""

    key_id: str
    done: int
    total: int


class VaultKeys(Shape):
    """A vault and the ways into it; `absent` and without any before it is made."""

    user_id: UserId
    key_id: str | None
    vault_status: Literal["absent", "active", "locked_out", "rotating"]
    primary_wrapper_id: str | None
    wrappers: list[VaultWrapper]
    signing_public_key: Annotated[
        dict[str, str] | None, Field(description="The root that approvals are signed from; null before there is one.")
    ]
    signing_jwe: Annotated[str | None, Field(description="Its secret, sealed under the vault key.")]
    rotation: VaultRotation | None


class StandingApproval(Shape):
    """The newest approval of a grant."""

    request_id: str
    approval: str
    access_duration: int
    ends_at: Annotated[int, Field(description="Seconds since 1970.")]


class ResumeNonce(Shape):
    """What the next resumption has to name."""

    nonce: str


class VaultSegment(Shape):
    """One sealed segment as it is now."""

    domain: str
    segment_id: str
    content_revision: int
    manifest_revision: int
    attributes: list[str]
    jwe: str
    size_bytes: int
    updated_at: Time


class VaultSegments(Shape):
    """The segments that were asked for."""

    segments: list[VaultSegment]


class SegmentRevisions(Shape):
    """What a segment became by being written or deleted."""

    domain: str
    segment_id: str
    content_revision: int
    manifest_revision: int
    attributes: list[str]
    size_bytes: int
    updated_at: Time


class AskingApp(Shape):
    """Who asks, as the person is shown it."""

    app_id: str
    name: str
    legal_name: str
    verified: bool
    website: str
    privacy_policy: str


class Vouching(Shape):
    """Who vouches for the connector key. Nobody needs to for a sandbox person, who has nothing real."""

    by: Literal["published", "registered", "sandbox", "nobody"]
    domain: Annotated[str | None, Field(description="The domain that the app proved.")]
    since: Annotated[Time | None, Field(description="When the key was registered, if it was.")]


class RequestData(Shape):
    """What the person decides on, and what the export is sealed to."""

    request: Annotated[dict[str, Any], Field(description="The members that `request_digest` is of.")]
    request_digest: str
    status: RequestState
    connector_public_key: dict[str, Any]
    connector_key_id: str
    app: AskingApp
    scope_entry: ScopeEntry
    issuer: str
    export_revision: int
    known_connector_key: bool
    vouching: Vouching
