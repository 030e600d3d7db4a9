"""From what was asked to what came back: every member that names the request is compared before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from consent_bridge.approvals import KeyPins, check_approval
from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.exports import LATER_MEMBERS, ExportHeader, open_export, origin_of, request_digest
from consent_bridge.keys import public_half, thumbprint
from consent_bridge.results import Envelope, FrozenRequest, MadeRequest, Slice, as_json
from consent_bridge.review import accepted_answers, covers

_DEFAULTS = {"access_duration": 86400, "refresh_policy": "snapshot"}
_OURS = ("user_id", "scope", "purpose", "access_duration", "required_attributes", "optional_attributes", "max_reads",
         "refresh_policy", "binding_message")  # fmt: skip
_INVITATIONS = ("sh_", "@")  # ways of naming a person that no answer repeats
_STATED_TWICE = ("request_id", "app_id", "user_id", "scope", "access_duration", "expires_at")


def check_request(request: MadeRequest, body: Mapping[str, Any]) -> None:
    """The request that the person will see is the one that we sent in `body`, and its digest is over exactly that.

    The server alone knows the request's and the app's name and id, the deadline, what the scope covers, and what the
    app calls somebody whom it named by a sharing ID or a handle; all else comes from `body`, so that a digest that fits
    is over our own words.
    """
    frozen = request.request
    for member in _STATED_TWICE:
        compare(member, getattr(request, member), getattr(frozen, member), "the answer")
    compare("connector_key_id", request.connector_key_id, body["connector_key_id"], "the frozen request")
    print_ = thumbprint(body["connector_public_key"])
    compare("connector_fingerprint", request.connector_fingerprint, print_, "the frozen request")
    expected = frozen_request(body, frozen)
    members = as_json(frozen)
    for member in members:
        compare(member, _as_list(members[member]), expected.get(member), "the frozen request")
    for path in frozen.attributes:
        if not covers(request.scope, path):
            raise Refused("the frozen request's attributes are not all in the scope", member="attributes")
    named = [*(frozen.required_attributes or ()), *(frozen.optional_attributes or ())]
    known = {*(named or frozen.attributes), *accepted_answers(members)}
    if frozen.derived is not None and not frozen.derived.keys() <= known:
        raise Refused("the frozen request's derived names what was not asked for", member="derived")
    if request_digest(expected) != request.request_digest:
        raise Refused("request_digest is not the digest of what was asked for", member="request_digest")


def frozen_request(body: Mapping[str, Any], facts: FrozenRequest) -> dict[str, Any]:
    """What the digest is over: the members of `body` with the contract's defaults, and what the server alone knows."""
    own = {member: _as_list(body.get(member)) for member in _OURS}
    if str(own["user_id"]).startswith(_INVITATIONS):
        own["user_id"] = facts.user_id
    own |= {member: default for member, default in _DEFAULTS.items() if own[member] is None}
    later = {member: _as_list(body[member]) for member in LATER_MEMBERS if body.get(member) is not None}
    if facts.derived is not None:
        later["derived"] = facts.derived
    return {
        "request_id": facts.request_id,
        "app_id": facts.app_id,
        "app_name": facts.app_name,
        "attributes": list(facts.attributes),
        "connector_thumbprint": thumbprint(body["connector_public_key"]),
        "expires_at": facts.expires_at,
        **own,
        **later,
    }


def _as_list(value: object) -> object:
    """As it comes back out of JSON."""
    if isinstance(value, Mapping):
        return {name: _as_list(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


def check_key(request: MadeRequest, key: Mapping[str, Any]) -> None:
    """The private key is the one that the request named; found out before a read is counted. Errors: KeyRefused."""
    if thumbprint(public_half(key)) != request.connector_fingerprint:
        raise KeyRefused("this is not the key that the request named", member="connector_fingerprint")


def open_envelope(
    envelope: Envelope,
    request: MadeRequest,
    key: Mapping[str, Any],
    *,
    seen_revision: int = 0,
    etag: str = "",
    pins: KeyPins | None = None,
) -> Slice:
    """A fetched export, opened: approval, header, content and envelope all have to say what was asked for.

    `pins` hold the key of each person from one export to the next; without them any key is taken that signed this one.
    """
    for member in ("request_id", "user_id", "scope", "connector_key_id"):
        compare(member, getattr(envelope, member), getattr(request, member), "the answer")
    if envelope.revision < seen_revision:
        raise Refused(
            f"revision {envelope.revision} is lower than {seen_revision}, which was seen before", member="revision"
        )
    pins = KeyPins() if pins is None else pins
    check_approval(envelope, request, pins)
    content = open_export(envelope.jwe, key, _expected(request, envelope.revision))
    derived = {
        path: made for path, made in (request.request.derived or {}).items() if path in content.approved_attributes
    }
    compare("derived", content.derived, derived, "the content")
    compare("approved_attributes", set(envelope.approved_attributes), set(content.approved_attributes), "the answer")
    shared = {name: value for name, value in asdict(envelope).items() if name in Slice.__dataclass_fields__}
    opened = {
        "approved_attributes": content.approved_attributes,
        "data": content.data,
        "sources": content.sources,
        "sealed_at": content.sealed_at,
        "derived": content.derived,
    }
    return Slice(**{**shared, **opened}, etag=etag)


def _expected(request: MadeRequest, revision: int) -> ExportHeader:
    return ExportHeader(
        kid=request.connector_key_id,
        iss=origin_of(request.issuer),
        sub=request.user_id,
        aud=request.app_id,
        request_id=request.request_id,
        scope=request.scope,
        revision=revision,
        request_digest=request.request_digest,
    )


def compare(member: str, found: object, expected: object, where: str) -> None:
    """Refused, naming the member, where the two differ."""
    if found != expected:
        raise Refused(f"{where}'s {member} is not the one that was asked for", member=member)
