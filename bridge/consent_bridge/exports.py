"""Exports: the approved slice, sealed to the asking app's own key and bound to one request."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import rfc8785

from consent_bridge import jwe
from consent_bridge.encoding import dump_json, encode_base64url, parse_object
from consent_bridge.errors import Refused, shown
from consent_bridge.keys import check_connector_key, check_private_key, jose_key
from consent_bridge.rules import TERM_RULES

# always there, null where the app gave none
DIGEST_MEMBERS = (
    "request_id",
    "app_id",
    "app_name",
    "user_id",
    "scope",
    "attributes",
    "purpose",
    "connector_thumbprint",
    "access_duration",
    "expires_at",
    "required_attributes",
    "optional_attributes",
    "max_reads",
    "refresh_policy",
    "binding_message",
)
# what the contract gained later is there only where the app gave it; `derived` where it named answers
LATER_MEMBERS = (*(name for name, rules in TERM_RULES.items() if rules.get("x-in-digest")), "derived")
_TYP = "consent-export+jwe"
_CTY = "application/json"
_PLAINTEXT_MEMBERS = ("scope", "approved_attributes", "data", "sources", "sealed_at")
_LATER_PLAINTEXT_MEMBERS = ("derived", "pad")
_PADDED_TO = 256  # bytes: how long a slice is tells nobody what it says
_SOURCE_MEMBERS = frozenset({"domain", "segment_id"})
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z\Z")
_ATTRIBUTE_DEPTH = 3  # domain.segment.attribute


def _ephemeral_key(member: str, value: Any) -> None:
    try:
        check_connector_key(value, tolerate=False)
    except Refused as refused:
        raise Refused(f"header member {member} is refused: {refused.reason}", member=member) from refused


PROFILE = jwe.Profile(
    name="export",
    alg=jwe.ALG_CONNECTOR,
    members={
        "typ": jwe.exactly(_TYP),
        "cty": jwe.exactly(_CTY),
        "kid": jwe.key_name,
        "iss": jwe.text,
        "sub": jwe.text,
        "aud": jwe.text,
        "request_id": jwe.text,
        "scope": jwe.text,
        "revision": jwe.counter,
        "request_digest": jwe.octets(32),
        "epk": _ephemeral_key,
    },
)


@dataclass(frozen=True)
class ExportHeader:
    """What an export is bound to; `iss` is the origin of the consent app."""

    kid: str
    iss: str
    sub: str
    aud: str
    request_id: str
    scope: str
    revision: int
    request_digest: str


@dataclass(frozen=True)
class Source:
    """A segment that an export was taken from. No app is told the revision: one counter for all of them links them."""

    domain: str
    segment_id: str
    content_revision: int | None = None


@dataclass(frozen=True)
class ExportContent:
    """The plaintext of an export; `data` is domain → segment → attribute → value.

    `derived` has {"from", "rule", "rule_version"} of each path whose value is an answer in place of another's.
    """

    scope: str
    approved_attributes: tuple[str, ...]
    data: dict[str, Any]
    sources: tuple[Source, ...]
    sealed_at: str
    derived: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The content as it is sealed."""
        content = {
            "scope": self.scope,
            "approved_attributes": list(self.approved_attributes),
            "data": self.data,
            "sources": [
                {name: value for name, value in asdict(one).items() if value is not None} for one in self.sources
            ],
            "sealed_at": self.sealed_at,
        }
        return {**content, "derived": self.derived} if self.derived else content


def request_digest(request: Mapping[str, Any]) -> str:
    """Base64url SHA-256 of the RFC 8785 form of a request: DIGEST_MEMBERS, and of LATER_MEMBERS those given."""
    if missing := [member for member in DIGEST_MEMBERS if member not in request]:
        raise Refused(f"the request has no {missing[0]}", member=missing[0])
    if unknown := sorted(request.keys() - {*DIGEST_MEMBERS, *LATER_MEMBERS}):
        raise Refused(f"the request has an unknown member {shown(unknown[0])}", member=unknown[0])
    try:
        canonical = rfc8785.dumps(dict(request))
    except (ValueError, RecursionError) as error:
        raise Refused("the request has no canonical form") from error
    return encode_base64url(hashlib.sha256(canonical).digest())


def origin_of(url: str) -> str:
    """Scheme, host and port of an address: what an export's `iss` holds for the consent app at that address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise Refused(f"{shown(url)} is not an address", member="iss") from error
    if parts.scheme not in ("http", "https") or not host:
        raise Refused(f"{shown(url)} is not an http or https address", member="iss")
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" if port in (None, default) else f"{parts.scheme}://{host}:{port}"


def seal_export(content: ExportContent, connector_public_key: object, header: ExportHeader) -> str:
    """The export as a compact JWE to the app's key; refuses content that a reader would refuse."""
    checked = check_content(content.as_json(), header.scope)
    key = jose_key(check_connector_key(connector_public_key))
    members = {"typ": _TYP, "cty": _CTY, **asdict(header)}
    content = replace(checked, sources=tuple(Source(one.domain, one.segment_id) for one in checked.sources))
    answers = [value for path, value, _ in _paths(content.data) if path in content.derived]
    return jwe.seal(members, _padded(dump_json(content.as_json(), "the export"), answers), key, PROFILE)


def _padded(plaintext: bytes, answers: Iterable[object]) -> bytes:
    """A JSON object with a last member of blanks: as long as if each answer had _PADDED_TO bytes, and a multiple of it.

    A multiple alone would tell "yes" from "no" where one byte more begins the next.
    """
    before, after = plaintext[:-1] + b',"pad":"', b'"}'
    room = sum(max(0, _PADDED_TO - len(dump_json(answer, "an answer"))) for answer in answers)
    return before + b" " * (room + -(len(before) + len(after) + room) % _PADDED_TO) + after


def open_export(sealed: str, private_key: object, expected: ExportHeader) -> ExportContent:
    """The approved slice; refuses an export that is not for exactly this request, naming the member that differs."""
    return open_export_where(sealed, private_key, jwe.equal(asdict(expected)))


def open_export_where(sealed: str, private_key: object, expectation: jwe.Expectation) -> ExportContent:
    """The same with a caller's own comparison; what it does not compare may be any export to this key."""
    private = check_private_key(private_key)
    header = jwe.read_header(sealed, PROFILE)
    expectation(header)
    if header["epk"]["crv"] != private["crv"]:
        raise Refused(f"header member epk is on {header['epk']['crv']}, the key on {private['crv']}", member="epk")
    plaintext = jwe.open_sealed(sealed, jose_key(private), "export")
    return check_content(parse_object(plaintext, "the export's content"), header["scope"])


def check_content(content: Mapping[str, Any], scope: str) -> ExportContent:
    """The plaintext with every rule checked: its members, its scope, and `data` within the approved attributes."""
    for member in _PLAINTEXT_MEMBERS:
        if member not in content:
            raise Refused(f"the content has no {member}", member=member)
    if unknown := sorted(content.keys() - {*_PLAINTEXT_MEMBERS, *_LATER_PLAINTEXT_MEMBERS}):
        raise Refused(f"the content has an unknown member {shown(unknown[0])}", member=unknown[0])
    if content["scope"] != scope:
        raise Refused(f"the content's scope is {shown(content['scope'])}, not {shown(scope)}", member="scope")
    approved = _approved(content["approved_attributes"])
    _check_data(content["data"], approved)
    if not isinstance(content["sealed_at"], str) or not _TIME.match(content["sealed_at"]):
        raise Refused("the content's sealed_at is not a time in UTC", member="sealed_at")
    if str(content.get("pad", "")).strip(" "):
        raise Refused("the content's pad is not blank", member="pad")
    return ExportContent(
        scope=scope,
        approved_attributes=approved,
        data=content["data"],
        sources=tuple(_sources(content["sources"])),
        sealed_at=content["sealed_at"],
        derived=_derived(content.get("derived", {}), approved),
    )


def _derived(value: Any, approved: Iterable[str]) -> dict[str, Any]:
    if not isinstance(value, dict) or not value.keys() <= set(approved):
        raise Refused("the content's derived names something that was not approved", member="derived")
    return value


def _approved(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        raise Refused("the content's approved_attributes is not a list of paths", member="approved_attributes")
    if len(set(value)) != len(value):
        raise Refused("the content's approved_attributes names a path twice", member="approved_attributes")
    return tuple(value)


def _check_data(data: Any, approved: Iterable[str]) -> None:
    if not isinstance(data, dict):
        raise Refused("the content's data is not an object", member="data")
    allowed = set(approved)
    stems = {".".join(path.split(".")[:depth]) for path in allowed for depth in range(1, _ATTRIBUTE_DEPTH)}
    for path, value, depth in _paths(data):
        if path not in (allowed if depth == _ATTRIBUTE_DEPTH else stems):
            raise Refused(f"data holds {shown(path)}, which was not approved", member="data")
        if depth < _ATTRIBUTE_DEPTH and not isinstance(value, dict):
            raise Refused(f"data's {shown(path)} is not an object", member="data")


def _paths(data: Mapping[str, Any], stem: str = "", depth: int = 1) -> Iterator[tuple[str, Any, int]]:
    for name, value in data.items():
        path = f"{stem}{name}"
        yield path, value, depth
        if depth < _ATTRIBUTE_DEPTH and isinstance(value, dict):
            yield from _paths(value, f"{path}.", depth + 1)


def _sources(value: Any) -> Iterator[Source]:
    if not isinstance(value, list):
        raise Refused("the content's sources is not a list", member="sources")
    for item in value:
        if not isinstance(item, dict) or item.keys() - {"content_revision"} != _SOURCE_MEMBERS:
            raise Refused("a source is not {domain, segment_id}", member="sources")
        domain, segment_id, revision = item["domain"], item["segment_id"], item.get("content_revision")
        if not isinstance(domain, str) or not isinstance(segment_id, str):
            raise Refused("a source's domain or segment_id is not text", member="sources")
        if "content_revision" in item and (not isinstance(revision, int) or isinstance(revision, bool) or revision < 1):
            raise Refused("a source's content_revision is not a positive whole number", member="sources")
        yield Source(domain=domain, segment_id=segment_id, content_revision=revision)


def pick(segments: Mapping[tuple[str, str], Mapping[str, Any]], paths: Iterable[str]) -> dict[str, Any]:
    """The `data` of an export: of the given paths exactly those that exist in the opened segments."""
    data: dict[str, Any] = {}
    for path in paths:
        domain, segment_id, attribute = split_path(path)
        values = segments.get((domain, segment_id), {})
        if attribute in values:
            data.setdefault(domain, {}).setdefault(segment_id, {})[attribute] = values[attribute]
    return data


def split_path(path: str) -> tuple[str, str, str]:
    """An attribute's path in its three parts."""
    parts = path.split(".")
    if len(parts) != _ATTRIBUTE_DEPTH or not all(parts):
        raise Refused(f"{shown(path)} is not domain.segment.attribute")
    return parts[0], parts[1], parts[2]
