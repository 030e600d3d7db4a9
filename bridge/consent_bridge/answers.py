"""What the service answers, as frozen records with the wire's own names.

Made by `./run types` from the OpenAPI document; not to be edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Connection:
    """Where a connection stands, with what was asked along with it."""

    connection_id: str
    status: str
    user_id: str | None
    request_id: str | None
    refusal: str | None
    sequence: int | None
    request: MadeRequest | None


@dataclass(frozen=True)
class ConnectionAnswer:
    """What became of it, as the person's browser would know it."""

    status: str
    request_id: str | None
    refusal: str | None
    return_to: str | None


@dataclass(frozen=True)
class ConnectionNotice:
    """Where a connection stands, as events and webhooks tell it."""

    connection_id: str
    status: str
    user_id: str | None
    request_id: str | None
    refusal: str | None
    sequence: int | None


@dataclass(frozen=True)
class Discovery:
    """What one person could be asked for. It holds no value of theirs, and not which attributes they have."""

    available_domains: tuple[str, ...]
    scopes: tuple[str, ...]
    scope_entries: tuple[ScopeEntry, ...]
    runtime: Runtime
    user_id: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True)
class DurationBounds:
    """How long reading may be asked for, in seconds."""

    default: int
    min: int
    max: int


@dataclass(frozen=True)
class Envelope:
    """The approved slice, sealed to the connector key."""

    request_id: str
    grant_id: str
    export_id: str
    revision: int
    user_id: str
    scope: str
    approved_attributes: tuple[str, ...]
    connector_key_id: str
    sealed_at: str
    expires_at: str
    reads_remaining: int | None
    size_bytes: int
    jwe: str
    approval: str
    owner_key: dict[str, Any]
    key_history: tuple[dict[str, Any], ...]
    owner_key_reset: bool


@dataclass(frozen=True)
class FoundPerson:
    """Somebody who lets apps find them, in the words that they typed to be seen. Nobody has checked these."""

    handle: str
    display_name: str
    headline: str
    location_hint: str


@dataclass(frozen=True)
class FrozenRequest:
    """What was asked, as the person will see it and as it stays: exactly what `request_digest` is over."""

    request_id: str
    app_id: str
    app_name: str
    user_id: str
    scope: str
    attributes: tuple[str, ...]
    purpose: str
    connector_thumbprint: str
    access_duration: int
    expires_at: str
    required_attributes: tuple[str, ...] | None
    optional_attributes: tuple[str, ...] | None
    max_reads: int | None
    refresh_policy: str
    binding_message: str | None
    invitation_sha256: str | None = None
    required_because: str | None = None
    return_url: str | None = None
    accepts: dict[str, Any] | None = None
    derived: dict[str, Any] | None = None


@dataclass(frozen=True)
class Grant:
    """What was approved."""

    grant_id: str
    status: str
    expires_at: str
    reads: int
    reads_remaining: int | None
    approved_attributes: tuple[str, ...]
    export_revision: int | None


@dataclass(frozen=True)
class MadeConnection:
    """A connection that waits for somebody to open it."""

    connection_id: str
    connect_url: str | None
    code: str
    code_url: str
    expires_at: str
    expires_in: int
    interval: int


@dataclass(frozen=True)
class MadeRequest:
    """A request that waits for the person's decision."""

    request_id: str
    status: str
    app_id: str
    issuer: str
    user_id: str
    scope: str
    scope_label: str
    approval_url: str
    interval: int
    expires_in: int
    expires_at: str
    access_duration: int
    connector_key_id: str
    connector_fingerprint: str
    request: FrozenRequest
    request_digest: str
    created_at: str


@dataclass(frozen=True)
class PeoplePage:
    """One page of the directory."""

    people: tuple[FoundPerson, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class Processing:
    """What an app is told of processing: which, by its IDs, and where it stands. It holds nothing about the person."""

    consent_id: str
    analysis_id: str | None
    activation_id: str | None
    deletion_id: str | None
    status: str
    sequence: int


@dataclass(frozen=True)
class RequestPage:
    """One page of requests, newest first."""

    requests: tuple[Status, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class Revisions:
    """What a segment became by being written or deleted."""

    domain: str
    segment_id: str
    content_revision: int
    manifest_revision: int
    attributes: tuple[str, ...]
    size_bytes: int
    updated_at: str


@dataclass(frozen=True)
class Runtime:
    """What the person's side of this service supports."""

    can_approve: bool
    wrapping_algorithms: tuple[str, ...]
    connector_curves: tuple[str, ...]
    refresh_policies: tuple[str, ...]
    access_duration: DurationBounds
    interval: int


@dataclass(frozen=True)
class SandboxEntry:
    """A person whom a test app plays."""

    user_id: str
    label: str


@dataclass(frozen=True)
class ScopeEntry:
    """One scope of the registry, the same for every person."""

    scope: str
    scope_handle: str
    label: str
    description: str
    domain: str | None
    sensitivity_tier: str
    attributes: tuple[str, ...]
    max_access_duration: int
    updated_at: str
    derived: dict[str, Any] | None = None


@dataclass(frozen=True)
class SealedSegment:
    """One sealed segment as it is now."""

    domain: str
    segment_id: str
    content_revision: int
    manifest_revision: int
    attributes: tuple[str, ...]
    jwe: str
    size_bytes: int
    updated_at: str


@dataclass(frozen=True)
class Status:
    """Where a request stands, and what came of it."""

    request_id: str
    status: str
    user_id: str
    scope: str
    interval: int
    created_at: str
    expires_at: str
    decided_at: str | None
    receipt_id: str | None
    sequence: int | None
    grant: Grant | None
