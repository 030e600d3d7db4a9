"""Where a person's history comes from: their chain, the reads, looks by staff, and apps that looked or found them.

Each source tells its lines newest first, from a position on, so many at once. A position does not move: what adds up
over a day (looks, and requests that an app took back) stands where it began that day.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Count, F, Min, OuterRef, Q, Subquery
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDate
from django.utils.translation import gettext, ngettext

from consent.discovery.models import DirectoryFind, Discovery
from consent.event_types import EventType, Group
from consent.exports.models import Read
from consent.grants.models import Grant
from consent.ledger import audit
from consent.ledger.models import AuditEntry, Entries
from consent.requests.models import ConsentRequest
from consent.states import Actor
from consent.web import places, staff_looks
from consent.web.places import older
from developers.models import App
from pkm.registry import labels

if TYPE_CHECKING:
    from accounts.models import User

# what is told of as it stands in a person's chain, one line for each entry
_CHAINED: dict[EventType, Group] = {
    event: event.in_history.group
    for event in EventType
    if event.in_history and not event.is_derived and event is not EventType.STAFF_VIEWED
}


_NAMED = ("request_id", "app_name", "scope_entry__scope_label")  # what a sentence names of a request
_TAKEN_BACK = Q(kind=EventType.CANCELLED, actor=Actor.APP)

Position = places.Place


@dataclass(frozen=True)
class Happened:
    """One line of the history."""

    at: datetime
    kind: EventType
    title: str
    detail: str = ""
    app_id: str | None = None
    request_id: str | None = None
    receipt_id: str | None = None


class Placed(NamedTuple):
    """A line and where it stands in its source."""

    position: Position
    line: Happened


# what the numbers of a position may be at most, by the letter of its source
BOUNDS: dict[str, Position] = {
    "c": (places.LARGEST,), "s": (places.LARGEST,), "r": places.TIME_AND_KEY, "f": places.TIME_AND_KEY,
    "d": (date.max.toordinal(), *places.TIME_AND_KEY),
}  # fmt: skip

# (the position after which to go on, if any; how many) -> so many lines, or all that are left
Source = Callable[[Position | None, int], list[Placed]]


@dataclass(frozen=True)
class Wanted:
    """Whose history, and which part of it. `folded`: what an app took back itself is one line for each day."""

    user: "User"
    group: str = ""
    app_id: str = ""
    folded: bool = False
    names: Mapping[str, str] = field(default_factory=dict)  # what apps are called that somebody has read already

    def sources(self) -> dict[str, Source]:
        """By the letter that stands for each in a cursor."""
        found: dict[str, Source] = {"c": self._chained}
        if self.group in ("", Group.READS):
            found["r"] = self._reads
        if self.group in ("", Group.READS) and not self.app_id:
            found["s"] = self._looks_by_staff
        if self.group in ("", Group.DISCOVERIES):
            found |= {"d": self._discoveries, "f": self._finds}
        return found

    def _entries(self) -> Entries:
        entries = AuditEntry.objects.of(audit.person_chain(self.user.public_id)).filter(kind__in=_kinds(self.group))
        return entries.telling(app_id=self.app_id) if self.app_id else entries

    def _chained(self, after: Position | None, most: int) -> list[Placed]:
        entries, times = self._entries(), {}
        if self.folded:
            times = dict(_taken_back(entries, after, most))
            entries = entries.filter(~_TAKEN_BACK | Q(sequence__in=times))
        if self.group in (Group.DECISIONS, Group.ENDS):  # "expired" is told of both; only a grant's end names the grant
            is_end = Q(kind=EventType.EXPIRED, kept__facts__grant_id__startswith="")
            entries = entries.filter(~Q(kind=EventType.EXPIRED) | (is_end if self.group == Group.ENDS else ~is_end))
        if after is not None:
            entries = entries.filter(sequence__lt=after[0])
        some = list(entries.select_related("kept").order_by("-sequence")[:most])
        asked = _requests(entry.facts.get("request_id") for entry in some)
        names = self._names(entry.facts.get("app_id") for entry in some if "request_id" not in entry.facts)
        return [
            Placed(
                (entry.sequence,),
                _line(entry, asked.get(entry.facts.get("request_id", "")), names, times.get(entry.sequence, 1)),
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
        """The newest of the grants that were read last: others cannot be among them, nor what lies deeper in any."""

        of_one = older(Read.objects.filter(grant=OuterRef("pk")), "at", after).order_by("-at", "-id")
        grants = Grant.objects.filter(user=self.user)
        if self.app_id:
            grants = grants.filter(app__app_id=self.app_id)
        read_last: Any = (
            grants.annotate(newest=Subquery(of_one.values("at")[:1]), newest_id=Subquery(of_one.values("id")[:1]))
            .annotate(deepest=Subquery(of_one.values("at")[most - 1 : most]))
            .order_by(F("newest").desc(nulls_last=True), "-newest_id")
            .select_related("app", "request__scope_entry")
            .only("app__app_id", *(f"request__{column}" for column in _NAMED))[:most]
        )
        found: dict[int, Any] = {grant.pk: grant for grant in read_last if grant.newest is not None}
        reads = older(Read.objects.filter(grant__in=found), "at", after).order_by("-at", "-id")
        if enough := [grant.deepest for grant in found.values() if grant.deepest is not None]:
            reads = reads.filter(at__gte=max(enough))
        titles = {pk: title_of(EventType.READ, grant.request) for pk, grant in found.items()}
        return [
            Placed(
                (places.microseconds(at), pk),
                Happened(at, EventType.READ, titles[of], "", found[of].app.app_id, found[of].request.request_id),
            )
            for at, pk, of in (reads.values_list("at", "id", "grant_id")[:most] if found else ())
        ]

    def _looks_by_staff(self, after: Position | None, most: int) -> list[Placed]:
        title = title_of(EventType.STAFF_VIEWED, None)
        before = None if after is None else after[0]
        return [
            Placed((day.first,), Happened(day.at, EventType.STAFF_VIEWED, title, day.detail()))
            for day in staff_looks.days_of_looks(self.user.public_id, before=before, most=most)
        ]

    def _discoveries(self, after: Position | None, most: int) -> list[Placed]:
        looked = Discovery.objects.filter(user=self.user).select_related("app")
        if self.app_id:
            looked = looked.filter(app__app_id=self.app_id)
        if after is not None:
            day = date.fromordinal(after[0])
            that_day = older(looked.filter(day=day), "first_at", after[1:])
            looked = that_day | looked.filter(day__lt=day)
        return [
            Placed(
                (row.day.toordinal(), places.microseconds(row.first_at), row.pk),
                _seen(row.first_at, EventType.DISCOVERED, row.app, _looks(row.count)),
            )
            for row in looked.order_by("-day", "-first_at", "-id")[:most]
        ]

    def _finds(self, after: Position | None, most: int) -> list[Placed]:
        found = DirectoryFind.objects.filter(user=self.user).select_related("app")
        if self.app_id:
            found = found.filter(app__app_id=self.app_id)
        seen = gettext("It saw what your public profile says.")
        return [
            Placed((places.microseconds(row.at), row.pk), _seen(row.at, EventType.FOUND, row.app, seen))
            for row in older(found, "at", after).order_by("-at", "-id")[:most]
        ]


def _taken_back(entries: Entries, after: Position | None, most: int) -> list[tuple[int, int]]:
    """(the first entry, how many there are) for each day and app that took back what it had asked, newest first."""
    days = (
        entries.filter(_TAKEN_BACK)
        .annotate(day=TruncDate("at", tzinfo=UTC), app=KeyTextTransform("app_id", "kept__facts"))
        .values("day", "app")
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
    if times > 1 and request is not None:
        return Happened(entry.at, kind, _fold(request.app_name, times), "", facts.get("app_id"))
    return Happened(
        entry.at,
        kind,
        title_of(kind, request, names.get(facts.get("app_id", ""), "")),
        request.purpose if request is not None and kind in (EventType.APPROVED, EventType.DENIED) else "",
        facts.get("app_id"),
        facts.get("request_id"),
        facts.get("receipt_id"),
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


def _looks(count: int) -> str:
    saw = gettext("It saw the names of what you could share, no values.")
    times = ngettext("%(n)d time that day.", "%(n)d times that day.", count) % {"n": count}
    return f"{saw} {times}" if count > 1 else saw
