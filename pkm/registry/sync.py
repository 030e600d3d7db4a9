"""Brings the registry to the starter list; `starter_diff` says what is changed and what is left to staff."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from common.sql.statements import lock_for_transaction
from pkm import scopes
from pkm.hooks import entries_touched, entry_changed
from pkm.registry.models import Domain, ScopeEntry, StarterRecord
from pkm.registry.starter import starter_domains, starter_entries
from pkm.registry.starter_diff import Comparison, Line, compare

# What the list says of a row. Whether a domain is active and a scope can be asked for is the staff's alone.
_OF_DOMAIN = ("display_name", "description", "icon", "position")
_OF_ENTRY = ("scope_label", "description", "attributes", "sensitivity_tier", "max_access_duration", "derived")


@dataclass(frozen=True)
class Diff:
    """What differs. `touched` is what hangs on the entries that change: (what, how many)."""

    lines: list[Line]
    touched: list[tuple[str, int]]

    def count(self, *kinds: str) -> int:
        return sum(line.kind in kinds for line in self.lines)


@dataclass(frozen=True)
class _Step:
    """What is to happen to one row, which is not saved yet where it `is_new`."""

    key: str
    row: Domain | ScopeEntry
    is_new: bool
    found: Comparison


@transaction.atomic
def sync_registry(*, dry_run: bool = False) -> Diff:
    """Bring the registry to the starter list and return what differed; a dry run returns the same and writes nothing.

    One at a time. Every entry is locked against an admin who saves and an app that asks meanwhile. What waits on an
    entry that changes is cancelled, as it is when staff change it.
    """
    lock_for_transaction("sync_registry")
    written = {record.key: record.written for record in StarterRecord.objects.all()}
    # no stronger: a new entry of a domain needs a hold on it, and changes nothing of it
    steps = [*_domains(written, Domain.objects.select_for_update(no_key=True))]
    domains = {step.key: step.row for step in steps}
    steps += _entries(written, domains, ScopeEntry.objects.select_for_update())
    lines = [line for step in steps for line in step.found.lines]
    diff = Diff([*lines, *_no_longer_listed(written, steps)], _touched(steps))
    if not dry_run:
        for step in steps:
            _take(step, written.get(step.key))
    return diff


def registry_drift() -> set[str]:
    """The keys of the domains and the scopes that `sync_registry` would add or change now; nothing is locked."""
    written = {record.key: record.written for record in StarterRecord.objects.all()}
    steps = [*_domains(written, Domain.objects.all()), *_entries(written, {}, ScopeEntry.objects.all())]
    return {line.key for step in steps for line in step.found.lines if line.kind in ("added", "changed")}


def _domains(written: Mapping[str, Any], kept: QuerySet[Domain]) -> Iterator[_Step]:
    rows = {row.domain_key: row for row in kept.order_by("pk")}
    for wanted in starter_domains():
        key = wanted["domain_key"]
        if key in rows:
            yield _update(key, rows[key], wanted, _OF_DOMAIN, written.get(key))
        else:
            yield _addition(key, Domain(**wanted), wanted, _OF_DOMAIN, wanted["display_name"])


def _entries(written: Mapping[str, Any], domains: Mapping[str, Any], kept: QuerySet[ScopeEntry]) -> Iterator[_Step]:
    rows = {row.scope: row for row in kept.order_by("pk")}
    off = [row.scope for row in rows.values() if not row.exposure_enabled and row.scope != scopes.EVERYTHING]
    for wanted in starter_entries():
        scope, fields = wanted["scope"], tuple(name for name in _OF_ENTRY if wanted[name] is not None)
        if scope in rows:
            yield _update(scope, rows[scope], wanted, fields, written.get(scope))
            continue
        # staff who switched off a whole segment or domain would not expect a part of it to come by itself
        above = [wide for wide in off if _covers(wide, scope)]
        exposed = wanted["exposure_enabled"] and not above
        row = ScopeEntry(**{**wanted, "domain": domains.get(wanted["domain"]), "exposure_enabled": exposed})
        why = "".join(f"; switched off, as {wide} is" for wide in above)
        yield _addition(scope, row, wanted, fields, wanted["scope_label"] + why)


def _update(
    key: str, row: Domain | ScopeEntry, wanted: Mapping[str, Any], fields: tuple[str, ...], written: Any
) -> _Step:
    now = {name: getattr(row, name) for name in fields}
    return _Step(key, row, False, compare(key, row=now, written=written or {}, wanted=wanted, fields=fields))


def _addition(
    key: str, row: Domain | ScopeEntry, wanted: Mapping[str, Any], fields: tuple[str, ...], text: str
) -> _Step:
    remember = {name: wanted[name] for name in fields}
    return _Step(key, row, True, Comparison(remember=remember, lines=[Line("added", key, text)]))


def _covers(scope: str, other: str) -> bool:
    wide, narrow = scopes.parse(scope), scopes.parse(other)
    return wide is not None and narrow is not None and wide.covers_scope(narrow)


def _no_longer_listed(written: Iterable[str], steps: Iterable[_Step]) -> list[Line]:
    listed = {step.key for step in steps}
    return [Line("gone", key, "no longer in the list") for key in sorted(set(written) - listed)]


def _touched(steps: Iterable[_Step]) -> list[tuple[str, int]]:
    changing = [step.row.pk for step in steps if isinstance(step.row, ScopeEntry) and step.found.write]
    answers: list[tuple[Any, Any]] = entries_touched.send(sender=ScopeEntry, entry_pks=changing) if changing else []
    return [(str(line.what), line.number) for _receiver, reported in answers for line in reported or ()]


def _take(step: _Step, written: Mapping[str, Any] | None) -> None:
    """Write what is to be written; a row that is as it should be is not touched, since that would make a version."""
    if step.is_new:
        step.row.save()
    elif step.found.write:
        for name, value in step.found.write.items():
            setattr(step.row, name, value)
        step.row.save(update_fields=[*step.found.write, "updated_at"])
        if isinstance(step.row, ScopeEntry):
            entry_changed.send(sender=ScopeEntry, entry_pk=step.row.pk, by=None)
    if step.found.remember != written:
        StarterRecord.objects.update_or_create(key=step.key, defaults={"written": step.found.remember})
