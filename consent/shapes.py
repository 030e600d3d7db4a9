"""What the developers' addresses answer with, written once.

An answer is made as one of these: mypy holds every place that makes one to its members and their types. pydantic reads
the same class for the OpenAPI document, which the types of both clients are generated from. They are typed
dictionaries, not models, because the answers are read as dictionaries by pages, tools, streams and notices, and
because a model would cost five times as much to make and write (docs/adr/0005).
"""

from typing import Annotated, Any, NotRequired

from pydantic import Field, GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from common.shapes import NextCursor, Seconds, Shape, Time
from consent.states import GrantStatus, RequestStatus
from pkm.shapes import Path, ScopeEntry

UserId = Annotated[
    str,
    Field(
        description="What your app calls the person: a name that no other app has.",
        examples=["usr_t2zp3gog7m6odtqhjuqhpevyku"],
    ),
]
RequestId = Annotated[str, Field(examples=["req_4tx2mjm3cwi6q7ezu6c4qiyn7a"])]
# the values in place, where pydantic would make a component of its own for each enumeration
_VALUES = GetPydanticSchema(lambda states, handler: literal_schema([str(state) for state in states]))
RequestState = Annotated[RequestStatus, _VALUES]
GrantState = Annotated[GrantStatus, _VALUES]


class LeakReported(Shape):
    """Nothing: whether there is such a token is not told."""


class AccessDuration(Shape):
    """How long reading may be asked for, in seconds."""

    default: Seconds
    min: Seconds
    max: Seconds


class Runtime(Shape):
    """What the person's side of this service supports."""

    can_approve: Annotated[bool, Field(description="Whether the person has a vault to approve from.")]
    wrapping_algorithms: list[str]
    connector_curves: list[str]
    refresh_policies: list[str]
    access_duration: AccessDuration
    interval: Annotated[int, Field(description="Seconds between polls of the status.")]


class UserScopes(Shape):
    """What one person could be asked for. It holds no value of theirs, and not which attributes they have."""

    user_id: NotRequired[
        Annotated[str, Field(description="What your app calls the person; absent before you first asked them.")]
    ]
    available_domains: list[str]
    scopes: list[str]
    scope_entries: list[ScopeEntry]
    runtime: Runtime


class ScopeCatalog(Shape):
    """What anybody could be asked for."""

    scope_entries: list[ScopeEntry]


class FoundPerson(Shape):
    """Somebody who lets apps find them, in the words that they typed to be seen. Nobody has checked these."""

    handle: Annotated[
        str,
        Field(description="Name them by it, as `@<handle>`; their page is `/people/<handle>/`.", examples=["zoe-q"]),
    ]
    display_name: Annotated[str, Field(description="Empty where they gave none, as the two that follow.")]
    headline: str
    location_hint: str


class FoundPeople(Shape):
    """One page of the directory."""

    people: list[FoundPerson]
    next_cursor: NextCursor


class FrozenRequest(Shape):
    """What was asked, as the person will see it and as it stays: exactly what `request_digest` is over."""

    request_id: RequestId
    app_id: str
    app_name: Annotated[str, Field(description="Your app's name as the person sees it.")]
    user_id: UserId
    scope: str
    attributes: Annotated[list[Path], Field(description="What the scope covered when you asked.")]
    purpose: str
    connector_thumbprint: Annotated[str, Field(description="RFC 7638 thumbprint of the connector key.")]
    access_duration: Seconds
    expires_at: Time
    required_attributes: list[Path] | None
    optional_attributes: list[Path] | None
    max_reads: int | None
    refresh_policy: str
    binding_message: str | None


class AskedConsent(Shape):
    """A request that waits for the person's decision."""

    request_id: RequestId
    status: RequestState
    app_id: str
    issuer: Annotated[str, Field(description="The consent app's origin, `iss` of the export.")]
    user_id: UserId
    scope: str
    scope_label: str
    approval_url: Annotated[str, Field(description="Where the person decides; send them there.")]
    interval: int
    expires_in: Annotated[int, Field(description="Seconds that the request still waits.")]
    expires_at: Time
    access_duration: Seconds
    connector_key_id: str
    connector_fingerprint: Annotated[str, Field(description="RFC 7638 thumbprint of the connector key.")]
    request: FrozenRequest
    request_digest: Annotated[
        str, Field(description="Base64url SHA-256 of `request` in its RFC 8785 form. Make it yourself and compare.")
    ]
    created_at: Time


class Grant(Shape):
    """What was approved."""

    grant_id: str
    status: GrantState
    expires_at: Time
    reads: int
    reads_remaining: int | None
    approved_attributes: list[Path]
    export_revision: int | None


class ConsentStatus(Shape):
    """Where a request stands, and what came of it."""

    request_id: RequestId
    status: RequestState
    user_id: UserId
    scope: str
    interval: int
    created_at: Time
    expires_at: Time
    decided_at: Time | None
    receipt_id: Annotated[
        str | None, Field(description="The newest receipt; null while pending and until it is written.")
    ]
    sequence: Annotated[int | None, Field(description="The app's newest notice about this request.")]
    grant: Grant | None


class ConsentRequests(Shape):
    """One page of requests, newest first."""

    requests: list[ConsentStatus]
    next_cursor: NextCursor


class ConsentExport(Shape):
    """The approved slice, sealed to the connector key."""

    request_id: RequestId
    grant_id: str
    export_id: str
    revision: int
    user_id: UserId
    scope: str
    approved_attributes: list[Path]
    connector_key_id: str
    sealed_at: Time
    expires_at: Time
    reads_remaining: int | None
    size_bytes: int
    jwe: Annotated[str, Field(description="Compact JWE, ECDH-ES+A256KW with A256GCM.")]
    approval: Annotated[str, Field(description="Compact JWS of the person's vault over this export.")]
    owner_key: Annotated[
        dict[str, str], Field(description="The Ed25519 key that signed it, this person's for your app alone.")
    ]
    key_history: Annotated[
        list[dict[str, Any]],
        Field(description="How the person's key became another: each step a JWS that the old and the new key signed."),
    ]
    owner_key_reset: Annotated[
        bool, Field(description="The person lost their vault: this key is new, and nothing leads to it.")
    ]


_TEXT = {"type": "string", "minLength": 1}
# What a receipt says becomes of the data, in the words of the app's application when it asked; what it left out is not
# there, and nothing of it for a test app.
_HANDLING = {
    "recipients": {**_TEXT, "description": "Who receives the data, in your application's words when you asked."},
    "storage": {
        "type": "object",
        "description": "Where it is stored and how long it is kept, likewise.",
        "properties": {"location": _TEXT, "retention": _TEXT},
        "additionalProperties": False,
        "minProperties": 1,
    },
    "jurisdiction": {**_TEXT, "description": "Under whose law, likewise."},
    "lawful_basis": {"type": "string", "enum": ["consent"]},
    "rights": {"type": "array", "items": _TEXT, "description": "What the person may do about it."},
    "notice": {
        "type": "object",
        "description": "What the person was told before the decision, by its version, and the language they read.",
        "properties": {"version": _TEXT, "language": _TEXT},
        "required": ["version", "language"],
    },
}


class AuditEntry(Shape):
    """An entry of an audit chain with all that its hashes are over."""

    v: int
    chain: str
    sequence: int
    prev_hash: str
    entry_hash: str
    kind: str
    actor: str
    at: str
    facts: Annotated[dict[str, Any], Field(description="Empty once they were erased.")]
    facts_hash: str
    salt: Annotated[str, Field(description="Of `facts_hash`; empty once the facts were erased.")]


class Receipt(Shape):
    """The signed proof of one event."""

    receipt_id: str
    jws: Annotated[str, Field(description="Compact JWS, EdDSA; its key is in /.well-known/consent-keys.json.")]
    claims: Annotated[
        dict[str, Any],
        Field(
            description="What is signed. What your application left out, as a test app does, is not there.",
            json_schema_extra={"properties": _HANDLING},
        ),
    ]
    entry: NotRequired[Annotated[AuditEntry, Field(description="With `proof=1`: the event in your app's chain.")]]
    proof: NotRequired[Annotated[str, Field(description="With `proof=1`: C2SP tlog-proof of the entry's hash.")]]


class UnprovenReceipt(Shape):
    """The log does not have the entry yet, or too few witnesses have seen it."""

    receipt_id: str
    proof: None


class ConsentKeys(Shape):
    """A JSON Web Key Set (RFC 7517)."""

    keys: list[dict[str, Any]]


class ConsentCheckpoint(Shape):
    """The newest checkpoint of the log that is published."""

    origin: Annotated[str, Field(description="The name of the log, which is also that of its key.")]
    size: Annotated[int, Field(description="How many entries it has.")]
    root: Annotated[str, Field(description="The root of the Merkle tree over them (RFC 9162), base64.")]
    note: Annotated[str, Field(description="C2SP tlog-checkpoint: signed by the log, whose key is `/log/key`.")]
    at: str
    cosignatures_missing: Annotated[list[str], Field(description="The witnesses that have not cosigned it.")]
    jws: Annotated[str, Field(description="Deprecated: the same under a receipt key.")]
    claims: Annotated[dict[str, Any], Field(description="Deprecated: what `jws` says.")]
