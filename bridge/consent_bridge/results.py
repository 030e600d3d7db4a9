"""The service's answers as frozen records with the wire's own names, so that `as_json` gives the answer back."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from consent_bridge.errors import BadAnswer
from consent_bridge.exports import Source

Record = TypeVar("Record")

PENDING = "pending"
APPROVED = "approved"


@dataclass(frozen=True)
class ScopeEntry:
    """A scope that can be asked for; `attributes` are the registry's, the same for every person."""

    scope: str
    scope_handle: str
    label: str
    description: str
    domain: str
    sensitivity_tier: str
    attributes: tuple[str, ...]
    max_access_duration: int
    updated_at: str


@dataclass(frozen=True)
class DurationBounds:
    """Whole seconds."""

    default: int
    min: int
    max: int


@dataclass(frozen=True)
class Runtime:
    """What a request may look like."""

    can_approve: bool
    wrapping_algorithms: tuple[str, ...]
    connector_curves: tuple[str, ...]
    refresh_policies: tuple[str, ...]
    access_duration: DurationBounds
    interval: int


@dataclass(frozen=True)
class Discovery:
    """What one person could approve; never what they have."""

    user_id: str
    available_domains: tuple[str, ...]
    scopes: tuple[str, ...]
    scope_entries: tuple[ScopeEntry, ...]
    runtime: Runtime


@dataclass(frozen=True)
class AskedConsent:
    """A request as the service froze it. Keep it: an export is checked against it."""

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
    request_digest: str
    created_at: str


@dataclass(frozen=True)
class Grant:
    """What was allowed and what is left of it."""

    grant_id: str
    status: str
    expires_at: str
    reads: int
    reads_remaining: int | None
    approved_attributes: tuple[str, ...]
    export_revision: int | None


@dataclass(frozen=True)
class Status:
    """Where a request stands; `grant` is None unless it was approved."""

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


@dataclass(frozen=True)
class RequestPage:
    """One page of an app's requests, newest first."""

    requests: tuple[Status, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class Envelope:
    """A sealed export with what the service says about it."""

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


@dataclass(frozen=True)
class Slice:
    """The approved slice, opened and checked; `data` is domain → segment → attribute → value."""

    request_id: str
    grant_id: str
    export_id: str
    revision: int
    user_id: str
    scope: str
    approved_attributes: tuple[str, ...]
    data: dict[str, Any]
    sources: tuple[Source, ...]
    sealed_at: str
    expires_at: str
    reads_remaining: int | None
    etag: str = ""  # give it back to `read_newer`


@dataclass(frozen=True)
class Receipt:
    """The signed proof of one event, its claims by its own signature."""

    receipt_id: str
    jws: str
    claims: dict[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """The signed statement of where all audit chains stood."""

    jws: str
    claims: dict[str, Any]


def as_json(record: Any) -> dict[str, Any]:
    """A record as the JSON object it stands for."""
    return {name: value for name, value in dataclasses.asdict(record).items() if name != "etag"}


def build(kind: type[Record], body: object, where: str = "the answer") -> Record:
    """A record out of a JSON object; members that we do not know are passed over, a missing or odd one is BadAnswer."""
    if not isinstance(body, Mapping):
        raise BadAnswer(f"{where} is not an object")
    hints = get_type_hints(kind)
    values: dict[str, Any] = {}
    for name, hint in hints.items():
        if name not in body:
            raise BadAnswer(f"{where} has no {name}")
        values[name] = _convert(hint, body[name], f"{where}'s {name}")
    return kind(**values)


def _convert(hint: Any, value: object, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = next(option for option in get_args(hint) if option is not type(None))
        return None if value is None else _convert(inner, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise BadAnswer(f"{where} is not a list")
        return tuple(_convert(get_args(hint)[0], item, where) for item in value)
    if dataclasses.is_dataclass(hint):
        return build(cast(type, hint), value, where)
    plain = dict if origin is dict else hint
    if type(value) is not plain:
        raise BadAnswer(f"{where} is not {'an object' if plain is dict else plain.__name__}")
    return value
