"""Everything that happened with a person's data, told from their chain, the reads and the discoveries."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext, ngettext

from consent.discovery.models import DirectoryFind, Discovery
from consent.event_types import EventType, Group
from consent.exports.models import Read
from consent.ledger import audit
from consent.ledger.models import AuditEntry
from consent.ledger.verifying import Broken, verify
from consent.requests.models import ConsentRequest
from consent.states import Actor
from consent.web import staff_looks
from developers.models import App
from pkm.registry import labels

if TYPE_CHECKING:
    from accounts.models import User

PAGE = 40
DEEPEST_PAGE = 250
_FIRST, _AT_ONCE = 2 * PAGE, 500
# what is told of as it stands in a person's chain, one line for each entry
_CHAINED: dict[EventType, Group] = {
    event: event.in_history.group
    for event in EventType
    if event.in_history and not event.is_derived and event is not EventType.STAFF_VIEWED
}


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
    app: str = ""
    taken_back: bool = False


@dataclass(frozen=True)
class HistoryPage:
    """One page of it, and whether there are older ones."""

    lines: list[Happened]
    number: int
    has_older: bool


def history(user: "User", *, group: str = "", app_id: str = "", page: int = 1) -> HistoryPage:
    """Newest first. The sources are merged, so each is read as deep as the page lies."""
    page = min(max(page, 1), DEEPEST_PAGE)
    first = (page - 1) * PAGE
    merged = happened(user, group=group, app_id=app_id, most=first + PAGE + 1, folded=True)
    lines = list(islice(merged, first, first + PAGE + 1))
    return HistoryPage(lines[:PAGE], page, len(lines) > PAGE and page < DEEPEST_PAGE)


def happened(
    user: "User", *, group: str = "", app_id: str = "", most: int | None = None, folded: bool = False
) -> Iterator[Happened]:
    """Every line, newest first; without `most` each source is read bit by bit, however long it is.

    `folded`: requests that an app took back itself are one line for each app and day, with how many they were.
    """
    chained = _chained(user, group, app_id)
    sources = [_folded(chained) if folded else chained]
    if group in ("", Group.READS):
        sources.append(_reads(user, app_id, most))
    if group in ("", Group.READS) and not app_id:
        sources.append(_looks_by_staff(user, most))
    if group in ("", Group.DISCOVERIES):
        sources += [_discoveries(user, app_id, most), _finds(user, app_id, most)]
    return heapq.merge(*sources, key=lambda line: line.at, reverse=True)


def _some(found: QuerySet[Any], most: int | None) -> Iterator[Any]:
    return iter(found[:most]) if most is not None else found.iterator(chunk_size=_AT_ONCE)


def checked_chain(user: "User") -> tuple[int, Broken | None]:
    """How many entries this person's chain has, and the first that does not hold, if any."""
    chain = audit.person_chain(user.public_id)
    return AuditEntry.objects.of(chain).count(), next(verify(chain), None)


def apps_met(user: "User") -> list[tuple[str, str]]:
    """(app_id, name) of every app that asked this person, found them or looked at what it could ask."""
    asked = ConsentRequest.objects.filter(user=user).values_list("app__app_id", "app__name")
    looked = Discovery.objects.filter(user=user).values_list("app__app_id", "app__name")
    found = DirectoryFind.objects.filter(user=user).values_list("app__app_id", "app__name")
    return sorted(set(asked) | set(looked) | set(found), key=lambda pair: pair[1].lower())


def _chained(user: "User", group: str, app_id: str) -> Iterator[Happened]:
    chain = audit.person_chain(user.public_id)
    entries = AuditEntry.objects.of(chain).filter(kind__in=_kinds(group)).select_related("kept")
    if app_id:
        entries = entries.telling(app_id=app_id)
    if group in (Group.DECISIONS, Group.ENDS):  # "expired" is told of both, and only a grant's end names the grant
        of_grants = Q(pk__in=AuditEntry.objects.of(chain).telling(grant_id__startswith="").values("pk"))
        entries = entries.exclude(Q(kind=EventType.EXPIRED) & (of_grants if group == Group.DECISIONS else ~of_grants))
    entries = entries.order_by("-sequence")
    # as far as somebody reads on: how many entries make a page is known only once they are folded
    most = _FIRST
    some = list(entries[:most])
    while some:
        asked = _requests(entry.facts.get("request_id") for entry in some)
        names = _names(entry.facts.get("app_id") for entry in some if "request_id" not in entry.facts)
        yield from (_line(entry, asked.get(entry.facts.get("request_id", "")), names) for entry in some)
        if len(some) < most:
            return
        most = _AT_ONCE
        some = list(entries.filter(sequence__lt=some[-1].sequence)[:most])


def _folded(lines: Iterable[Happened]) -> Iterator[Happened]:
    """A day at a time, so that apps which take turns in asking and taking back are folded as well."""
    for _, of_day in groupby(lines, key=lambda line: line.at.date()):
        day = list(of_day)
        count = Counter(line.app_id for line in day if line.taken_back)
        folded: set[str | None] = set()
        for line in day:
            if not line.taken_back or count[line.app_id] == 1:
                yield line
            elif line.app_id not in folded:
                folded.add(line.app_id)
                yield _fold(line, count[line.app_id])


def _fold(newest: Happened, count: int) -> Happened:
    words = ngettext(
        "%(app)s asked you and took it back, %(n)d time that day",
        "%(app)s asked you and took it back, %(n)d times that day",
        count,
    )
    return Happened(newest.at, newest.kind, words % {"app": newest.app, "n": count}, "", newest.app_id)


def _kinds(group: str) -> list[EventType]:
    kinds = [kind for kind, its_group in _CHAINED.items() if group in ("", its_group)]
    return [*kinds, EventType.EXPIRED] if group == Group.ENDS else kinds


def _requests(request_ids: Iterable[Any]) -> dict[str, ConsentRequest]:
    wanted = {request_id for request_id in request_ids if request_id}
    found = ConsentRequest.objects.filter(request_id__in=wanted).select_related("app", "scope_entry")
    return {request.request_id: request for request in found}


def _names(app_ids: Iterable[Any]) -> dict[str, str]:
    """What apps are called that an entry names without a request."""
    wanted = {app_id for app_id in app_ids if app_id}
    return dict(App.objects.filter(app_id__in=wanted).values_list("app_id", "name")) if wanted else {}


def _line(entry: AuditEntry, request: ConsentRequest | None, names: dict[str, str]) -> Happened:
    facts = entry.facts
    kind = _kind(entry)
    return Happened(
        entry.at,
        kind,
        title_of(kind, request, names.get(facts.get("app_id", ""), "")),
        request.purpose if request is not None and kind in (EventType.APPROVED, EventType.DENIED) else "",
        facts.get("app_id"),
        facts.get("request_id"),
        facts.get("receipt_id"),
        request.app_name if request is not None else "",
        request is not None and kind is EventType.CANCELLED and entry.actor == Actor.APP,
    )


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


def _reads(user: "User", app_id: str, most: int | None) -> Iterator[Happened]:
    reads = Read.objects.filter(grant__user=user).select_related(
        "grant__request__app", "grant__request__scope_entry", "export"
    )
    reads = reads.defer("export__ciphertext")
    if app_id:
        reads = reads.filter(grant__app__app_id=app_id)
    for read in _some(reads.order_by("-at", "-id"), most):
        request = read.grant.request
        title = title_of(EventType.READ, request)
        yield Happened(read.at, EventType.READ, title, "", request.app.app_id, request.request_id)


def _looks_by_staff(user: "User", most: int | None) -> Iterator[Happened]:
    kind = EventType.STAFF_VIEWED
    for day in islice(staff_looks.days_of_looks(user.public_id), most):
        yield Happened(day.last_at, kind, title_of(kind, None), day.detail())


def _discoveries(user: "User", app_id: str, most: int | None) -> Iterator[Happened]:
    looked = Discovery.objects.filter(user=user).select_related("app")
    if app_id:
        looked = looked.filter(app__app_id=app_id)
    for row in _some(looked.order_by("-last_at", "-id"), most):
        title = title_of(EventType.DISCOVERED, None, row.app.name)
        yield Happened(row.last_at, EventType.DISCOVERED, title, _looks(row.count), row.app.app_id)


def _finds(user: "User", app_id: str, most: int | None) -> Iterator[Happened]:
    found = DirectoryFind.objects.filter(user=user).select_related("app")
    if app_id:
        found = found.filter(app__app_id=app_id)
    seen = gettext("It saw what your public profile says, and your sharing ID.")
    for row in _some(found.order_by("-at", "-id"), most):
        yield Happened(row.at, EventType.FOUND, title_of(EventType.FOUND, None, row.app.name), seen, row.app.app_id)


def _looks(count: int) -> str:
    saw = gettext("It saw the names of what you could share, no values.")
    times = ngettext("%(n)d time that day.", "%(n)d times that day.", count) % {"n": count}
    return f"{saw} {times}" if count > 1 else saw
