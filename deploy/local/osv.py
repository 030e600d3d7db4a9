"""Advisories in the OSV schema: which versions one is about, and what of an export the pinned file keeps."""

import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import total_ordering
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

Advisory = dict[str, Any]
ECOSYSTEMS = ("PyPI", "npm")
_SEMVER = re.compile(r"^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$")


@total_ordering
class _Semantic:
    """A version of an npm package; what comes before a release (1.0.0-rc.1) is lower than the release."""

    def __init__(self, text: str) -> None:
        if (match := _SEMVER.match(text)) is None:
            raise InvalidVersion(text)
        before = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in (match[4] or "").split(".")]
        self.key = (int(match[1]), int(match[2]), int(match[3]), not match[4], before if match[4] else [])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Semantic) and self.key == other.key

    def __lt__(self, other: "_Semantic") -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(str(self.key))


def normal(ecosystem: str, name: str) -> str:
    """The one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower() if ecosystem == "PyPI" else name


def is_affected(affected: dict[str, Any], version: str) -> bool:
    """Whether this part of an advisory is about that version. One whose bounds cannot be read is about all versions."""
    if version in affected.get("versions", []):
        return True
    if not affected.get("ranges"):
        return not affected.get("versions")
    try:
        return any(_is_within(each["events"], affected["package"]["ecosystem"], version) for each in affected["ranges"])
    except InvalidVersion:
        return True


def fixes(affected: dict[str, Any]) -> list[str]:
    """The versions that mend it, as the advisory names them."""
    events = [event for each in affected.get("ranges", []) for event in each["events"]]
    return list(dict.fromkeys(str(event["fixed"]) for event in events if "fixed" in event))


def _is_within(events: Iterable[dict[str, str]], ecosystem: str, version: str) -> bool:
    """The evaluation that the schema gives: the newest event at or below the version decides."""
    read: Callable[[str], Any] = Version if ecosystem == "PyPI" else _Semantic
    asked = read(version)
    bounds = [(kind, text) for event in events for kind, text in event.items() if kind != "limit"]
    found = ("introduced", "0") in bounds  # below every version, and none itself
    others = [(kind, read(text)) for kind, text in bounds if text != "0"]
    for kind, bound in sorted(others, key=lambda each: (each[1], each[0] == "introduced")):
        if kind == "introduced" and bound <= asked:
            found = True
        elif (kind == "fixed" and bound <= asked) or (kind == "last_affected" and bound < asked):
            found = False
    return found


def records(export: Path) -> Iterator[Advisory]:
    """Every advisory of an export: a ZIP archive, or a folder at any depth, of JSON files with one each."""
    if export.is_dir():
        for path in sorted(export.rglob("*.json")):
            yield json.loads(path.read_bytes())
        return
    with zipfile.ZipFile(export) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".json"):
                yield json.loads(archive.read(name))


def reduced(advisory: Advisory, wanted: Collection[tuple[str, str]]) -> Advisory | None:
    """What a comparison needs of it, and no words of its author; None where it is about none of the packages wanted.

    `wanted` holds pairs of ecosystem and normal name. An advisory that was withdrawn is none.
    """
    parts = [each for each in map(_reduced_part, advisory.get("affected", [])) if _key(each) in wanted]
    if not parts or advisory.get("withdrawn"):
        return None
    return {
        "id": advisory["id"],
        "aliases": sorted(advisory.get("aliases", [])),
        "modified": advisory["modified"],
        "affected": parts,
    }


def _key(part: dict[str, Any]) -> tuple[str, str]:
    return part["package"]["ecosystem"], part["package"]["name"]


def _reduced_part(part: dict[str, Any]) -> dict[str, Any]:
    """Commits are left out: what is installed is a version."""
    package = part.get("package", {})
    ecosystem = package.get("ecosystem", "")
    ranges = [each for each in part.get("ranges", []) if each["type"] != "GIT"]
    return {
        "package": {"ecosystem": ecosystem, "name": normal(ecosystem, package.get("name", ""))},
        **({"ranges": [{"type": each["type"], "events": each["events"]} for each in ranges]} if ranges else {}),
        **({"versions": part["versions"]} if part.get("versions") else {}),
    }
