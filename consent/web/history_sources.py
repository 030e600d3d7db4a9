"""Where a person's history comes from: their chain, reads, looks by staff and by apps, and their own changes.

Each source tells its lines newest first, from a position on, so many at once. A position does not move: what adds up
over a day (reads, changes, looks, and requests that an app took back) stands where it began that day.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, F, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDate
from django.utils.translation import gettext, ngettext

from accounts.models import User
from consent.decisions import vault_resets
from consent.discovery.models import DirectoryFind, Discovery
from consent.event_types import EventType, Group
from consent.exports.models import Export, Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry, Entries
from consent.requests.models import ConsentRequest
from consent.states import Actor
from consent.web import paging, staff_views
from consent.web.history_filter import Chosen, Search
from consent.web.paging import older
from developers.apps.models import App
from pkm.history.models import Event, EventKind
from pkm.registry import labels
from pkm.web import vault_events

# what is told of as it stands in a person's chain, one line for each entry
_CHAINED: dict[EventType, Group] = {
    event: event.in_history.group
    for event in EventType
    if event.in_history and not event.is_derived and event is not EventType.STAFF_VIEWED
}


_NAMED = ("request_id", "app_name", "scope_entry__scope_label")  # what a sentence names of a request
# what is one line a day however often it happened, by whom or what it is about
_FOLDED = {"app_id": Q(kind=EventType.CANCELLED, actor=Actor.APP), "grant_id": Q(kind=EventType.EXPORT_UPDATED)}
_AT_ONCE = 1000  # rows that are read at once to add them up by days

Position = paging.Place


@dataclass(frozen=True)
class Happened:
    """One line of the history. What happened several times that day began `at`, and was last at `last_at`."""

    at: datetime
    kind: EventType
    title: str
    detail: str = ""
    app_id: str | None = None
    request_id: str | None = None
    receipt_id: str | None = None
    times: int = 1
    last_at: datetime | None = None
    names: tuple[str, ...] = ()  # of what was read
    drawn: str = ""

    @property
    def icon(self) -> str:
        return self.drawn or (self.kind.in_history.icon if self.kind.in_history else "")


class Placed(NamedTuple):
    """A line and where it stands in its source."""

    position: Position
    line: Happened


# what the numbers of a position may be at most, by the letter of its source
BOUNDS: dict[str, Position] = {
    "c": (paging.LARGEST,), "s": (paging.LARGEST,), "r": paging.TIME_AND_KEY, "f": paging.TIME_AND_KEY,
    "v": paging.TIME_AND_KEY, "d": (date.max.toordinal(), *paging.TIME_AND_KEY),
}  # fmt: skip

# (the position after which to go on, if any; how many) -> so many lines, or all that are left
Source = Callable[[Position | None, int], list[Placed]]
# (at, primary key, what is alike, what it was about) of a row
_Row = tuple[datetime, int, Any, Any]


@dataclass
class _Day:
    """What happened alike on one day: its first row, when the last one was, and what they were about."""

    at: datetime
    pk: int
    like: Any
    last_at: datetime
    times: int = 0
    about: set[Any] = field(default_factory=set)


@dataclass(frozen=True)
class Wanted:
    """Whose history, and which part of it. `folded`: what happened alike on a day is one line."""

    user: User
    chosen: Chosen
    folded: bool = False
    names: Mapping[str, str] = field(default_factory=dict)  # what apps are called that somebody has read already

    def sources(self) -> dict[str, Source]:
        """By the letter that stands for each in a cursor."""
        group, any_app = self.chosen.group, not self.chosen.app_id
        found: dict[str, Source] = {}
        if group != Group.CHANGES:
            found["c"] = self._chained
        if group in ("", Group.READS):
            found["r"] = self._reads
        if group in ("", Group.READS) and any_app and self._search.includes(EventType.STAFF_VIEWED):
            found["s"] = self._views_by_staff
        if group in ("", Group.DISCOVERIES):
            found |= {"d": self._discoveries, "f": self._finds}
        if group in ("", Group.CHANGES, Group.SECURITY) and any_app:
            found["v"] = self._changes
        return found

    @cached_property
    def _search(self) -> Search:
        return Search(self.user, self.chosen.text, self.names)

    def _entries(self) -> Entries:
        kinds = _kinds(self.chosen.group)
        entries = AuditEntry.objects.of(audit.person_chain(self.user.public_id)).filter(kind__in=kinds)
        entries = self._search.of_entries(self.chosen.within(entries, "at"))
        return entries.with_facts(app_id=self.chosen.app_id) if self.chosen.app_id else entries

    def _chained(self, after: Position | None, most: int) -> list[Placed]:
        entries, group = self._entries(), self.chosen.group
        times: dict[int, int] = {}
        if self.folded:
            for alike, some_kind in _FOLDED.items():
                times |= dict(_folded(entries.filter(some_kind), alike, after, most))
                entries = entries.filter(~some_kind | Q(sequence__in=times))
        if group in (Group.DECISIONS, Group.ENDS):  # "expired" is told of both; only a grant's end names the grant
            is_end = Q(kind=EventType.EXPIRED, kept__facts__grant_id__startswith="")
            entries = entries.filter(~Q(kind=EventType.EXPIRED) | (is_end if group == Group.ENDS else ~is_end))
        if after is not None:
            entries = entries.filter(sequence__lt=after[0])
        some = list(entries.select_related("kept").order_by("-sequence")[:most])
        by_id = _requests(entry.facts.get("request_id") for entry in some)
        names = self._names(entry.facts.get("app_id") for entry in some if "request_id" not in entry.facts)
        return [
            Placed(
                (entry.sequence,),
                _line(entry, by_id.get(entry.facts.get("request_id", "")), names, times.get(entry.sequence, 1)),
            )
            for entry in some
        ]

    def _names(self, app_ids: Iterable[Any]) -> Mapping[str, str]:
        """What apps are called that an entry names without a request."""
        wanted = {app_id for app_id in app_ids if app_id and app_id not in self.names}
        if not wanted:
            return self.names
        return {**self.names, **dict(App.objects.filter(app_id__in=wanted).values_list("app_id", "name"))}

    def _reads(self, after: Position | None, most: int) -> list[Placed]:
        days = self._days(self._read_rows, after, most)
        grants = Grant.objects.filter(pk__in={day.like for day in days}).select_related("app", "request__scope_entry")
        found = {grant.pk: grant for grant in grants}
        exports = Export.objects.filter(pk__in={pk for day in days for pk in day.about})
        fewer = exports.filter(approved_attributes__isnull=False).values_list("pk", "approved_attributes")
        fewer_of: dict[int, Any] = dict(fewer) if days else {}
        paths = [
            list(dict.fromkeys(
                path for pk in sorted(day.about) for path in fewer_of.get(pk, found[day.like].approved_attributes)
            ))
            for day in days
        ]  # fmt: skip
        return [
            Placed(_place(day), _read_line(day, found[day.like], groups))
            for day, groups in zip(days, labels.described_each(paths) if days else [], strict=True)
        ]

    def _read_rows(self, after: Position | None, most: int) -> list[_Row]:
        """The newest of the grants that were read last: others cannot be among them, nor what lies deeper in any."""
        reads = self.chosen.within(Read.objects.all(), "at")
        of_one = older(reads.filter(grant=OuterRef("pk")), "at", after).order_by("-at", "-id")
        grants = self._search.of_grants(Grant.objects.filter(user=self.user))
        if self.chosen.app_id:
            grants = grants.filter(app__app_id=self.chosen.app_id)
        read_last: Any = (
            grants.annotate(newest=Subquery(of_one.values("at")[:1]), newest_id=Subquery(of_one.values("id")[:1]))
            .annotate(deepest=Subquery(of_one.values("at")[most - 1 : most]))
            .order_by(F("newest").desc(nulls_last=True), "-newest_id")
            .values_list("pk", "newest", "deepest")[:most]
        )
        found = {pk: deepest for pk, newest, deepest in read_last if newest is not None}
        if not found:
            return []
        rows = older(reads.filter(grant__in=found), "at", after).order_by("-at", "-id")
        if enough := [deepest for deepest in found.values() if deepest is not None]:
            rows = rows.filter(at__gte=max(enough))
        return list(rows.values_list("at", "id", "grant_id", "export_id")[:most])

    def _changes(self, after: Position | None, most: int) -> list[Placed]:
        days = self._days(self._change_rows, after, most)
        events = Event.objects.in_bulk([day.pk for day in days])
        changes = vault_events.in_words(events[day.pk] for day in days)
        return [Placed(_place(day), _change_line(day, change)) for day, change in zip(days, changes, strict=True)]

    def _change_rows(self, after: Position | None, most: int) -> list[_Row]:
        events = self._search.of_changes(self.chosen.within(Event.objects.filter(user=self.user), "at"))
        if self.chosen.group == Group.SECURITY:
            events = events.filter(kind__in=vault_events.OF_UNLOCKING)
        elif self.chosen.group == Group.CHANGES:
            events = events.exclude(kind__in=vault_events.OF_UNLOCKING)
        if self.folded:
            events = events.exclude(kind=EventKind.MANIFEST_CHANGED)  # which comes with each that was saved
        rows = older(events, "at", after).order_by("-at", "-id").values_list("at", "id", "kind", "facts")[:most]
        return [(at, pk, _alike(kind, facts), None) for at, pk, kind, facts in rows]

    def _days(
        self, read: Callable[[Position | None, int], list[_Row]], after: Position | None, most: int
    ) -> list[_Day]:
        """What happened alike on each day, newest first; each row by itself where nothing is folded.

        Days are read whole, a thousand rows at once, so that each count is the day's, whatever page it stands on.
        """
        if not self.folded:
            return [_Day(at, pk, like, at, 1, {about}) for at, pk, like, about in read(after, most)]
        zone = self.chosen.zone
        found: dict[tuple[date, Any], _Day] = {}
        place = None
        if after is not None:  # what began before it may have gone on after it, to the end of its day
            end = self.chosen.after_day(paging.moment(after).astimezone(zone).date())
            place = paging.place_of(end, 0)
        while True:
            rows = read(place, _AT_ONCE)
            for at, pk, like, about in rows:
                day = found.setdefault((at.astimezone(zone).date(), like), _Day(at, pk, like, at))
                day.at, day.pk, day.times = at, pk, day.times + 1
                day.about.add(about)
            goes_on = len(rows) == _AT_ONCE
            broken = rows[-1][0].astimezone(zone).date() if goes_on else None  # of which there may be more
            whole = [day for (date_of, _), day in found.items() if date_of != broken]
            some = sorted((day for day in whole if after is None or _place(day) < after), key=_place, reverse=True)
            if not goes_on or len(some) >= most:
                return some[:most]
            place = paging.place_of(*rows[-1][:2])

    def _views_by_staff(self, after: Position | None, most: int) -> list[Placed]:
        title = title_of(EventType.STAFF_VIEWED, None)
        before = None if after is None else after[0]
        return [
            Placed((day.first,), Happened(day.at, EventType.STAFF_VIEWED, title, day.detail()))
            for day in staff_views.daily_views(self.user.public_id, before=before, most=most, chosen=self.chosen)
        ]

    def _discoveries(self, after: Position | None, most: int) -> list[Placed]:
        looked = self._of_apps(Discovery.objects.filter(user=self.user), "first_at", EventType.DISCOVERED)
        if after is not None:
            day = date.fromordinal(after[0])
            that_day = older(looked.filter(day=day), "first_at", after[1:])
            looked = that_day | looked.filter(day__lt=day)
        return [
            Placed(
                (row.day.toordinal(), paging.microseconds(row.first_at), row.pk),
                _seen(row.first_at, EventType.DISCOVERED, row.app, _discovery_words(row.count)),
            )
            for row in looked.order_by("-day", "-first_at", "-id")[:most]
        ]

    def _finds(self, after: Position | None, most: int) -> list[Placed]:
        found = self._of_apps(DirectoryFind.objects.filter(user=self.user), "at", EventType.FOUND)
        seen = gettext("It saw what your public profile says.")
        return [
            Placed((paging.microseconds(row.at), row.pk), _seen(row.at, EventType.FOUND, row.app, seen))
            for row in older(found, "at", after).order_by("-at", "-id")[:most]
        ]

    def _of_apps(self, rows: "QuerySet[Any]", column: str, kind: EventType) -> "QuerySet[Any]":
        rows = self._search.of_app_rows(self.chosen.within(rows, column), kind).select_related("app")
        return rows.filter(app__app_id=self.chosen.app_id) if self.chosen.app_id else rows


def _place(day: _Day) -> Position:
    return paging.place_of(day.at, day.pk)


def _alike(kind: str, facts: dict[str, Any]) -> tuple[str, ...]:
    """Changes that are one line a day: of the same kind, about the same."""
    return (kind, *(str(facts.get(name, "")) for name in ("domain", "segment_id", "scope", "kind")))


def _read_line(day: _Day, grant: Grant, groups: list[labels.Group]) -> Happened:
    return Happened(
        day.at,
        EventType.READ,
        title_of(EventType.READ, grant.request),
        app_id=grant.app.app_id,
        request_id=grant.request.request_id,
        times=day.times,
        last_at=day.last_at,
        names=tuple(attribute.label for group in groups for attribute in group.attributes),
    )


def _change_line(day: _Day, change: vault_events.Change) -> Happened:
    kind = EventType.UNLOCKING_CHANGED if change.kind in vault_events.OF_UNLOCKING else EventType.CHANGED
    return Happened(day.at, kind, change.title, change.detail, times=day.times, last_at=day.last_at, drawn=change.icon)


def _folded(entries: Entries, alike: str, after: Position | None, most: int) -> list[tuple[int, int]]:
    """(the first entry, how many there are) for each day and what these entries name as `alike`, newest first."""
    days = (
        entries.annotate(day=TruncDate("at", tzinfo=UTC), about=KeyTextTransform(alike, "kept__facts"))
        .values("day", "about")
        .annotate(first=Min("sequence"), times=Count("pk"))
        .order_by("-first")
    )
    if after is not None:
        days = days.filter(first__lt=after[0])
    return [(day["first"], day["times"]) for day in days[:most]]


def _seen(at: datetime, kind: EventType, app: App, detail: str) -> Happened:
    return Happened(at, kind, title_of(kind, None, app.name), detail, app.app_id)


def _kinds(group: str) -> list[EventType]:
    kinds = [kind for kind, its_group in _CHAINED.items() if group in ("", its_group)]
    return [*kinds, EventType.EXPIRED] if group == Group.ENDS else kinds


def _requests(request_ids: Iterable[Any]) -> dict[str, ConsentRequest]:
    wanted = {request_id for request_id in request_ids if request_id}
    found = ConsentRequest.objects.filter(request_id__in=wanted).select_related("scope_entry").only("purpose", *_NAMED)
    return {request.request_id: request for request in found}


def _line(entry: AuditEntry, request: ConsentRequest | None, names: Mapping[str, str], times: int) -> Happened:
    facts = entry.facts
    kind = _kind(entry)
    if times > 1 and request is not None and kind is EventType.CANCELLED:
        return Happened(entry.at, kind, _fold(request.app_name, times), "", facts.get("app_id"))
    return Happened(
        entry.at,
        kind,
        title_of(kind, request, names.get(facts.get("app_id", ""), "")),
        request.purpose if request is not None and kind in (EventType.APPROVED, EventType.DENIED) else "",
        facts.get("app_id"),
        facts.get("request_id"),
        facts.get("receipt_id"),
        times,
    )


def _fold(app: str, times: int) -> str:
    words = ngettext(
        "%(app)s asked you and took it back, %(n)d time that day",
        "%(app)s asked you and took it back, %(n)d times that day",
        times,
    )
    return words % {"app": app, "n": times}


def _kind(entry: AuditEntry) -> EventType:
    kind = EventType(entry.kind)
    if kind is EventType.EXPIRED and entry.facts.get("grant_id"):
        return EventType.GRANT_EXPIRED
    if kind is EventType.REVOKED and entry.actor == Actor.SYSTEM:
        with_vault = entry.facts.get("reason") == vault_resets.REASON
        return EventType.ENDED_WITH_VAULT if with_vault else EventType.ENDED_UNUSED
    if kind is EventType.KEPT_CURRENT and not entry.facts.get("kept"):
        return EventType.LEFT_AS_IS
    return kind


def title_of(kind: EventType, request: ConsentRequest | None, app: str = "") -> str:
    """What happened, in one sentence."""
    sentence = str(kind.in_history.sentence if kind.in_history else "")
    if request is not None:
        scope = labels.translated(request.scope_entry.scope_label)
        return sentence % {"app": request.app_name, "scope": gettext("“%(words)s”") % {"words": scope}}
    if "%(scope)s" in sentence or ("%(app)s" in sentence and not app):
        return gettext("Something that is no longer on record")
    return sentence % {"app": app}


def _discovery_words(count: int) -> str:
    saw = gettext("It saw the names of what you could share, no values.")
    times = ngettext("%(n)d time that day.", "%(n)d times that day.", count) % {"n": count}
    return f"{saw} {times}" if count > 1 else saw
