"""Which part of a history is wanted: of what kind, of which app, between which days, with which words in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as time_of_day
from functools import reduce
from operator import and_
from typing import Any

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from accounts.models import User
from consent.event_types import EventType
from consent.grants.models import Grant
from consent.ledger.models import Entries
from consent.requests.models import ConsentRequest
from pkm.history.models import Event, EventKind
from pkm.registry import labels
from pkm.registry.models import ScopeEntry
from pkm.web import vault_events

_MOST_WORDS = 4
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%s")


@dataclass(frozen=True)
class Chosen:
    """What of the history is to be shown. Days are those of `zone`; `until` is the last of them."""

    group: str = ""
    app_id: str = ""
    since: date | None = None
    until: date | None = None
    text: str = ""
    zone: tzinfo = UTC

    @property
    def begins(self) -> datetime | None:
        return None if self.since is None else datetime.combine(self.since, time_of_day(), self.zone)

    @property
    def ends(self) -> datetime | None:
        """The moment after the last one."""
        return None if self.until is None else self.after_day(self.until)

    def after_day(self, day: date) -> datetime:
        return datetime.combine(day + timedelta(days=1), time_of_day(), self.zone)

    def within(self, rows: QuerySet[Any], column: str) -> Any:
        if self.begins is not None:
            rows = rows.filter(**{f"{column}__gte": self.begins})
        return rows if self.ends is None else rows.filter(**{f"{column}__lt": self.ends})


@dataclass(frozen=True)
class _Word:
    """What one word of a search is found in: apps by name, entries of the registry by label, sentences."""

    text: str
    apps: list[str]
    entries: list[tuple[int, str]]  # (primary key, scope)
    kinds: frozenset[EventType]
    changes: list[EventKind]

    @property
    def entry_pks(self) -> list[int]:
        return [pk for pk, _ in self.entries]


class Search:
    """Every word of what was typed has to be found; without one, nothing is narrowed."""

    def __init__(self, user: User, text: str, names: Mapping[str, str]) -> None:
        words = text.casefold().split()[:_MOST_WORDS]
        registry = list(ScopeEntry.objects.values_list("pk", "scope", "scope_label")) if words else []
        self._user = user
        self._words = [_found_in(word, names, registry) for word in words]

    def includes(self, kind: EventType) -> bool:
        """Whether all words stand in this kind's own sentence."""
        return all(kind in word.kinds for word in self._words)

    def of_entries(self, entries: Entries) -> Entries:
        if not self._words:
            return entries
        with_request_id: Any = entries.annotate(request_id=KeyTextTransform("request_id", "kept__facts"))
        found: Entries = with_request_id.filter(self._each(self._in_entry))
        return found

    def of_grants(self, grants: "QuerySet[Grant]") -> "QuerySet[Grant]":
        if self.includes(EventType.READ):
            return grants
        return grants.annotate(paths=Cast("approved_attributes", TextField())).filter(self._each(_in_grant))

    def of_app_rows(self, rows: "QuerySet[Any]", kind: EventType) -> "QuerySet[Any]":
        """Of a table with a column `app` whose lines are all of one kind."""
        return rows.filter(self._each(lambda word: _anything(kind in word.kinds) | Q(app__app_id__in=word.apps)))

    def of_changes(self, events: "QuerySet[Event]") -> "QuerySet[Event]":
        return events.filter(self._each(_in_change))

    def _each(self, condition: Any) -> Q:
        return reduce(and_, map(condition, self._words), Q())

    def _in_entry(self, word: _Word) -> Q:
        requests = ConsentRequest.objects.filter(user=self._user).filter(
            Q(scope_entry__in=word.entry_pks) | Q(app_name__icontains=word.text) | Q(purpose__icontains=word.text)
        )
        return (
            Q(kind__in=word.kinds)
            | Q(kept__facts__app_id__in=word.apps)
            | Q(request_id__in=requests.values("request_id"))
        )


def _anything(matches: bool) -> Q:
    return Q(pk__gte=0) if matches else Q(pk__in=[])


def _in_grant(word: _Word) -> Q:
    of_attributes = Q()
    for _, scope in word.entries:
        if not scope.endswith("*"):
            of_attributes |= Q(paths__contains=f'"{scope.removeprefix("attr.")}"')
    return (
        _anything(EventType.READ in word.kinds)
        | Q(app__app_id__in=word.apps)
        | Q(request__scope_entry__in=word.entry_pks)
        | Q(request__purpose__icontains=word.text)
        | of_attributes
        | Q(paths__icontains=word.text)  # a person's own attributes are in no registry
    )


def _in_change(word: _Word) -> Q:
    found = Q(kind__in=word.changes) | Q(facts__scope__in=[scope for _, scope in word.entries])
    for _, scope in word.entries:
        match scope.split("."):
            case ["attr", domain, "*"]:
                found |= Q(facts__domain=domain)
            case ["attr", domain, segment, "*"]:
                found |= Q(facts__domain=domain, facts__segment_id=segment)
    return found


def _found_in(word: str, names: Mapping[str, str], registry: list[tuple[int, str, str]]) -> _Word:
    return _Word(
        word,
        [app_id for app_id, name in names.items() if word in name.casefold()],
        [(pk, scope) for pk, scope, label in registry if word in labels.translated(label).casefold()],
        frozenset(kind for kind in EventType if kind.in_history and word in _own_words(kind.in_history.sentence)),
        [kind for kind in EventKind if word in _own_words(vault_events.sentence_of(kind))],
    )


def _own_words(sentence: object) -> str:
    return _PLACEHOLDER.sub(" ", str(sentence)).casefold()
