"""A sealed archive of a vault: what the server keeps of it in one file, opened offline with a passphrase or code.

`{"format": "consent-archive/1", "user_id", "wrappers", "segments"}`. Nothing in the file is believed: each protected
header is compared with the place that its entry claims, and all of them with one person and one vault key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from consent_bridge import jwe
from consent_bridge.encoding import parse_object
from consent_bridge.errors import CannotOpen, KeyRefused, Refused, shown
from consent_bridge.segments import PROFILE, SegmentHeader, open_segment
from consent_bridge.wrappers import KINDS, PROFILES, Kind, VaultKey, read_recovery_code, unwrap

FORMAT = "consent-archive/1"
MAX_ARCHIVE_BYTES = 128 * 1024 * 1024
MAX_WRAPPERS = 20
MAX_SEGMENTS = 10_000
_MEMBERS = ("format", "user_id", "wrappers", "segments")
_WRAPPER_MEMBERS = ("kind", "label", "credential_id", "jwe", "created_at")
_SEGMENT_MEMBERS = ("domain", "segment_id", "content_revision", "attributes", "jwe", "updated_at")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")


@dataclass(frozen=True)
class ArchivedWrapper:
    """One way to the vault key."""

    kind: Kind
    jwe: str


@dataclass(frozen=True)
class ArchivedSegment:
    """One sealed segment, and the names of the attributes that it says are in it."""

    header: SegmentHeader
    attributes: tuple[str, ...]
    jwe: str


@dataclass(frozen=True)
class Archive:
    """An archive whose every protected header fits; nothing is opened yet."""

    user_id: str
    key_id: str
    wrappers: tuple[ArchivedWrapper, ...]
    segments: tuple[ArchivedSegment, ...]


def read_archive(data: bytes) -> Archive:
    """Everything that can be checked without a secret; raises `Refused` with the entry that does not fit."""
    if len(data) > MAX_ARCHIVE_BYTES:
        raise Refused(f"the archive is larger than {MAX_ARCHIVE_BYTES} bytes")
    body = parse_object(data, "the archive")
    if body.get("format") != FORMAT:
        raise Refused(f"the archive's format is {shown(body.get('format'))}, not {shown(FORMAT)}", member="format")
    _exactly(body, _MEMBERS, "the archive")
    user_id = _text(body["user_id"], "the archive's user_id")
    wrappers = _entries(body["wrappers"], "wrappers", MAX_WRAPPERS)
    if not wrappers:
        raise Refused("the archive holds no way to unlock it", member="wrappers")
    segments = _entries(body["segments"], "segments", MAX_SEGMENTS)
    read = [_wrapper(entry, user_id, index) for index, entry in enumerate(wrappers)]
    key_ids = {key_id for _, key_id in read}
    if len(key_ids) > 1:
        raise Refused("the archive's wrappers are of more than one vault key", member="kid")
    key_id = key_ids.pop()
    found = tuple(_segment(entry, user_id, key_id, index) for index, entry in enumerate(segments))
    places = Counter(f"{segment.header.domain}.{segment.header.segment_id}" for segment in found)
    if twice := next((place for place, count in places.items() if count > 1), None):
        raise Refused(f"the archive holds {twice} twice", member="segments")
    return Archive(user_id, key_id, tuple(wrapper for wrapper, _ in read), found)


def unlock_archive(archive: Archive, secret: str) -> VaultKey:
    """The vault key, by a recovery code or a passphrase: what looks like a code is tried as one first."""
    kinds = {wrapper.kind for wrapper in archive.wrappers}
    if not kinds & {"passphrase", "recovery"}:
        raise KeyRefused("this archive opens with a passkey alone, which only the site that made it can ask for")
    for kind in ("recovery", "passphrase"):
        if kind == "recovery" and not _is_recovery_code(secret):
            continue
        for wrapper in archive.wrappers:
            if wrapper.kind != kind:
                continue
            try:
                return unwrap(wrapper.jwe, wrapper.kind, secret, user_id=archive.user_id, key_id=archive.key_id)
            except CannotOpen:
                continue
    raise KeyRefused("this passphrase or recovery code does not open the archive")


def open_archive(archive: Archive, secret: str) -> dict[str, Any]:
    """`{"user_id", "data": {domain: {segment: {attribute: value}}}}`; one segment that does not fit refuses all."""
    key = unlock_archive(archive, secret)
    data: dict[str, dict[str, dict[str, Any]]] = {}
    for segment in archive.segments:
        header = segment.header
        values = _opened(segment, key)
        data.setdefault(header.domain, {})[header.segment_id] = values
    return {"user_id": archive.user_id, "data": data}


def _opened(segment: ArchivedSegment, key: VaultKey) -> dict[str, Any]:
    place = f"{segment.header.domain}.{segment.header.segment_id}"
    try:
        values = open_segment(segment.jwe, key.secret, segment.header)
    except Refused as refused:
        raise type(refused)(f"{place}: {refused.reason}", member=refused.member) from refused
    if strange := next((name for name in values if not _NAME.match(name)), None):
        raise Refused(f"{place}: {shown(strange)} is no name of an attribute", member="attributes")
    if sorted(values) != sorted(segment.attributes):
        raise Refused(f"{place}: the attributes inside are not those that the archive names", member="attributes")
    return values


def _is_recovery_code(secret: str) -> bool:
    try:
        read_recovery_code(secret)
    except KeyRefused:
        return False
    return True


def _wrapper(entry: Mapping[str, Any], user_id: str, index: int) -> tuple[ArchivedWrapper, str]:
    what = f"wrapper {index + 1}"
    _exactly(entry, _WRAPPER_MEMBERS, what)
    kind = entry["kind"]
    if kind not in KINDS:
        raise Refused(f"{what}: {shown(kind)} is no kind of wrapper", member="kind")
    header = _header(entry["jwe"], PROFILES[kind], {"sub": user_id, "kind": kind}, what)
    return ArchivedWrapper(kind, entry["jwe"]), header["kid"]


def _segment(entry: Mapping[str, Any], user_id: str, key_id: str, index: int) -> ArchivedSegment:
    what = f"segment {index + 1}"
    _exactly(entry, _SEGMENT_MEMBERS, what)
    for member in ("domain", "segment_id"):
        if not isinstance(entry[member], str) or not _NAME.match(entry[member]):
            raise Refused(f"{what}: {member} {shown(entry[member])} is no name", member=member)
    names = entry["attributes"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Refused(f"{what}: attributes is not a list of names", member="attributes")
    jwe.counter("content_revision", entry["content_revision"])
    expected = SegmentHeader(key_id, user_id, entry["domain"], entry["segment_id"], entry["content_revision"])
    _header(entry["jwe"], PROFILE, asdict(expected), f"{expected.domain}.{expected.segment_id}")
    return ArchivedSegment(expected, tuple(names), entry["jwe"])


def _header(sealed: object, profile: jwe.Profile, expected: Mapping[str, Any], what: str) -> jwe.Header:
    try:
        header = jwe.read_header(_text(sealed, "jwe"), profile)
        jwe.equal(expected)(header)
    except Refused as refused:
        raise Refused(f"{what}: {refused.reason}", member=refused.member) from refused
    return header


def _entries(value: object, member: str, most: int) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise Refused(f"the archive's {member} is not a list of objects", member=member)
    if len(value) > most:
        raise Refused(f"the archive holds more than {most} {member}", member=member)
    return value


def _exactly(entry: Mapping[str, Any], members: tuple[str, ...], what: str) -> None:
    if absent := next((member for member in members if member not in entry), None):
        raise Refused(f"{what} has no {absent}", member=absent)
    if unknown := sorted(entry.keys() - set(members)):
        raise Refused(f"{what} has a member {shown(unknown[0])}, which does not belong there", member=unknown[0])


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise Refused(f"{what} is not text")
    return value
