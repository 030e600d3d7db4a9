"""What the developers' addresses answer with, written once.

An answer is made as one of these: mypy holds every place that makes one to its members and their types. pydantic reads
the same class for the OpenAPI document, which the types of both clients are generated from. They are typed
dictionaries, not models, because the answers are read as dictionaries by pages, tools, streams and notices, and
because a model would cost five times as much to make and write (docs/adr/0018).
"""

from typing import Annotated, Any, NotRequired

from pydantic import Field

from common.shapes import NextCursor, Seconds, Shape, Time, literal_of
from consent.states import ConnectionStatus, GrantStatus, RequestStatus
from pkm.shapes import EXAMPLE_PATHS, Path, ScopeEntry

# the examples tell one story, through all operations
EXAMPLE_APP_ID = "app_o7w3vq5d2ykx6bq4m2nrzj5cfe"
EXAMPLE_USER_ID = "usr_t2zp3gog7m6odtqhjuqhpevyku"
EXAMPLE_REQUEST_ID = "req_4tx2mjm3cwi6q7ezu6c4qiyn7a"
EXAMPLE_CONNECTION_ID = "con_z5yk6q2m4t7ue2h6wq4n7c5b3j"
EXAMPLE_GRANT_ID = "grt_k6q5d5xkqv7wq3m7n2u2b4hjye"
EXAMPLE_RECEIPT_ID = "rct_y3hx5vqv5mzl2w6t4c7p2e3kka"
EXAMPLE_JWE = "eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.bm9uY2U.c2VhbGVk.dGFn"
EXAMPLE_JWS = "eyJhbGciOiJFZERTQSJ9.Y2xhaW1z.c2lnbmF0dXJl"
EXAMPLE_KEY = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
_THUMBPRINT = "giQqigT_IKcuzHl0FVJ3k5ts3_TWNAxvsC08UZsfcM8"
_KEY_ID = "trip-planner-2026"
_ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
_DECIDED, _UNDECIDED_AFTER, _ENDS = "2026-11-20T10:02:10Z", "2026-11-21T10:00:00Z", "2026-11-27T10:02:10Z"

UserId = Annotated[
    str,
    Field(
        description="What your app calls the person: a name that no other app has.",
        examples=[EXAMPLE_USER_ID],
    ),
]
ConnectionId = Annotated[str, Field(examples=[EXAMPLE_CONNECTION_ID])]
RequestId = Annotated[str, Field(examples=[EXAMPLE_REQUEST_ID])]
AppId = Annotated[str, Field(examples=[EXAMPLE_APP_ID])]
GrantId = Annotated[str, Field(examples=[EXAMPLE_GRANT_ID])]
ReceiptId = Annotated[str, Field(examples=[EXAMPLE_RECEIPT_ID])]
Scope = Annotated[str, Field(examples=["attr.lifestyle.food.*"])]
ApprovedPaths = Annotated[list[Path], Field(examples=[EXAMPLE_PATHS[1:2]])]
Interval = Annotated[int, Field(examples=[5])]
AccessSeconds = Annotated[Seconds, Field(examples=[604800])]
PendingUntil = Annotated[Time, Field(examples=[_UNDECIDED_AFTER])]
RequestState = Annotated[RequestStatus, literal_of(RequestStatus)]
GrantState = Annotated[GrantStatus, literal_of(GrantStatus)]


class LeakReported(Shape):
    """Nothing: whether there is such a token is not told."""


class AccessDuration(Shape):
    """How long reading may be asked for, in seconds."""

    default: Annotated[Seconds, Field(examples=[86400])]
    min: Annotated[Seconds, Field(examples=[300])]
    max: Annotated[Seconds, Field(examples=[31536000])]


class Runtime(Shape):
    """What the person's side of this service supports."""

    can_approve: Annotated[bool, Field(description="Whether the person has a vault to approve from.")]
    wrapping_algorithms: Annotated[list[str], Field(examples=[["ECDH-ES+A256KW"]])]
    connector_curves: Annotated[list[str], Field(examples=[["X25519", "P-256"]])]
    refresh_policies: Annotated[list[str], Field(examples=[["snapshot", "continuous"]])]
    access_duration: AccessDuration
    interval: Annotated[int, Field(description="Seconds between polls of the status.", examples=[5])]


class UserScopes(Shape):
    """What one person could be asked for. It holds no value of theirs, and not which attributes they have."""

    user_id: NotRequired[
        Annotated[
            str,
            Field(
                description="What your app calls the person; absent before you first asked them.",
                examples=[EXAMPLE_USER_ID],
            ),
        ]
    ]
    available_domains: Annotated[list[str], Field(examples=[["lifestyle"]])]
    scopes: Annotated[list[str], Field(examples=[["attr.lifestyle.food.*"]])]
    scope_entries: list[ScopeEntry]
    runtime: Runtime
    next_cursor: NotRequired[NextCursor]


class ScopeCatalog(Shape):
    """What anybody could be asked for."""

    scope_entries: list[ScopeEntry]
    next_cursor: NotRequired[NextCursor]


class FoundPerson(Shape):
    """Somebody who lets apps find them, in the words that they typed to be seen. Nobody has checked these."""

    handle: Annotated[
        str,
        Field(description="Name them by it, as `@<handle>`; their page is `/people/<handle>/`.", examples=["zoe-q"]),
    ]
    display_name: Annotated[
        str, Field(description="Empty where they gave none, as the two that follow.", examples=["Zoe Q"])
    ]
    headline: Annotated[str, Field(examples=["Plans train journeys"])]
    location_hint: Annotated[str, Field(examples=["Near Turku"])]


class FoundPeople(Shape):
    """One page of the directory."""

    people: list[FoundPerson]
    next_cursor: NextCursor


class FrozenRequest(Shape):
    """What was asked, as the person will see it and as it stays: exactly what `request_digest` is over."""

    request_id: RequestId
    app_id: AppId
    app_name: Annotated[str, Field(description="Your app's name as the person sees it.", examples=["Trip planner"])]
    user_id: UserId
    scope: Scope
    attributes: Annotated[
        list[Path], Field(description="What the scope covered when you asked.", examples=[EXAMPLE_PATHS])
    ]
    purpose: Annotated[str, Field(examples=["Suggest restaurants for your trip to Lisbon"])]
    connector_thumbprint: Annotated[
        str, Field(description="RFC 7638 thumbprint of the connector key.", examples=[_THUMBPRINT])
    ]
    access_duration: AccessSeconds
    expires_at: PendingUntil
    required_attributes: list[Path] | None
    optional_attributes: Annotated[list[Path] | None, Field(examples=[EXAMPLE_PATHS[:2]])]
    max_reads: int | None
    refresh_policy: Annotated[str, Field(examples=["snapshot"])]
    binding_message: str | None
    invitation_sha256: NotRequired[
        Annotated[str, Field(description="Where you named a sharing ID, or the person connected.")]
    ]
    required_because: NotRequired[Annotated[str, Field(description="Only where you gave it.")]]
    return_url: NotRequired[Annotated[str, Field(description="Only where you gave it.")]]
    accepts: NotRequired[Annotated[dict[str, list[Path]], Field(description="Only where you gave it.")]]
    derived: NotRequired[
        Annotated[
            dict[str, Any],
            Field(
                description="Path → `from`, `rule` and its version, of each answer in place of a value that you named."
            ),
        ]
    ]


class MadeRequest(Shape):
    """A request that waits for the person's decision."""

    request_id: RequestId
    status: RequestState
    app_id: AppId
    issuer: Annotated[
        str, Field(description="The consent app's origin, `iss` of the export.", examples=["https://consent.example"])
    ]
    user_id: UserId
    scope: Scope
    scope_label: Annotated[str, Field(examples=["Food and drink"])]
    approval_url: Annotated[
        str,
        Field(
            description="Where the person decides; send them there.",
            examples=[f"https://consent.example/consent/requests/{EXAMPLE_REQUEST_ID}/"],
        ),
    ]
    interval: Interval
    expires_in: Annotated[int, Field(description="Seconds that the request still waits.", examples=[86400])]
    expires_at: PendingUntil
    access_duration: AccessSeconds
    connector_key_id: Annotated[str, Field(examples=[_KEY_ID])]
    connector_fingerprint: Annotated[
        str, Field(description="RFC 7638 thumbprint of the connector key.", examples=[_THUMBPRINT])
    ]
    request: FrozenRequest
    request_digest: Annotated[
        str,
        Field(
            description="Base64url SHA-256 of `request` in its RFC 8785 form. Make it yourself and compare.",
            examples=["AUxt8-4T7gsVsoYI5zdSYhOvjckDGbTWaWPb7FWOrbs"],
        ),
    ]
    created_at: Time


class MadeConnection(Shape):
    """A connection that waits for somebody to open it."""

    connection_id: ConnectionId
    connect_url: Annotated[
        str | None,
        Field(
            description="Send the person there, from the session that they began in; null without a `return_url`.",
            examples=[f"https://consent.example/connect/{EXAMPLE_CONNECTION_ID}/"],
        ),
    ]
    code: Annotated[
        str,
        Field(
            description="What the person types at `code_url`: 8 characters, none of which look alike.",
            examples=["7KXQ4MPW"],
        ),
    ]
    code_url: Annotated[
        str,
        Field(description="Show it with the code, as text or QR code.", examples=["https://consent.example/connect/"]),
    ]
    expires_at: Time
    expires_in: Annotated[int, Field(description="Seconds; opening it makes them 3,600.", examples=[600])]
    interval: Interval


class ConnectionNotice(Shape):
    """Where a connection stands, as events and webhooks tell it."""

    connection_id: ConnectionId
    status: Annotated[ConnectionStatus, literal_of(ConnectionStatus)]
    user_id: Annotated[
        str | None,
        Field(
            description="What your app calls the person from now on; null until it is connected, and completed where "
            "it has a `return_url`.",
            examples=[EXAMPLE_USER_ID],
        ),
    ]
    request_id: Annotated[
        str | None, Field(description="Of the request that rode along.", examples=[EXAMPLE_REQUEST_ID])
    ]
    refusal: Annotated[
        str | None,
        Field(
            description="The code of what kept the request from being asked; null where nothing did.",
            examples=["invalid_scope"],
        ),
    ]
    sequence: Annotated[
        int | None, Field(description="The app's own number of the event that told of it.", examples=[44])
    ]


class Connection(ConnectionNotice):
    """Where a connection stands, with what was asked along with it."""

    request: Annotated[MadeRequest | None, Field(description="As asking answers it; compare its digest.")]


class Grant(Shape):
    """What was approved."""

    grant_id: GrantId
    status: GrantState
    expires_at: Annotated[Time, Field(examples=[_ENDS])]
    reads: Annotated[int, Field(examples=[0])]
    reads_remaining: int | None
    approved_attributes: ApprovedPaths
    export_revision: Annotated[int | None, Field(examples=[1])]


class ConsentStatus(Shape):
    """Where a request stands, and what came of it."""

    request_id: RequestId
    status: Annotated[RequestState, Field(examples=["approved"])]
    user_id: UserId
    scope: Scope
    interval: Interval
    created_at: Time
    expires_at: PendingUntil
    decided_at: Annotated[Time | None, Field(examples=[_DECIDED])]
    receipt_id: Annotated[
        str | None,
        Field(
            description="The newest receipt; null while pending and until it is written.",
            examples=[EXAMPLE_RECEIPT_ID],
        ),
    ]
    sequence: Annotated[int | None, Field(description="The app's newest notice about this request.", examples=[41])]
    grant: Grant | None


class ConsentRequests(Shape):
    """One page of requests, newest first."""

    requests: list[ConsentStatus]
    next_cursor: NextCursor


class ConsentExport(Shape):
    """The approved slice, sealed to the connector key."""

    request_id: RequestId
    grant_id: GrantId
    export_id: Annotated[str, Field(examples=["exp_m5a2c3kzj4v7y6t3q2w5n4b7ue"])]
    revision: int
    user_id: UserId
    scope: Scope
    approved_attributes: ApprovedPaths
    connector_key_id: Annotated[str, Field(examples=[_KEY_ID])]
    sealed_at: Annotated[Time, Field(examples=[_DECIDED])]
    expires_at: Annotated[Time, Field(examples=[_ENDS])]
    reads_remaining: int | None
    size_bytes: Annotated[int, Field(examples=[812])]
    jwe: Annotated[str, Field(description="Compact JWE, ECDH-ES+A256KW with A256GCM.", examples=[EXAMPLE_JWE])]
    approval: Annotated[
        str, Field(description="Compact JWS of the person's vault over this export.", examples=[EXAMPLE_JWS])
    ]
    owner_key: Annotated[
        dict[str, str],
        Field(description="The Ed25519 key that signed it, this person's for your app alone.", examples=[EXAMPLE_KEY]),
    ]
    key_history: Annotated[
        list[dict[str, Any]],
        Field(
            description="How the person's key became another: each step a JWS that the old and the new key signed.",
            examples=[[]],
        ),
    ]
    owner_key_reset: Annotated[
        bool,
        Field(description="The person lost their vault: this key is new, and nothing leads to it.", examples=[False]),
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


_CLAIMS = {
    "schema_version": "1.1",
    "receipt_id": EXAMPLE_RECEIPT_ID,
    "lawful_basis": "consent",
    "rights": ["withdraw_consent", "access", "erasure", "portability", "complaint"],
    "notice": {"version": "2026-11", "language": "en"},
    "recipients": "Our booking partner in Turku",
    "storage": {"location": "Data centre in Frankfurt, Germany", "retention": "30 days after the last visit"},
    "jurisdiction": "Finland",
    "event": {"type": "approved", "state": "active", "time": _DECIDED},
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

    receipt_id: ReceiptId
    jws: Annotated[
        str,
        Field(
            description="Compact JWS, EdDSA; its key is in /.well-known/consent-keys.json.",
            examples=["eyJhbGciOiJFZERTQSJ9.eyJzY2hlbWFfdmVyc2lvbiI6IjEuMCJ9.c2lnbmF0dXJl"],
        ),
    ]
    claims: Annotated[
        dict[str, Any],
        Field(
            description="What is signed. What your application left out, as a test app does, is not there.",
            json_schema_extra={"properties": _HANDLING},
            examples=[_CLAIMS],
        ),
    ]
    entry: NotRequired[Annotated[AuditEntry, Field(description="With `proof=1`: the event in your app's chain.")]]
    proof: NotRequired[Annotated[str, Field(description="With `proof=1`: C2SP tlog-proof of the entry's hash.")]]


class UnprovenReceipt(Shape):
    """The log does not have the entry yet, or too few witnesses have seen it."""

    receipt_id: ReceiptId
    proof: None


class ConsentKeys(Shape):
    """A JSON Web Key Set (RFC 7517)."""

    keys: Annotated[
        list[dict[str, Any]],
        Field(
            examples=[
                [{**EXAMPLE_KEY, "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "use": "sig", "alg": "EdDSA"}]
            ]
        ),
    ]


class ConsentCheckpoint(Shape):
    """The newest checkpoint of the log that is published."""

    origin: Annotated[
        str, Field(description="The name of the log, which is also that of its key.", examples=["consent.example/log"])
    ]
    size: Annotated[int, Field(description="How many entries it has.", examples=[20852163])]
    root: Annotated[
        str, Field(description="The root of the Merkle tree over them (RFC 9162), base64.", examples=[_ROOT])
    ]
    note: Annotated[
        str,
        Field(
            description="C2SP tlog-checkpoint: signed by the log, whose key is `/log/key`.",
            examples=[f"consent.example/log\n20852163\n{_ROOT}\n\n— consent.example/log …\n"],
        ),
    ]
    at: Annotated[str, Field(examples=["2026-11-20T10:00:00Z"])]
    cosignatures_missing: Annotated[
        list[str], Field(description="The witnesses that have not cosigned it.", examples=[[]])
    ]
    jws: Annotated[
        str,
        Field(
            description="Deprecated: the same under a receipt key.",
            examples=["eyJhbGciOiJFZERTQSJ9.eyJyb290IjoiLi4uIn0.c2lnbmF0dXJl"],
        ),
    ]
    claims: Annotated[
        dict[str, Any],
        Field(
            description="Deprecated: what `jws` says.",
            examples=[{"root": "…", "entries": 20852163, "at": "2026-11-20T10:00:00Z"}],
        ),
    ]
