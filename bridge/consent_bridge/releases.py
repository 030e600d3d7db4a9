"""A release's manifest, read strictly: which files and policies whoever released signed, and for which pages."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consent_bridge import notes
from consent_bridge.encoding import parse_object
from consent_bridge.entries import Entry, read_entry
from consent_bridge.errors import Refused, shown
from consent_bridge.notes import ED25519, VerifierKey

FORMAT = 1
RELEASE_PATH = "/.well-known/consent-release.json"
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?\Z")

Policy = Mapping[str, frozenset[str]]  # directive → its sources


@dataclass(frozen=True)
class PageKind:
    """Pages that lie under one address: their policy, and whether each script and style carries its hash."""

    name: str
    under: str
    policy: Policy
    integrity: bool


@dataclass(frozen=True)
class Manifest:
    """What was released. `sha256` is of the text that was signed, in hexadecimal; so are the hashes of `assets`."""

    version: str
    commit: str
    sha256: str
    static_url: str
    assets: Mapping[str, str]
    pages: Sequence[PageKind]
    minimum_client: str

    def kind_of(self, path: str) -> PageKind:
        """The kind of the page at this path: the one under the longest address that begins it."""
        fitting = [kind for kind in self.pages if path.startswith(kind.under)]
        return max(fitting, key=lambda kind: len(kind.under))

    def digest_of(self, path: str) -> str | None:
        """The hash of what is served at this path; None where the release has nothing there."""
        inside = path.startswith(self.static_url)
        return self.assets.get(path.removeprefix(self.static_url)) if inside else None


def read_manifest(note: str, keys: Sequence[VerifierKey]) -> Manifest:
    """The manifest in a note that one of these keys signed."""
    text, signatures = notes.split_note(note)
    found = [(key, raw[4:]) for key in keys for name, raw in signatures if (name, raw[:4]) == (key.name, key.key_id)]
    if not found:
        raise Refused("no key of this release's releaser signed the manifest", member="signature")
    for key, signature in found:
        if key.kind != ED25519:
            raise Refused(f"{shown(key.name)} is no release key", member="signature")
        notes.verify(key, signature, text.encode())
    members = parse_object(text.encode(), "the manifest")
    if members.get("format") != FORMAT:
        raise Refused("the manifest is of a form that this version does not know", member="format")
    try:
        return Manifest(
            version=_text(members["version"]),
            commit=_text(members["commit"]),
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            static_url=_text(members["static_url"]),
            assets=_assets(members["assets"]),
            pages=[_kind(name, kind) for name, kind in members["pages"].items()],
            minimum_client=_text(members["minimum_client"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Refused("the manifest lacks a member, or one is of another form") from error


def read_policy(text: str) -> Policy:
    """A Content-Security-Policy; of a directive that is given twice the first counts, as in browsers."""
    found: dict[str, frozenset[str]] = {}
    for part in text.split(";"):
        name, *sources = part.split()[:1000] or [""]
        if name:
            found.setdefault(name.lower(), frozenset(sources))
    return found


def entered(answer: Mapping[str, Any], manifest: Manifest) -> Entry | None:
    """The entry by which the deployment says in its log that it serves this release; None where there is none yet."""
    if answer.get("entry") is None:
        return None
    entry = read_entry(answer["entry"])
    named = (entry.facts or {}).get("manifest_sha256")
    if entry.kind != "release" or named != manifest.sha256:
        raise Refused("the entry in the log is of another release", member="entry")
    return entry


def is_older(version: str, than: str) -> bool:
    """Whether one version of a client comes before another; Refused where one of them cannot be read."""
    return _order(version) < _order(than)


def _order(version: str) -> tuple[int, int, int, str, int]:
    found = _VERSION.match(version)
    if found is None:
        raise Refused(f"{shown(version)} is no version of a client", member="minimum_client")
    stage = found[4] or "release"  # sorts behind a, b and rc
    return int(found[1]), int(found[2]), int(found[3]), stage, int(found[5] or 0)


def _assets(digests: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(digest, str) and _HASH.match(digest) for digest in digests.values()):
        raise ValueError("a hash is none")
    return dict(digests)


def _kind(name: str, members: Mapping[str, Any]) -> PageKind:
    return PageKind(name, _text(members["under"]), read_policy(_text(members["policy"])), members["integrity"] is True)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value
