"""What a developer's program says in headers (contract 1.2, 1.3 and 1.5)."""

import re
from contextlib import suppress

from django.http import HttpRequest

from common.admission.queries import invalid_member
from common.operations import header_parameter

CLIENT_HINT = header_parameter(
    "X-Client-Hint",
    "Whatever tells your own callers apart, such as a session's name: the limit on unknown people is then that "
    "caller's, and your app's other callers keep theirs. Only some bits of a keyed hash are kept.",
)
_SHORT_TEXT = re.compile(r"[^\x00-\x1f\x7f]{1,128}\Z")


def idempotency_key(request: HttpRequest) -> str | None:
    """The `Idempotency-Key` header, or None."""
    return _short_header(request, "Idempotency-Key", "idempotency_key")


def client_hint(request: HttpRequest) -> str:
    """The `X-Client-Hint` header: whatever tells the app's own callers apart; empty without one."""
    return _short_header(request, "X-Client-Hint", "client_hint") or ""


def _short_header(request: HttpRequest, name: str, code: str) -> str | None:
    value: str | None = request.META.get(f"HTTP_{name.upper().replace('-', '_')}")
    if value is None:
        return None
    with suppress(UnicodeError):  # what is no UTF-8 stays the Latin-1 that WSGI hands header bytes over as (PEP 3333)
        value = value.encode("latin-1").decode()
    if not _SHORT_TEXT.match(value):  # granian hands over one with other bytes than ASCII as an empty text
        raise invalid_member(name, code, "1 to 128 characters of ASCII without control characters.")
    return value


def prefers_jose(request: HttpRequest) -> bool:
    """Whether `Accept` prefers application/jose over JSON. Wildcards alone mean JSON."""
    weights = {"application/jose": 0.0, "application/json": 0.0}
    for part in request.META.get("HTTP_ACCEPT", "").lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        if kind in weights:
            weights[kind] = max(weights[kind], _weight(parameters))
    return weights["application/jose"] > weights["application/json"]


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            return float(parameter[2:]) if re.fullmatch(r"q=[01](\.[0-9]{0,3})?", parameter) else 0.0
    return 1.0
