"""The plain data of the model: what was asked, what came of it, and how it is told. Knows nothing of the service."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

LIVE = ("active", "paused")
DEFAULTS: dict[str, Any] = {
    "access_duration": 86400,
    "requested_expiry": 86400,
    "required_attributes": None,
    "optional_attributes": None,
    "max_reads": None,
    "refresh_policy": "snapshot",
    "binding_message": None,
}
Facts = dict[str, Any]
Place = tuple[str, str]


class Fresh:
    """A name that the service makes: anything with this prefix at the first look, and the very same ever after."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.value: str | None = None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if self.value is None and isinstance(other, str) and other.startswith(f"{self.prefix}_"):
            self.value = other
        return other is not None and self.value == other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return self.value or f"<a new {self.prefix}_…>"

    __str__ = __repr__


@dataclass(frozen=True)
class Answer:
    """What an address should answer: its status, and its whole body or, where it refuses, at least these members."""

    status: int
    body: Facts | str | None = None

    @property
    def refuses(self) -> bool:
        return self.status >= 400


def same(wanted: Any, found: Any, about: str = "") -> None:
    """Raise with what differs, and nothing of what does not."""
    assert wanted == found, f"{about} {_difference(wanted, found)}"


def _difference(wanted: Any, found: Any, path: str = "") -> str:
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted.keys() == found.keys():
        pairs = {name: (wanted[name], found[name]) for name in wanted}
    elif isinstance(wanted, list | tuple) and isinstance(found, list | tuple) and len(wanted) == len(found):
        pairs = dict(enumerate(zip(wanted, found, strict=True)))
    else:
        return f"{path or 'whole'}: wanted {wanted!r}, found {found!r}"
    return "; ".join(_difference(*pair, f"{path}.{name}") for name, pair in pairs.items() if pair[0] != pair[1])


def refusal(status: int, code: str, **members: Any) -> Answer:
    return Answer(status, {"code": code, **members})


def wire(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Export:
    """One sealed revision, and what it has to open to."""

    revision: int
    jwe: str
    data: Facts
    sealed_at: datetime
    signed: Facts = field(default_factory=dict)  # the three members that the vault signed of it
    export_id: Fresh = field(default_factory=lambda: Fresh("exp"))


@dataclass
class Grant:
    """`written` is the status as the database has it; the clock may be ahead of it."""

    approved: list[str]
    starts_at: datetime
    expires_at: datetime
    max_reads: int | None
    exports: list[Export]
    grant_id: Fresh = field(default_factory=lambda: Fresh("grt"))
    written: str = "active"
    reads: int = 0

    def status(self, now: datetime) -> str:
        return "expired" if self.written in LIVE and self.expires_at <= now else self.written

    def is_live(self, now: datetime) -> bool:
        return self.status(now) in LIVE

    @property
    def reads_remaining(self) -> int | None:
        return None if self.max_reads is None else self.max_reads - self.reads

    def body(self, now: datetime) -> Facts:
        return {
            "grant_id": self.grant_id,
            "status": self.status(now),
            "expires_at": wire(self.expires_at),
            "reads": self.reads,
            "reads_remaining": self.reads_remaining,
            "approved_attributes": self.approved,
            "export_revision": self.exports[-1].revision,
        }


@dataclass
class Request:
    """One question of one app; `terms` is its body with the defaults filled in."""

    app: str
    user_id: str
    terms: Facts
    attributes: list[str]
    created_at: datetime
    request_id: Fresh = field(default_factory=lambda: Fresh("req"))
    written: str = "pending"
    decided_at: datetime | None = None
    grant: Grant | None = None
    sequence: int | None = None
    receipts: list[tuple[str, Fresh]] = field(default_factory=list)

    @property
    def scope(self) -> str:
        return str(self.terms["scope"])

    @property
    def expires_at(self) -> datetime:
        return self.created_at + timedelta(seconds=self.terms["requested_expiry"])

    def status(self, now: datetime) -> str:
        return "expired" if self.written == "pending" and self.expires_at <= now else self.written

    def is_open(self, now: datetime) -> bool:
        """Whether anything can still happen to it."""
        return self.status(now) == "pending" or (self.grant is not None and self.grant.is_live(now))

    def add_receipt(self, event: str) -> None:
        self.receipts.append((event, Fresh("rct")))

    @property
    def requested(self) -> list[str]:
        """What its receipts name while nothing is approved: its lists, else all that its scope had."""
        required, optional = self.terms["required_attributes"], self.terms["optional_attributes"]
        return self.attributes if required is None and optional is None else [*(required or []), *(optional or [])]

    def names(self, path: str, kept: set[str]) -> bool:
        """Whether it asks for this attribute: by name, or else with all that its scope covers."""
        required, optional = self.terms["required_attributes"], self.terms["optional_attributes"]
        if required is not None or optional is not None:
            return path in (required or []) or path in (optional or [])
        return path in self.attributes or (self.scope.endswith(".*") and path in kept and covers(self.scope, path))

    def body(self, now: datetime) -> Facts:
        """The status body of contract 1.4."""
        status = self.status(now)
        decided_at = self.expires_at if status == "expired" else self.decided_at
        return {
            "request_id": self.request_id,
            "status": status,
            "user_id": self.user_id,
            "scope": self.scope,
            "interval": 5,
            "created_at": wire(self.created_at),
            "expires_at": wire(self.expires_at),
            "decided_at": wire(decided_at),
            "receipt_id": self.receipts[-1][1] if self.receipts else None,
            "sequence": self.sequence,
            "grant": self.grant.body(now) if self.grant else None,
        }


@dataclass
class Segment:
    """What the person keeps in one place; deleted where `values` is None."""

    values: Facts | None
    revision: int


@dataclass
class Kept:
    """An Idempotency-Key: what it was first used for, and the first answer."""

    body: Any
    answer: Answer
    until: datetime


def covers(scope: str, path: str) -> bool:
    """Whether an attribute, or all of another scope, lies inside this scope."""
    wanted, found = scope.split(".")[1:], path.removeprefix("attr.").split(".")
    return all(mine in ("*", theirs) for mine, theirs in zip(wanted, found, strict=False))


def overlap(one: str, other: str) -> bool:
    return covers(one, other) or covers(other, one)


def segment_of(path: str) -> tuple[str, str]:
    domain, segment, _ = path.split(".")
    return domain, segment
