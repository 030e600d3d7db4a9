"""The process-wide copy of the scope registry, read once per version of it.

Whoever reads discovery gets the version with the row that they read anyway, so serving from the copy costs no query,
and a change by staff is seen by the very next request: a trigger replaces the version in the transaction that changes
the registry.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.apps import apps
from django.db.models import F

from common.clock import rfc3339
from pkm import scopes
from pkm.registry.starter import verb_phrase
from pkm.shapes import ScopeEntry

_BODY_COLUMNS = (
    "scope", "scope_handle", "scope_label", "description", "domain__domain_key", "sensitivity_tier", "attributes",
    "max_access_duration", "updated_at", "derived",
)  # fmt: skip

_KEPT = 4096  # answers of discovery
# {domain: {segment: number of attributes}}, a person's `pkm_index.summary_projection`
Projection = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Entry:
    """One scope that can be asked for. `segments` are `domain.segment` pairs, `body` is that of contract 1.2."""

    pk: int
    scope: str
    parsed: scopes.Scope
    handle: str
    label: str
    description: str
    domain: str | None
    sensitivity_tier: str
    segments: frozenset[str]
    attributes: tuple[str, ...]
    max_access_duration: int
    body: ScopeEntry
    definition: dict[str, Any] | None  # of an answer in place of a value, as requests and exports have it
    # path → definition of each answer in place of a value that the scope covers
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def within(self) -> list[scopes.Scope]:
        """The scopes of which none may be hidden: its own, and that of what its answer is made from."""
        source = scopes.parse(f"attr.{self.definition['from']}") if self.definition else None
        return [self.parsed, *([source] if source is not None else [])]


@dataclass(frozen=True)
class Discovered:
    """What one person's holdings make discoverable; shared, so nobody changes it.

    `bodies` are those of its entries as JSON, written once: they are most of an answer, and writing them anew for each
    took 70 of the 1,200 microseconds of a discovery.
    """

    scopes: tuple[str, ...]
    domains: tuple[str, ...]
    bodies: orjson.Fragment


@dataclass
class RegistryCopy:
    """The exposable entries of one version, in the order of domains and then of scopes."""

    version: str
    entries: tuple[Entry, ...]
    by_scope: dict[str, Entry]
    catalog: bytes
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)  # path → definition, in place of a value
    _found: dict[tuple[frozenset[str], frozenset[str]], Discovered] = field(default_factory=dict)
    _found_for: dict[tuple[str, str], Discovered] = field(default_factory=dict)

    @classmethod
    def for_version(cls, version: str) -> "RegistryCopy":
        """The copy of this version; loaded (two queries) by the first who asks for it, while others wait."""
        current = _Current.copy
        if current is not None and current.version == version:
            return current
        with _Current.lock:
            current = _Current.copy
            if current is None or current.version != version:
                current = _Current.copy = load(version)
        return current

    def discovered_for(self, projection: str, hidden: str) -> Discovered:
        """The same from the columns as they come out of the database: JSON text, and scopes joined by spaces.

        Known texts are not parsed again; as many are kept as of the answers themselves.
        """
        found = self._found_for.get((projection, hidden))
        if found is None:
            if len(self._found_for) >= _KEPT:
                self._found_for.clear()
            found = self._found_for[projection, hidden] = self.discovered(orjson.loads(projection), hidden.split())
        return found

    def discovered(self, projection: Projection, hidden: Iterable[str]) -> Discovered:
        """What is discoverable for a person with these holdings who hides these scopes.

        Many people hold the same segments, so the answer is kept; so many different ones at most, then afresh.
        """
        key = (filled_segments(projection), frozenset(hidden))
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= _KEPT:
                self._found.clear()
            found = self._found[key] = _discovered(self.discoverable(*key))
        return found

    @staticmethod
    def only(entries: Iterable[Entry]) -> Discovered:
        """The same of these entries alone."""
        return _discovered(list(entries))

    def discoverable(self, segments: frozenset[str], hidden: frozenset[str]) -> list[Entry]:
        """The entries that touch a held segment. What lies inside a hidden scope is hidden with it."""
        hidden_scopes = [scope for scope in map(scopes.parse, hidden) if scope is not None]
        return [
            entry
            for entry in self.entries
            if not entry.segments.isdisjoint(segments)
            and not any(scope.covers_scope(one) for scope in hidden_scopes for one in entry.within)
        ]

    def hides(self, entry: Entry, hidden: Iterable[str]) -> bool:
        """Whether it lies inside one of these hidden scopes, whatever the person keeps of it."""
        return entry not in self.discoverable(entry.segments, frozenset(hidden))


class _Current:
    lock = threading.Lock()
    copy: RegistryCopy | None = None


def filled_segments(projection: Projection) -> frozenset[str]:
    """The `domain.segment` pairs in which a person keeps at least one attribute."""
    return frozenset(
        f"{domain}.{segment}" for domain, segments in projection.items() for segment, count in segments.items() if count
    )


def current_version() -> str:
    version: str = apps.get_model("pkm", "RegistryVersion").objects.values_list("version", flat=True).get()
    return version


def entries() -> RegistryCopy:
    """The copy of the version that counts now, for whoever has not read the version already."""
    return RegistryCopy.for_version(current_version())


def load(version: str) -> RegistryCopy:
    """Read the exposable entries of the database under the name of this version."""
    known = (
        apps.get_model("pkm", "ScopeEntry")
        .objects.exclude(domain__is_active=False)
        .order_by(F("domain__position").asc(nulls_last=True), "domain__domain_key", "scope")
        .values("pk", "segment_ids", "exposure_enabled", *_BODY_COLUMNS)
    )
    tiers = {row["scope"]: row["sensitivity_tier"] for row in known}
    rows = [row for row in known if row["exposure_enabled"]]
    for row in rows:  # no answer about a restricted value is less than confidential, be the value asked for or not
        is_standard_answer = row["derived"] and row["sensitivity_tier"] == "standard"
        if is_standard_answer and tiers.get(f"attr.{row['derived']['from']}", "restricted") == "restricted":
            row["sensitivity_tier"] = "confidential"
    read = tuple(entry for entry in map(_entry, rows) if entry is not None)
    derived = {entry.attributes[0]: entry.definition for entry in read if entry.definition}
    for entry in read:
        covers = entry.parsed.covers
        entry.answers.update({path: made for path, made in derived.items() if covers(path) or covers(made["from"])})
    catalog = orjson.dumps({"scope_entries": [entry.body for entry in read]})
    return RegistryCopy(version, read, {entry.scope: entry for entry in read}, catalog, derived)


def entry_body(row: Mapping[str, Any]) -> ScopeEntry:
    """A registry row (`values()` of the columns of contract 1.2) in the contract's shape."""
    body: ScopeEntry = {
        "scope": row["scope"],
        "scope_handle": row["scope_handle"],
        "label": row["scope_label"],
        "description": row["description"],
        "domain": row["domain__domain_key"],
        "sensitivity_tier": row["sensitivity_tier"],
        "attributes": row["attributes"],
        "max_access_duration": row["max_access_duration"],
        "updated_at": rfc3339(row["updated_at"]),
    }
    if row["derived"] is not None:
        body["derived"] = {
            "path": row["attributes"][0],
            **row["derived"],
            "label": row["scope_label"],
            "question": verb_phrase(row["scope"], row["scope_label"]) or f"asks for {row['scope_label']}",
            "sensitivity_tier": row["sensitivity_tier"],
        }
    return body


def _discovered(entries: list[Entry]) -> Discovered:
    found = tuple(entry.scope for entry in entries)
    domains = tuple(dict.fromkeys(entry.domain for entry in entries if entry.domain is not None))
    return Discovered(found, domains, orjson.Fragment(orjson.dumps([entry.body for entry in entries])))


def _entry(row: Mapping[str, Any]) -> Entry | None:
    parsed = scopes.parse(str(row["scope"]))
    if parsed is None:  # unknown denies
        return None
    body = entry_body(row)
    return Entry(
        pk=row["pk"],
        scope=body["scope"],
        parsed=parsed,
        handle=body["scope_handle"],
        label=body["label"],
        description=body["description"],
        domain=body["domain"],
        sensitivity_tier=body["sensitivity_tier"],
        segments=frozenset(row["segment_ids"]),
        attributes=tuple(body["attributes"]),
        max_access_duration=body["max_access_duration"],
        body=body,
        definition=row["derived"],
    )
