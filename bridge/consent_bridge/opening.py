"""From what was asked to what came back: every member that names the request is compared before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from consent_bridge.errors import KeyRefused, Refused
from consent_bridge.exports import ExportHeader, open_export, origin_of
from consent_bridge.keys import thumbprint
from consent_bridge.results import AskedConsent, Envelope, Slice

_FROZEN = ("user_id", "scope", "connector_key_id", "connector_fingerprint", "access_duration")


def check_asked(asked: AskedConsent, body: Mapping[str, Any]) -> None:
    """The frozen request is the one that we sent."""
    for member in _FROZEN:
        if member in body:
            compare(member, getattr(asked, member), body[member], "the frozen request")


def check_key(asked: AskedConsent, key: Mapping[str, Any]) -> None:
    """The private key is the one that the request named; found out before a read is counted."""
    if thumbprint(key) != asked.connector_fingerprint:
        raise KeyRefused("this is not the key that the request named", member="connector_fingerprint")


def open_envelope(
    envelope: Envelope, asked: AskedConsent, key: Mapping[str, Any], *, seen_revision: int = 0, etag: str = ""
) -> Slice:
    """A fetched export, opened: header, content and envelope all have to say what was asked for."""
    for member in ("request_id", "user_id", "scope", "connector_key_id"):
        compare(member, getattr(envelope, member), getattr(asked, member), "the answer")
    if envelope.revision < seen_revision:
        raise Refused(
            f"revision {envelope.revision} is lower than {seen_revision}, which was seen before", member="revision"
        )
    content = open_export(envelope.jwe, key, _expected(asked, envelope.revision))
    compare("approved_attributes", set(envelope.approved_attributes), set(content.approved_attributes), "the answer")
    shared = {name: value for name, value in asdict(envelope).items() if name in Slice.__dataclass_fields__}
    opened = {
        "approved_attributes": content.approved_attributes,
        "data": content.data,
        "sources": content.sources,
        "sealed_at": content.sealed_at,
    }
    return Slice(**{**shared, **opened}, etag=etag)


def _expected(asked: AskedConsent, revision: int) -> ExportHeader:
    return ExportHeader(
        kid=asked.connector_key_id,
        iss=origin_of(asked.issuer),
        sub=asked.user_id,
        aud=asked.app_id,
        request_id=asked.request_id,
        scope=asked.scope,
        revision=revision,
        request_digest=asked.request_digest,
    )


def compare(member: str, found: object, expected: object, where: str) -> None:
    """Refused, naming the member, where the two differ."""
    if found != expected:
        raise Refused(f"{where}'s {member} is not the one that was asked for", member=member)
