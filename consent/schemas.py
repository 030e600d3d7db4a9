"""The bodies and queries of the consent runtime, strict: wrong types and unknown members are refused."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from accounts.errors import Problem
from accounts.text import is_plain
from consent.errors import ConnectorKeyRequired, OneScopePerRequest, UnsupportedWrappingAlgorithm

WRAPPING_ALGORITHM = "ECDH-ES+A256KW"
SPECIAL: dict[str, type[Problem]] = {
    "one_scope_per_request": OneScopePerRequest,
    "connector_key_required": ConnectorKeyRequired,
    "unsupported_wrapping_algorithm": UnsupportedWrappingAlgorithm,
}
_CONNECTOR_FIELDS = ("connector_public_key", "connector_key_id", "connector_wrapping_alg")


def plain_text(text: str) -> str:
    """`text` where it is one line that shows as it is written; contract, conventions."""
    if not is_plain(text):
        raise PydanticCustomError(
            "plain_text", "must be one line of plain text without control, invisible or direction-changing characters"
        )
    if text != text.strip():
        raise PydanticCustomError("plain_text", "must not begin or end with a space")
    return text


def _one_scope(value: Any) -> Any:
    if isinstance(value, list) or (isinstance(value, str) and any(mark in value for mark in ", \t\n")):
        raise PydanticCustomError("one_scope_per_request", "name exactly one scope")
    return value


def _wrapping_algorithm(value: str) -> str:
    if value != WRAPPING_ALGORITHM:
        raise PydanticCustomError("unsupported_wrapping_algorithm", f"use {WRAPPING_ALGORITHM}")
    return value


def _unique(paths: list[str]) -> list[str]:
    if len(set(paths)) != len(paths):
        raise PydanticCustomError("repeated", "must not name an attribute twice")
    return paths


_IDENTIFIER = re.compile(r"[A-Za-z0-9_]{1,64}\Z")


def is_identifier(text: str) -> bool:
    """Whether `text` could be one of our names; what could not is unknown, and never reaches the database."""
    return _IDENTIFIER.match(text) is not None


Identifier = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_]+\Z")]
Path = Annotated[str, Field(max_length=200, pattern=r"^[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63}){2}\Z")]
Paths = Annotated[list[Path], Field(min_length=1, max_length=500), AfterValidator(_unique)]
OptionalPaths = Annotated[list[Path], Field(max_length=500), AfterValidator(_unique)]
Sealed = Annotated[str, Field(min_length=1, pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*){4}\Z")]


class Strict(BaseModel):
    """No coercion, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, regex_engine="python-re")


class RequestConsentBody(Strict):
    """`POST /request-consent`: one scope, one purpose, and the key to seal the answer to."""

    user_id: Identifier
    scope: Annotated[str, Field(min_length=1, max_length=210), BeforeValidator(_one_scope)]  # lengths of the str itself
    purpose: Annotated[str, Field(min_length=8, max_length=280), AfterValidator(plain_text)]
    connector_public_key: dict[str, Any]
    connector_key_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._~-]{1,128}\Z")]
    connector_wrapping_alg: Annotated[str, AfterValidator(_wrapping_algorithm)]
    access_duration: Annotated[int, Field(ge=300, le=31536000)] = 86400
    requested_expiry: Annotated[int, Field(ge=300, le=2592000)] = 86400
    required_attributes: OptionalPaths | None = None
    optional_attributes: OptionalPaths | None = None
    max_reads: Annotated[int, Field(ge=1, le=100000)] | None = None
    refresh_policy: Literal["snapshot", "continuous"] = "snapshot"
    binding_message: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(plain_text)] | None = None
    template_id: Identifier | None = None

    @model_validator(mode="before")
    @classmethod
    def _connector_is_there(cls, data: Any) -> Any:
        """Checked before anything else of the body: a missing key would make the hand-over fail later."""
        if isinstance(data, dict):
            absent = [name for name in _CONNECTOR_FIELDS if data.get(name) is None]
            if absent:
                raise PydanticCustomError("connector_key_required", "missing: {names}", {"names": ", ".join(absent)})
        return data


class EndConsentBody(Strict):
    """`POST /end-consent`."""

    request_id: Identifier


class StatusQuery(Strict):
    """`GET /consent-status`: by `request_id`, or by `user_id` and `scope`; `wait` in seconds."""

    request_id: Identifier | None = None
    user_id: Identifier | None = None
    scope: Annotated[str, Field(min_length=1, max_length=210)] | None = None
    wait: Annotated[int, Field(ge=0, le=30)] = 0

    @model_validator(mode="after")
    def _one_way_of_naming(self) -> "StatusQuery":
        pair = (self.user_id, self.scope)
        if (self.request_id is None) == (None in pair) or (self.request_id is not None and any(pair)):
            raise PydanticCustomError("naming", "give request_id, or user_id and scope")
        return self


class ListQuery(Strict):
    """`GET /consent-requests`."""

    status: Literal["pending", "approved", "denied", "cancelled", "expired"] | None = None
    cursor: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class ExportQuery(Strict):
    """`GET /consent-export`."""

    request_id: Identifier


class Source(Strict):
    """One segment revision that an export was made from."""

    domain: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
    segment_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
    content_revision: Annotated[int, Field(ge=1)]


class ApproveBody(Strict):
    """The owner's decision to share; `jwe` is the export, sealed in their browser."""

    decision: Literal["approve"]
    request_digest: Annotated[str, Field(min_length=43, max_length=43)]
    access_duration: int
    approved_attributes: OptionalPaths
    sources: Annotated[list[Source], Field(max_length=500)]
    jwe: Sealed


class DenyBody(Strict):
    """The owner's decision not to share; `reason` is their own note and is told to nobody."""

    decision: Literal["deny"]
    reason: Annotated[str, Field(max_length=500)] | None = None


class ExportBody(Strict):
    """A newer revision under a continuous grant."""

    revision: Annotated[int, Field(ge=2)]
    sources: Annotated[list[Source], Field(min_length=1, max_length=500)]
    jwe: Sealed


class ReportBody(Strict):
    """What a person tells staff about an app."""

    text: Annotated[str, Field(min_length=3, max_length=2000)]


class KeepCurrentBody(Strict):
    """Whether a continuous grant is re-sealed when the data changes."""

    kept: bool


class ChainQuery(Strict):
    """`GET /consent/history/entries`."""

    after: Annotated[int, Field(ge=0)] = 0


class RefreshableQuery(Strict):
    """`GET /consent/grants/refreshable`: what a change of this segment concerns."""

    domain: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
    segment_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
