"""The bodies and queries of the consent runtime, strict: wrong types and unknown members are refused."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, RootModel, model_validator
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from accounts.sharing_id import is_sharing_id
from common.admission.schemas import Identifier, PageQuery, PersonReference, Strict, plain_text, unique
from common.problems import Kind, Problem
from consent.errors import (
    ConnectorKeyRequired,
    InvalidConnectorKey,
    OneScopePerRequest,
    UnsupportedWrappingAlgorithm,
)
from consent.shapes import EXAMPLE_JWE, EXAMPLE_JWS, EXAMPLE_KEY, EXAMPLE_REQUEST_ID, EXAMPLE_USER_ID
from pkm import signatures
from pkm.web.schemas import NotesBody

WRAPPING_ALGORITHM = "ECDH-ES+A256KW"
SHORTEST_ACCESS, USUAL_ACCESS, LONGEST_ACCESS = 300, 86400, 31536000  # seconds
IN_DIGEST: JsonDict = {"x-in-digest": True}  # `json_schema_extra` of what a person is shown and signs for
SPECIAL: dict[str, Kind | type[Problem]] = {
    "one_scope_per_request": OneScopePerRequest,
    "connector_key_required": ConnectorKeyRequired,
    "invalid_connector_key": InvalidConnectorKey,
    "unsupported_wrapping_algorithm": UnsupportedWrappingAlgorithm,
}
_CONNECTOR_FIELDS = (
    "connector_key_id",
    "connector_wrapping_alg",
)  # and the key, unless the first names a registered one


def _one_scope(value: Any) -> Any:
    if isinstance(value, list) or (isinstance(value, str) and any(mark in value for mark in ", \t\n")):
        raise PydanticCustomError("one_scope_per_request", "name exactly one scope")
    return value


def _key(value: Any) -> Any:
    if not isinstance(value, dict | None):
        raise PydanticCustomError("invalid_connector_key", "connector_public_key: a JWK is a JSON object")
    return value


def _wrapping_algorithm(value: str) -> str:
    if value != WRAPPING_ALGORITHM:
        raise PydanticCustomError("unsupported_wrapping_algorithm", f"use {WRAPPING_ALGORITHM}")
    return value


Path = Annotated[str, Field(max_length=200, pattern=r"^[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63}){2}\Z")]
OptionalPaths = Annotated[list[Path], Field(max_length=500), AfterValidator(unique)]
Coarser = Annotated[list[Path], Field(min_length=1, max_length=20), AfterValidator(unique)]
Sealed = Annotated[str, Field(min_length=1, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*){4}\Z", examples=[EXAMPLE_JWE])]


WHO = "The person: your `user_id` for them, a sharing ID, or `@handle` of somebody listed."


ReturnUrl = Annotated[str, Field(min_length=8, max_length=2000)]


class RequestConsentBody(Strict):
    """`POST /request-consent`: one scope, one purpose, and the key to seal the answer to."""

    # Everything that is said of a member anywhere is said here: its rules, what it is for, its example. The document,
    # the tools and the types of the clients are made from it, and what bears a column's name is kept in that column.
    # What the contract gains later is covered by the request's digest where it is marked with IN_DIGEST.
    user_id: Annotated[PersonReference, Field(description=WHO, examples=[EXAMPLE_USER_ID])]
    scope: Annotated[
        str,
        Field(
            min_length=1,
            max_length=210,
            description="One scope, as discovered for this person.",
            examples=["attr.lifestyle.food.*"],
        ),
        BeforeValidator(_one_scope),  # lengths of the str itself
    ]
    purpose: Annotated[
        str,
        Field(
            min_length=8,
            max_length=280,
            description="What for, in 8 to 280 characters that the person reads as yours.",
            examples=["Suggest restaurants for your trip to Lisbon"],
        ),
        AfterValidator(plain_text),
    ]
    connector_public_key: Annotated[
        dict[str, Any] | None,
        Field(
            description="A public JWK (X25519 or P-256) that the answer is sealed to; left out where "
            "`connector_key_id` names a registered one.",
            examples=[{"kty": "OKP", "crv": "X25519", "x": "3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08"}],
        ),
        BeforeValidator(_key),
    ] = None
    connector_key_id: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9._~-]{1,128}\Z",
            description="Your name for that key: letters, digits and `._~-`.",
            examples=["trip-planner-2026"],
        ),
    ]
    connector_wrapping_alg: Annotated[
        str,
        Field(description=f"Always `{WRAPPING_ALGORITHM}`.", examples=[WRAPPING_ALGORITHM]),
        AfterValidator(_wrapping_algorithm),
    ]
    access_duration: Annotated[
        int,
        Field(
            ge=SHORTEST_ACCESS,
            le=LONGEST_ACCESS,
            description="Seconds to read for. The person may choose less.",
            examples=[604800],
        ),
    ] = USUAL_ACCESS
    requested_expiry: Annotated[
        int, Field(ge=300, le=2592000, description="Seconds that the request waits for a decision.")
    ] = 86400
    required_attributes: Annotated[
        OptionalPaths | None,
        Field(
            description="Paths inside the scope without which you cannot do it. The person cannot untick them.",
        ),
    ] = None
    optional_attributes: Annotated[
        OptionalPaths | None,
        Field(
            description="Paths that would help. With neither list, all of the scope is optional.",
            examples=[["lifestyle.food.diet_preference", "lifestyle.food.favorite_cuisine"]],
        ),
    ] = None
    max_reads: Annotated[
        Annotated[int, Field(ge=1, le=100000)] | None,
        Field(description="After so many reads the approval is used up."),
    ] = None
    refresh_policy: Annotated[
        Literal["snapshot", "continuous"],
        Field(
            description="`snapshot`: the data as it is at approval. `continuous`: kept up to date by the person.",
        ),
    ] = "snapshot"
    binding_message: Annotated[
        Annotated[str, Field(min_length=1, max_length=64), AfterValidator(plain_text)] | None,
        Field(description="Up to 64 characters that both sides show."),
    ] = None
    template_id: Annotated[Identifier | None, Field(description="An approved template to keep within.")] = None

    invitation_sha256: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}\Z")] | None,
        Field(
            description="Base64url SHA-256 of the sharing ID in `user_id`, which vaults compare. Clients add it.",
            json_schema_extra=IN_DIGEST,
        ),
    ] = None

    required_because: Annotated[
        Annotated[str, Field(min_length=1, max_length=140), AfterValidator(plain_text)] | None,
        Field(
            description="What fails without the required ones: up to 140 characters, shown beside them.",
            examples=["We cannot leave out what you must not eat"],
            json_schema_extra=IN_DIGEST,
        ),
    ] = None

    return_url: Annotated[
        ReturnUrl | None,
        Field(
            description="Where the person goes after deciding, under an origin of yours.",
            json_schema_extra=IN_DIGEST,
        ),
    ] = None

    accepts: Annotated[
        Annotated[dict[str, Coarser], Field(min_length=1, max_length=50)] | None,
        Field(
            description="Of a value that you ask for, the answers that would do; the person may share one instead.",
            json_schema_extra=IN_DIGEST,
        ),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _connector_is_there(cls, data: Any) -> Any:
        """Checked before anything else of the body: a missing key would make the hand-over fail later."""
        if isinstance(data, dict):
            absent = [name for name in _CONNECTOR_FIELDS if data.get(name) is None]
            if absent:
                raise PydanticCustomError("connector_key_required", "missing: {names}", {"names": ", ".join(absent)})
        return data

    @model_validator(mode="after")
    def _invitation_is_the_one_used(self) -> Self:
        given, name = self.invitation_sha256, self.user_id
        if given is not None and not (is_sharing_id(name) and name.isascii() and signatures.sha256(name) == given):
            raise PydanticCustomError("invitation", "invitation_sha256 must be the digest of the sharing ID in user_id")
        return self


class RidingRequestBody(RequestConsentBody):
    """What is asked of whoever connects: a request without those members that the connection gives it."""

    user_id: SkipJsonSchema[str] = ""
    invitation_sha256: SkipJsonSchema[str | None] = None
    return_url: SkipJsonSchema[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _omits_what_the_connection_gives(cls, data: Any) -> Any:
        given = [
            name
            for name in ("user_id", "invitation_sha256", "return_url")
            if isinstance(data, dict) and data.get(name) is not None
        ]
        if given:
            raise PydanticCustomError(
                "of_connection", "the connection gives it these: {names}", {"names": ", ".join(given)}
            )
        return data


class ConnectionBody(Strict):
    """`POST /connections`."""

    binding_message: Annotated[
        Annotated[str, Field(min_length=1, max_length=64), AfterValidator(plain_text)] | None,
        Field(description="Shown on both sides, so that the person can match them.", examples=["Order 4711"]),
    ] = None
    return_url: Annotated[
        ReturnUrl | None,
        Field(
            description="Where the person comes back to, under an origin that your app registered. With it there is a "
            "`connect_url`, and what comes of it is told once you have completed the connection; without it the person "
            "types the `code`.",
            examples=["https://trips.example/connected"],
        ),
    ] = None
    request: Annotated[
        RidingRequestBody | None,
        Field(description="Asked of the person as soon as they have connected. Needs the permission `request`."),
    ] = None


class CompleteBody(Strict):
    """`POST /connections/{id}/complete`."""

    connection_code: Annotated[
        str,
        Field(
            min_length=1,
            max_length=64,
            pattern=r"^[A-Za-z0-9_]+\Z",
            description="From the query of your `return_url`. Take it only in the browser session that began.",
            examples=["cc_b2w5xkqv7wq3m7n2u2b4hjye6q"],
        ),
    ]


class WaitQuery(Strict):
    """`GET /connections/{id}`; `wait` in seconds."""

    wait: Annotated[int, Field(ge=0, le=30, description="Seconds to hold the answer.")] = 0


class EndConsentBody(Strict):
    """`POST /end-consent`."""

    request_id: Annotated[
        Identifier,
        Field(
            description="The request to take back, or whose approval to give up.",
            examples=[EXAMPLE_REQUEST_ID],
        ),
    ]


class LeakedTokenBody(Strict):
    """`POST /leaked-tokens`."""

    token: Annotated[
        str,
        Field(
            min_length=1,
            description="The whole token, as it was found.",
            examples=["cr_live_4fK9sQ2x_found-in-a-public-place-and-revoked-by-now"],
        ),
    ]


def describe_members(schema: dict[str, Any]) -> None:
    """Finish a body's JSON Schema as it is published: each description last, and examples of the whole body alone."""
    for member in schema.get("properties", {}).values():
        member.pop("examples", None)
        if "description" in member:
            member["description"] = member.pop("description")


class ScopesQuery(Strict):
    """Which of the scopes: `GET /user-scopes/{user_id}` and `GET /scope-catalog`."""

    domain: Annotated[
        Annotated[str, Field(min_length=1, max_length=64)] | None,
        Field(description="Only this domain."),
    ] = None
    query: Annotated[
        Annotated[str, Field(min_length=1, max_length=100)] | None,
        Field(description="Only where this text stands."),
    ] = None
    limit: Annotated[int | None, Field(ge=1, le=100, description="At most so many, and `next_cursor` with them.")] = (
        None
    )
    cursor: Annotated[
        Annotated[str, Field(min_length=1, max_length=210)] | None,
        Field(description="The `next_cursor` of the page before."),
    ] = None

    def selects(self, entry: Mapping[str, Any]) -> bool:
        """Whether a registry entry in the contract's shape is among them."""
        if self.domain is not None and entry["domain"] != self.domain:
            return False
        wanted = (self.query or "").casefold()
        texts = (entry["scope"], entry["label"], entry["description"], *entry["attributes"])
        return any(wanted in text.casefold() for text in texts)


class StatusQuery(Strict):
    """`GET /consent-status`: by `request_id`, or by `user_id` and `scope`; `wait` in seconds."""

    request_id: Identifier | None = None
    user_id: PersonReference | None = None
    scope: Annotated[str, Field(min_length=1, max_length=210)] | None = None
    wait: Annotated[int, Field(ge=0, le=30)] = 0

    @model_validator(mode="after")
    def _one_way_of_naming(self) -> "StatusQuery":
        pair = (self.user_id, self.scope)
        if (self.request_id is None) == (None in pair) or (self.request_id is not None and any(pair)):
            raise PydanticCustomError("naming", "give request_id, or user_id and scope")
        return self


class ReceiptQuery(Strict):
    """`GET /receipts/{receipt_id}`: in its signed form, which can come with its proof, or as linked data."""

    format: Annotated[Literal["jsonld"] | None, Field(description="Linked data instead of the signed form.")] = None
    proof: Annotated[Literal["1"] | None, Field(description="With the entry and its proof; not with `format`.")] = None

    @model_validator(mode="after")
    def _prove_what_is_signed(self) -> Self:
        if self.format and self.proof:
            raise ValueError("a proof comes with the signed form alone: leave out one of format and proof")
        return self


class ListQuery(PageQuery):
    """`GET /consent-requests`."""

    status: Annotated[
        Literal["pending", "approved", "denied", "cancelled", "expired"] | None,
        Field(description="Only requests with this status."),
    ] = None


class PeopleQuery(PageQuery):
    """`GET /people`."""

    query: Annotated[
        Annotated[str, Field(min_length=1, max_length=100), AfterValidator(plain_text)] | None,
        Field(description="How the handle or name begins."),
    ] = None


class ExportQuery(Strict):
    """`GET /consent-export`."""

    request_id: Identifier


class Source(Strict):
    """One segment revision that an export was made from."""

    domain: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z", examples=["lifestyle"])]
    segment_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z", examples=["food"])]
    content_revision: Annotated[int, Field(ge=1)]


Signature = Annotated[str, Field(min_length=1, max_length=128 * 1024)]


Notes = Annotated[
    NotesBody | None,
    Field(
        description="The vault's own sealed notes as they are from then on, kept in the same transaction or not at "
        "all; where somebody wrote them meanwhile the answer is `stale_revision` with `member` `notes`."
    ),
]


class SignedBody(Strict):
    """What the vault signed; without it the answer is `approval_mismatch`, as where it differs."""

    approval: Annotated[
        Signature | None,
        Field(description="Compact JWS under the app's own key of the person.", examples=[EXAMPLE_JWS]),
    ] = None
    approval_key: Annotated[
        Annotated[dict[str, Any], Field(max_length=8)] | None,
        Field(description="That key's public JWK.", examples=[EXAMPLE_KEY]),
    ] = None
    approval_key_certificate: Annotated[
        Signature | None,
        Field(description="Compact JWS under the root: the key is the person's for this app.", examples=[EXAMPLE_JWS]),
    ] = None


class ApproveBody(SignedBody):
    """The owner's decision to share; `jwe` is the export, sealed in their browser."""

    decision: Literal["approve"]
    request_digest: Annotated[
        str, Field(min_length=43, max_length=43, examples=["AUxt8-4T7gsVsoYI5zdSYhOvjckDGbTWaWPb7FWOrbs"])
    ]
    access_duration: Annotated[int, Field(examples=[86400])]
    approved_attributes: Annotated[OptionalPaths, Field(examples=[["lifestyle.food.favorite_cuisine"]])]
    sources: Annotated[list[Source], Field(max_length=500)]
    jwe: Sealed
    notes: Notes = None


class DenyBody(Strict):
    """The owner's decision not to share; `reason` is their own note and is told to nobody."""

    decision: Literal["deny"]
    reason: Annotated[str, Field(max_length=500)] | None = None


class DecisionBody(RootModel[Annotated[ApproveBody | DenyBody, Field(discriminator="decision")]]):
    """`POST …/decision`, as the OpenAPI document describes it: one of the two."""


class ResumeBody(SignedBody):
    """`approval` is a `consent-resume+jwt`; its key is given where the server does not know it yet."""


class ExportBody(SignedBody):
    """A newer revision under a continuous grant."""

    revision: Annotated[int, Field(ge=2, examples=[2])]
    sources: Annotated[list[Source], Field(min_length=1, max_length=500)]
    jwe: Sealed
    notes: Notes = None


class RevokeBody(Strict):
    """`POST …/revoke`: nothing has to be said."""

    notes: Notes = None
