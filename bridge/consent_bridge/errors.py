"""What can go wrong on the client's side, as classes a caller can tell apart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


class BridgeError(Exception):
    """The base of every error that this package raises on purpose; its text is one line, fit for a log."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the text and the members, since `__init__` takes other arguments."""
        return _restored, (type(self), self.args), vars(self)


def _restored(kind: type[BridgeError], args: tuple[Any, ...]) -> BridgeError:
    return kind.__new__(kind, *args)


class Refused(BridgeError):
    """Sealed data, a key or a body that is not what it has to be; `member` names what differs, where one does."""

    def __init__(self, reason: str, *, member: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.member = member


class KeyRefused(Refused):
    """A connector key, a vault key or a secret that cannot be used."""


class CannotOpen(Refused):
    """The header is in order, but the key is not the right one or the bytes were changed."""


class Unreachable(BridgeError):
    """The server did not answer, or not in time."""


class BadAnswer(BridgeError):
    """The server answered something that is not the contract's: a redirect, no JSON, a member missing, too much."""


class WaitTimeout(BridgeError):
    """The person has not decided within the time that the caller was ready to wait."""


@dataclass(frozen=True)
class FieldError:
    """One field of a body or query that does not fit."""

    field: str
    code: str
    message: str


class Problem(BridgeError):
    """An error answer of the server (RFC 9457): `code` is stable, `detail` is for people."""

    def __init__(
        self,
        code: str,
        status: int,
        detail: str = "",
        *,
        trace_id: str = "",
        errors: tuple[FieldError, ...] = (),
        extra: dict[str, object] | None = None,
        retry_after: float | None = None,
    ) -> None:
        fields = "; ".join(f"{error.field}: {error.message}" for error in errors)
        parts = [f"{code} ({status})", detail, fields]
        super().__init__(": ".join(one_line(part) for part in parts if part))
        self.code = code
        self.status = status
        self.detail = detail
        self.trace_id = trace_id
        self.errors = errors
        self.extra = extra or {}
        self.retry_after = retry_after


def one_line(text: str, limit: int = 400) -> str:
    """Foreign text as it may stand in a log or on a terminal: one line, no controls, bounded."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    return clean if len(clean) <= limit else clean[:limit] + "…"


def shown(value: object, limit: int = 80) -> str:
    """A foreign value as it may stand in a reason: JSON in ASCII, bounded."""
    text = json.dumps(value, default=str)
    return text if len(text) <= limit else text[:limit] + "…"
