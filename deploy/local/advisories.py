"""`./run advisories`: what is shipped and what builds it, against a pinned file of known vulnerabilities.

The file stands in the repository and nothing is fetched, so the same commit gives the same answer. Whoever releases
renews it from exports in the OSV schema. It holds every advisory about a package that the locks name, about whatever
version, so that a step back is noticed, too.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from deploy.local import bill, osv
from deploy.local.place import ADVISORIES, ROOT, Stop, fail, say

ACCEPTED = ADVISORIES.with_name("accepted.json")
OLD = 30  # days
PYTHON_LOCKS = ("requirements.lock", "requirements-dev.lock")
NODE_LOCKS = (bill.VENDOR, "bridge-js/package-lock.json")
LICENCE = "CC-BY-4.0, as both the PyPA's and GitHub's advisory database are"


@dataclass(frozen=True, order=True)
class Component:
    """A package in one version, and the lock that names it."""

    ecosystem: str
    name: str
    version: str
    lock: str


@dataclass(frozen=True)
class Finding:
    """What is wrong with a component: an advisory, with the versions that mend it, or that nothing was compared."""

    component: Component
    advisory: str
    told: str

    def __str__(self) -> str:
        at = self.component
        return f"{at.name} {at.version} ({at.lock}): {self.advisory}, {self.told}"


def components() -> list[Component]:
    """Every package that a lock names, of the server, of its development and of both clients' scripts."""
    return sorted({*_of_python(), *_of_node()})


def findings(pinned: Mapping[str, Any], borne: Sequence[Mapping[str, str]], today: date) -> list[Finding]:
    """What is known about the components, but what is accepted until a day that has not passed."""
    covered = {(ecosystem, name) for ecosystem, names in pinned["packages"].items() for name in names}
    every = components()
    found = [
        Finding(each, "not in the file", "which was made before this package came: renew it")
        for each in every
        if (each.ecosystem, each.name) not in covered
    ]
    for advisory in pinned["advisories"]:
        for part in advisory["affected"]:
            found += [_finding(each, advisory, part) for each in every if _is_about(part, each)]
    return [each for each in found if not _is_accepted(each, borne, today)]


def renew(exports: Sequence[Path], target: Path) -> dict[str, Any]:
    """Write the file anew, from exports that hold both ecosystems between them; what is in it."""
    wanted = {(each.ecosystem, each.name) for each in components()}
    kept: dict[str, osv.Advisory] = {}
    newest: dict[str, str] = {}
    for export in exports:
        for advisory in osv.records(export):
            for ecosystem in {part.get("package", {}).get("ecosystem", "") for part in advisory.get("affected", [])}:
                newest[ecosystem] = max(newest.get(ecosystem, ""), advisory["modified"])
            if held := osv.reduced(advisory, wanted):
                kept[held["id"]] = held
    # packages of an ecosystem that no export is about stay out, and are told as not compared
    made = {
        "licence": LICENCE,
        "newest": {each: newest[each] for each in osv.ECOSYSTEMS if each in newest},
        "packages": {
            each: sorted({name for at, name in wanted if at == each}) for each in newest if each in osv.ECOSYSTEMS
        },
        "advisories": [kept[each] for each in sorted(kept)],
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    return made


def age(pinned: Mapping[str, Any], today: date) -> int:
    """Days since the newest advisory of the ecosystem that is furthest behind, however new the file itself is."""
    days = [datetime.fromisoformat(each).astimezone(UTC).date() for each in pinned["newest"].values()]
    return (today - min(days)).days if days else sys.maxsize


def main(arguments: Sequence[str]) -> int:
    """0 where nothing is known about anything, 1 where something is, 2 where there is no file to compare with."""
    parser = argparse.ArgumentParser(
        prog="./run advisories", description="Compare the locks with the pinned advisories."
    )
    parser.add_argument(
        "--renew", nargs="+", type=Path, metavar="EXPORT", help="folders or ZIP archives in the OSV schema"
    )
    parser.add_argument("--days", type=int, default=OLD, help=f"warn where the file is older ({OLD})")
    asked = parser.parse_args(arguments)
    if asked.renew:
        made = renew(asked.renew, ADVISORIES)
        say(f"{_told(ADVISORIES)}: {len(made['advisories'])} advisories, {_dates(made)}")
    if not ADVISORIES.is_file():
        say(f"✗ {_told(ADVISORIES)} is not there, so nothing was compared. Make it with --renew EXPORT …")
        return 2
    return _tell(_read(ADVISORIES), asked.days)


def _tell(pinned: Mapping[str, Any], days: int) -> int:
    found = findings(pinned, accepted(), _today())
    for each in found:
        say(f"✗ {each}")
    if (old := age(pinned, _today())) > days:
        say(f"! The file is {old} days old ({_dates(pinned)}): renew it.")
    counted = f"{len(components())} components, {len(pinned['advisories'])} advisories, newest {_dates(pinned)}"
    say(f"{counted}: {len(found)} found")
    return 1 if found else 0


def _told(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _dates(pinned: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {told[:10]}" for name, told in pinned["newest"].items()) or "of no day"


def _finding(component: Component, advisory: osv.Advisory, part: Mapping[str, Any]) -> Finding:
    names = [advisory["id"], *advisory["aliases"]]
    mended = osv.fixes(dict(part))
    return Finding(
        component, " ".join(names), f"fixed in {', '.join(mended)}" if mended else "not fixed in any version"
    )


def _is_about(part: dict[str, Any], component: Component) -> bool:
    package = part["package"]
    same = (package["ecosystem"], package["name"]) == (component.ecosystem, component.name)
    return same and osv.is_affected(part, component.version)


def _is_accepted(found: Finding, borne: Sequence[Mapping[str, str]], today: date) -> bool:
    return any(
        each["package"] == found.component.name
        and each["version"] == found.component.version
        and each["id"] in found.advisory.split()
        and today <= date.fromisoformat(each["until"])
        for each in borne
    )


def _of_python() -> Iterator[Component]:
    for lock in PYTHON_LOCKS:
        for name, version in bill.PINNED.findall((ROOT / lock).read_text()):
            yield Component("PyPI", osv.normal("PyPI", name), version, lock)


def _of_node() -> Iterator[Component]:
    for lock in NODE_LOCKS:
        for place, told in json.loads((ROOT / lock).read_text())["packages"].items():
            if name := place.rpartition("node_modules/")[2]:
                yield Component("npm", name, told["version"], lock)


def accepted() -> list[dict[str, str]]:
    """Each with id, package, version, until (a day) and reason."""
    read: list[dict[str, str]] = json.loads(ACCEPTED.read_text()) if ACCEPTED.is_file() else []
    if nameless := [each for each in read if not each.get("reason", "").strip()]:
        fail(f"{_told(ACCEPTED)} gives no reason for {nameless[0].get('id')}.")
    return read


def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text())
    return read


def _today() -> date:
    return datetime.now(UTC).date()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Stop as reason:
        say(f"✗ {reason}")
        sys.exit(2)
