"""One line of a file out of the old system: {"user_email", "domain", "jwe", "updated_at"}."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.json_bodies import strict_json
from common.problems import InvalidRequest
from pkm import scopes, sealed

LONGEST = sealed.MAX_SEALED + 4096  # bytes
_MEMBERS = ("user_email", "domain", "jwe", "updated_at")


class BadLine(ValueError):
    """Why a line cannot be imported, for the operator; never what is in it."""


@dataclass(frozen=True)
class Line:
    """What a good line says; `email` in lower case, `updated_at` aware."""

    email: str
    domain: str
    jwe: str
    updated_at: datetime


def parsed(raw: bytes) -> Line:
    """Raises `BadLine`: no JSON object of these texts, no domain's name, no PBES2 JWE, no time with its zone."""
    members = _members(raw)
    if not scopes.is_name(members["domain"]):
        raise BadLine("domain: is not the name of a domain")
    try:
        sealed.check_legacy_header(sealed.read_header(members["jwe"]))
    except sealed.InvalidHeader as unfit:
        raise BadLine(f"jwe: {unfit}") from None
    return Line(
        members["user_email"].strip().lower(), members["domain"], members["jwe"], _moment(members["updated_at"])
    )


def _members(raw: bytes) -> dict[str, str]:
    try:
        members: Any = strict_json(raw)
    except InvalidRequest as refused:
        raise BadLine(refused.detail) from None
    if not isinstance(members, dict):
        raise BadLine("is not a JSON object")
    for member in _MEMBERS:
        if not isinstance(members.get(member), str) or not members[member]:
            raise BadLine(f"{member}: is missing or no text")
    if len(members) != len(_MEMBERS):
        raise BadLine("has members that are not known")
    return members


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        moment.timestamp()
    except (ValueError, OverflowError):
        raise BadLine("updated_at: is not a time") from None
    if moment.tzinfo is None:
        raise BadLine("updated_at: has no time zone")
    return moment
