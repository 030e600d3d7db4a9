"""The service's answers as frozen records with the wire's own names, so that `as_json` gives the answer back."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from consent_bridge.answers import (
    Connection,
    ConnectionNotice,
    Discovery,
    DurationBounds,
    Envelope,
    FoundPerson,
    FrozenRequest,
    Grant,
    MadeConnection,
    MadeRequest,
    PeoplePage,
    Processing,
    RequestPage,
    Runtime,
    ScopeEntry,
    Status,
)
from consent_bridge.entries import Entry
from consent_bridge.errors import BadAnswer
from consent_bridge.exports import LATER_MEMBERS, Source

__all__ = [
    "APPROVED",
    "PENDING",
    "Connection",
    "ConnectionNotice",
    "Discovery",
    "DurationBounds",
    "Envelope",
    "FoundPerson",
    "FrozenRequest",
    "Grant",
    "MadeConnection",
    "MadeRequest",
    "PeoplePage",
    "Processing",
    "ProvenReceipt",
    "Receipt",
    "RequestPage",
    "Runtime",
    "ScopeEntry",
    "Slice",
    "Status",
    "as_json",
    "build",
]

Record = TypeVar("Record")

PENDING = "pending"
APPROVED = "approved"


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
    # path → {"from", "rule", "rule_version"} of what is an answer in place of a value; it may be "cannot_say"
    derived: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Receipt:
    """The signed proof of one event, its claims by its own signature."""

    receipt_id: str
    jws: str
    claims: dict[str, Any]


@dataclass(frozen=True)
class ProvenReceipt:
    """A receipt whose event the public log has, in a checkpoint that fits what this reader saw of the log before.

    `entry` is the event's entry in the app's chain, `index` its place in the log, `size` that of the checkpoint.
    """

    receipt: Receipt
    entry: Entry
    index: int
    size: int
    cosigned_by: tuple[str, ...]


def as_json(record: Any) -> dict[str, Any]:
    """A record as the JSON object it stands for, without an etag and those of LATER_MEMBERS that are not there.

    `build` makes the record of it again, also in another process.
    """
    return dataclasses.asdict(record, dict_factory=_members)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    omitted = {name for name, value in pairs if not value and (name == "etag" or name in LATER_MEMBERS)}
    return {name: value for name, value in pairs if name not in omitted}


def build(kind: type[Record], body: object, where: str = "the answer") -> Record:
    """A record out of a JSON object; members that we do not know are passed over, a missing or odd one is BadAnswer."""
    if not isinstance(body, Mapping):
        raise BadAnswer(f"{where} is not an object")
    hints = get_type_hints(kind)
    optional = {
        member.name
        for member in dataclasses.fields(cast("Any", kind))
        if (member.default, member.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)
    }
    values: dict[str, Any] = {}
    for name, hint in hints.items():
        if name not in body:
            if name in optional:
                continue
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
