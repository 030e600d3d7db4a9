"""The manifest of a release: what is served to browsers, and under which policies.

Read by the settings, so that nothing here needs Django.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.jwk import OKPKey

from consent.log import notes

FORMAT = 1
VERSION = "0.1.0"  # of this service, as in pyproject.toml
MINIMUM_CLIENT = "0.1.0b1"  # the oldest consent-bridge that can check a deployment of it
# Django's own scripts build markup from strings, so the admin alone may have one policy: static/js/admin-policy.js
STAFF_POLICY = {"trusted-types": ["default"]}
COLLECTED = "staticfiles.json"  # what `collectstatic` writes: names and their hashed names
_MODULES = re.compile(r"\A(?:js|vendor)/(?!src/).+\.[0-9a-f]{12}\.js\Z")
_FIRST_IMPORTS = re.compile(r'(?:^|;)(?:import|export)\b(?:[^;"]*\bfrom)?\s*"(\.[^"]+)"', re.MULTILINE)
_IMPORTS = re.compile(r'\b(?:from|import)\s*\(?\s*"(\.[^"]+)"')
NAME = "consent-runtime/release"  # of the key, where nobody named it


@dataclass(frozen=True)
class Release:
    """A manifest as it was signed: the note, and what its text says."""

    note: str

    @cached_property
    def text(self) -> str:
        """What is signed: canonical JSON (RFC 8785) and a line break."""
        return self.note.rpartition("\n\n")[0] + "\n"

    @cached_property
    def members(self) -> dict[str, Any]:
        """Raises ValueError where the text is no JSON object."""
        members = json.loads(self.text)
        if not isinstance(members, dict) or members.get("format") != FORMAT:
            raise ValueError("the release's manifest is of no known form")
        return members

    @cached_property
    def sha256(self) -> str:
        """The hash by which the log and the pages name this manifest, in hexadecimal: of what is signed."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def version(self) -> str:
        return str(self.members["version"])

    @property
    def commit(self) -> str:
        return str(self.members["commit"])

    @property
    def modules(self) -> list[str]:
        """What other modules import, by the names as they are served."""
        modules: list[str] = self.members["modules"]
        return modules

    @property
    def assets(self) -> Mapping[str, str]:
        """Path under the static address → SHA-256 in hexadecimal."""
        assets: dict[str, str] = self.members["assets"]
        return assets


def read(path: Path) -> Release | None:
    """The release whose manifest lies there; None where none does. Raises ValueError where it is none."""
    try:
        release = Release(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    if not release.members:
        raise ValueError(f"{path} says nothing")
    return release


def digests(root: Path) -> dict[str, str]:
    """What `collectstatic` gathered for this version, under both of its names: path → SHA-256 in hexadecimal."""
    named: dict[str, str] = json.loads((root / COLLECTED).read_text())["paths"]
    return {name: digest_of(root / name) for name in sorted({*named, *named.values()})}


def imported_modules(root: Path, assets: Mapping[str, str]) -> list[str]:
    """What the modules among these import; the others stand in pages, by tags that carry their hashes themselves."""
    return sorted(
        {each for name in assets if _MODULES.match(name) for each in imports_of(root, name, _IMPORTS) if each in assets}
    )


def imports_of(root: Path, name: str, pattern: re.Pattern[str] = _FIRST_IMPORTS) -> list[str]:
    """What this file imports, by the names as they are served, in the order in which it does.

    Of what a module needs before it begins; with `_IMPORTS` of what it imports later, too.
    """
    path = root / name
    text = path.read_text("utf-8") if path.is_file() else ""
    return [normpath(f"{dirname(name)}/{found}") for found in pattern.findall(text)]


def digest_of(path: Path) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differences(release: Release, root: Path) -> Iterator[str]:
    """Each file of the release that is missing here or another, also in the compressed form that is served."""
    for name, wanted in release.assets.items():
        path = root / name
        if not path.is_file():
            yield f"{name} is missing"
        elif digest_of(path) != wanted:
            yield f"{name} is not the release's"
        elif _unpacked(path.with_name(f"{path.name}.gz")) not in (None, wanted):
            yield f"{name}.gz holds something else than {name}"
        elif path.with_name(f"{path.name}.br").exists():
            yield f"{name}.br is a form that was not released"


def _unpacked(path: Path) -> str | None:
    """The SHA-256 of what is compressed here; None where there is no such file."""
    if not path.exists():
        return None
    try:
        return hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()
    except (OSError, EOFError):
        return "unreadable"


def made(
    *,
    version: str,
    commit: str,
    assets: Mapping[str, str],
    modules: Sequence[str],
    pages: Mapping[str, Any],
    static_url: str,
) -> str:
    """The text of a manifest: canonical JSON and a line break.

    `pages` has of each kind of page its Content-Security-Policy, and the address under which it lies.
    """
    members: dict[str, Any] = {
        "format": FORMAT,
        "version": version,
        "commit": commit,
        "static_url": static_url,
        "assets": dict(assets),
        "modules": list(modules),
        "pages": dict(pages),
        "minimum_client": MINIMUM_CLIENT,
    }
    return rfc8785.dumps(members).decode() + "\n"


def integrity(digest: str) -> str:
    """A SHA-256 in hexadecimal, as browsers take it."""
    return f"sha256-{base64.b64encode(bytes.fromhex(digest)).decode()}"


def import_map(assets: Mapping[str, str], modules: Sequence[str], static_url: str) -> str:
    """The import map of every page: what each module has to be that another one imports."""
    wanted = {f"{static_url}{name}": integrity(assets[name]) for name in modules}
    return json.dumps({"integrity": wanted}, separators=(",", ":"), sort_keys=True)


def policy_source(assets: Mapping[str, str], modules: Sequence[str], static_url: str) -> str:
    """The source by which a policy lets exactly this import map into a page."""
    digest = hashlib.sha256(import_map(assets, modules, static_url).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy_sources(path: Path, static_url: str) -> list[str]:
    """Likewise for the release whose manifest lies there; nothing where none does, or one that cannot be read."""
    try:
        release = read(path)
        return [policy_source(release.assets, release.modules, static_url)] if release is not None else []
    except (ValueError, KeyError):
        return []  # config/checks.py says what is wrong with it


def read_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a file: an Ed25519 JWK. Raises ValueError where it is none."""
    try:
        key = OKPKey.import_key(json.loads(path.read_text())).private_key
    except Exception as error:  # whatever the library raises for what is no key
        raise ValueError(f"{path} holds no Ed25519 key as a JWK") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path} holds no private Ed25519 key")
    return key


def verifier_of(key: Ed25519PrivateKey, name: str = NAME) -> notes.VerifierKey:
    """What verifies the manifests that this key signs."""
    return notes.VerifierKey(name, notes.ED25519, key.public_key().public_bytes_raw())


def signed(text: str, key: Ed25519PrivateKey, verifier: notes.VerifierKey) -> str:
    """The note: the manifest's text, and the signature under it."""
    return f"{text}\n{notes.signature_line(verifier, key.sign(text.encode()))}"


def is_signed(note: str, verifier_key: str) -> bool:
    """Whether this key signed the note. Raises ValueError where the text is no verifier key."""
    verifier = notes.VerifierKey.parse(verifier_key, kind=notes.ED25519)
    return "\n\n" in note and notes.is_signed_by(note, verifier)
