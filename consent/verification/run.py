"""The whole check, one page after another, and where it stands between two of them.

Five passes: the entries of every chain with the rows that they tell of; the heads; the people who have decided and have
no chain; what apps were told; and the public log. What is remembered from one page to the next is `Position`, whose
size does not grow with what was checked.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from common.clock import database_now
from consent.event_types import OF_CONNECTIONS, EventType
from consent.exports.forgetting import Forgotten
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry
from consent.ledger.verifying import Broken
from consent.log.verifying import LogPosition, verify_log_in_parts
from consent.notices.models import Notice, NoticeCounter
from consent.notices.outbox import is_first
from consent.requests.models import ConsentRequest
from consent.rules import SHORTEST_DAYS
from consent.states import RequestStatus
from consent.verification.entries import verify_entries
from consent.verification.people import APP, PERSON, verify_app, verify_chainless, verify_people
from consent.verification.summary import Summary
from developers.app_events import ProcessingEvent

COLUMNS = (
    "pk", "sequence", "kind", "facts", "at", "app__app_id", "request__request_id", "request__pairwise_id",
    "request__scope", "request__app__app_id", "request__grant__grant_id", "request__user__erased_at",
    "request__grant__approved_attributes",
)  # fmt: skip

# a connection's names the request that rides along, if any, in its facts alone
_OF_NO_REQUEST = {*ProcessingEvent, *(webhook.type for webhook in OF_CONNECTIONS)}


def verify_notices(page: list[dict[str, Any]], newest: dict[str, int], *, restored: bool) -> Iterator[Broken]:
    """`page` is by key, which is the order of each app's numbers; `newest` says where each app stands, and moves on.

    Only where something was `restored` an app's numbers may go on in another epoch. Up to the number to which an app's
    notices were kept long enough any may be gone, and none that is there is younger than that.
    """
    forgotten = dict(NoticeCounter.objects.exclude(forgotten=0).values_list("app__app_id", "forgotten"))
    kept_since = database_now() - timedelta(days=SHORTEST_DAYS)
    for notice in page:
        app_id, sequence = notice["app__app_id"], notice["sequence"]
        last, newest[app_id] = newest.get(app_id, 0), sequence
        goes_on = sequence == last + 1 or (restored and sequence > last and is_first(sequence))
        gone_to = forgotten.get(app_id, 0)
        went = last < sequence <= gone_to + 1
        if sequence <= gone_to and notice["at"] >= kept_since:
            yield Broken(
                audit.app_chain(app_id), 0, f"number {sequence} of what it was told is said to be old, and is not"
            )
        elif not (goes_on or went):
            yield Broken(audit.app_chain(app_id), 0, f"what the app was told goes from number {last} to {sequence}")
        elif notice["request__request_id"] is None:
            if notice["kind"] not in _OF_NO_REQUEST or notice["facts"].get("sequence") != sequence:
                yield Broken(audit.app_chain(app_id), 0, f"number {sequence} of what it was told is of nothing")
        elif not _is_of_its_request(notice):
            request_id = notice["request__request_id"]
            yield Broken(audit.app_chain(app_id), 0, f"number {sequence} of what it was told is not of {request_id}")


def _is_of_its_request(notice: dict[str, Any]) -> bool:
    facts, grant = notice["facts"], notice["facts"].get("grant") or {}
    stated = [facts.get(name) for name in ("request_id", "user_id", "scope", "sequence")]
    there = [
        notice["request__request_id"],
        notice["request__pairwise_id"],
        notice["request__scope"],
        notice["sequence"],
    ]
    if stated != there or notice["app__app_id"] != notice["request__app__app_id"]:
        return False
    if notice["request__user__erased_at"] is not None or not grant:
        return True
    named = (grant.get("grant_id"), grant.get("approved_attributes"))
    return named == (notice["request__grant__grant_id"], notice["request__grant__approved_attributes"])


def notices_after(pk: int, size: int) -> list[dict[str, Any]]:
    return list(Notice.objects.filter(pk__gt=pk).order_by("pk").values(*COLUMNS)[:size])


PASSES = ("chains", "heads", "people", "notices", "log")
MOST_FOUND = 1000  # findings that are kept; who has more knows enough


@dataclass
class Position:
    """Where a run stands, in members that JSON knows.

    `only` is the name of the one chain that is checked, empty for all. `summary` is of the chain in whose middle the
    last page ended.
    """

    only: str = ""
    stage: str = PASSES[0]
    chain: verifying.ChainState = field(default_factory=lambda: verifying.ChainState(""))
    summary: Summary = field(default_factory=Summary)
    head: str = ""
    pk: int = 0
    newest: dict[str, int] = field(default_factory=dict)
    log: LogPosition = field(default_factory=LogPosition)
    entries: int = 0
    found: list[list[Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> "Position":
        """Raises TypeError where it is none of ours."""
        chain, summary = verifying.ChainState(**kept.pop("chain")), Summary(**kept.pop("summary"))
        log = LogPosition(**kept.pop("log"))
        return cls(chain=chain, summary=summary, log=log, **kept)

    def note(self, found: list[verifying.Broken]) -> None:
        self.found += [[flaw.chain, flaw.sequence, flaw.reason] for flaw in found[: MOST_FOUND - len(self.found)]]


def run(position: Position) -> Iterator[list[verifying.Broken]]:
    """What each page has to complain of; `position` has moved on by then."""
    passes: dict[str, Callable[[Position], Iterator[list[verifying.Broken]]]] = {
        "chains": _chains,
        "heads": _heads,
        "people": _people,
        "notices": _notices,
        "log": _log,
    }
    wanted = PASSES[PASSES.index(position.stage) :]
    for stage in [name for name in wanted if name in ("chains", "heads")] if position.only else wanted:
        position.stage = stage
        for found in passes[stage](position):
            position.note(found)
            yield found
        position.pk = 0


def _chains(position: Position) -> Iterator[list[verifying.Broken]]:
    for page in verifying.read_pages(after=position.chain, only=position.only or None):
        found = [*page.found, *verify_entries(page.entries), *_flaws_of_rows(page, position)]
        position.chain = page.state
        position.entries += len(page.entries)
        yield found


def _flaws_of_rows(page: verifying.Page, position: Position) -> Iterator[verifying.Broken]:
    """Of every chain that the page ends; what the one in its middle tells is remembered."""
    names = verifying.names_of({page.state.chain, *(state.chain for state in page.ended)})
    summaries = _summaries(page, position, names)
    ended = {
        names[state.chain]: summaries[state.chain]
        for state in page.ended
        if state.chain in names and not state.is_broken
    }
    yield from verify_people({name: own for name, own in ended.items() if name.startswith(PERSON)})
    for name, own in ended.items():
        if name.startswith(APP):
            yield from verify_app(name, own)
    position.summary = summaries.get(page.state.chain, Summary())


def _summaries(page: verifying.Page, position: Position, names: dict[str, str]) -> dict[str, Summary]:
    summaries = {state.chain: Summary() for state in [*page.ended, page.state]}
    summaries[position.chain.chain] = position.summary
    forgotten = Forgotten.by_now()
    for entry in page.entries:
        summaries[entry["chain"]].take(
            kind=entry["kind"],
            facts=verifying.facts_of(entry),
            sequence=entry["sequence"],
            is_person=names.get(entry["chain"], "").startswith(PERSON),
            is_forgotten=forgotten.covers(entry["pk"], entry["at"]),
        )
    return summaries


def _heads(position: Position) -> Iterator[list[verifying.Broken]]:
    known = {name for name, _, _ in position.found}
    for heads in verifying.read_heads(after=position.head, only=position.only or None):
        position.head = heads[-1].chain
        yield [flaw for flaw in verifying.verify_heads(heads) if flaw.chain not in known]


def _people(position: Position) -> Iterator[list[verifying.Broken]]:
    decided = ConsentRequest.objects.exclude(status=RequestStatus.PENDING).filter(user__erased_at=None)
    requests = decided.select_related("user").only("request_id", "status", "user__public_id").order_by("pk")
    while page := list(requests.filter(pk__gt=position.pk)[: verifying.PAGE]):
        position.pk = page[-1].pk
        yield list(verify_chainless(page))


def _notices(position: Position) -> Iterator[list[verifying.Broken]]:
    restored = AuditEntry.objects.of(audit.DEPLOYMENT).filter(kind=EventType.RESTORED).exists()
    while page := notices_after(position.pk, verifying.PAGE):
        position.pk = page[-1]["pk"]
        yield list(verify_notices(page, position.newest, restored=restored))


def _log(position: Position) -> Iterator[list[verifying.Broken]]:
    yield from verify_log_in_parts(position.log)
