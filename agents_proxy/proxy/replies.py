"""From an agent's JSON-RPC answer to the fields it names (pure). Contract 4.3, "Reading a reply"."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agents_proxy.proxy.envelope import AGENT_FAILED
from agents_proxy.proxy.fields import Fields, fields_of
from agents_proxy.proxy.objects import Found, Search, TooDeep, cleaned
from agents_proxy.proxy.spelling import snake_case
from pkm.registry.controls import spelled

MOST_PIECES = 200  # texts and data parts of a reply are read; all of them are kept
MOST_CANDIDATES = 200  # objects

# where parts may stand; those of other interfaces than A2A's come after
_PLACES = (
    ("status", "message", "parts"),
    ("artifacts",),
    ("message", "parts"),
    ("parts",),
    ("response", "parts"),
    ("structuredContent",),
    ("content",),
    ("message", "content"),
    ("choices", "message", "content"),
    ("candidates", "content", "parts"),
)
# of a task or a message; the rest of a result may be the answer itself
_NO_ANSWER = frozenset(
    spelled(
        "id kind state status message messages parts artifacts history metadata role contextId sessionId taskId "
        "messageId response structuredContent content choices candidates task final extensions jsonrpc"
    )
)


# where other programs put what a model said, in each other, where none of these places has anything
_HOLDERS = frozenset(
    spelled(
        "artifact artifacts task status result response output outputs output_text messages message parts root content "
        "text value reply answer completion generations choices delta"
    )
)
_REQUEST_ROLES = ("user", "system", "developer", "tool")  # roles of who does not answer
_DEEPEST_HOLDER = 8


@dataclass(frozen=True)
class Reading:
    """What a reply says: canonical names to values, the missing ones left out.

    Exactly one of `fields` and `error_code` is there; `repaired` where only a repair could read it. `account` is what
    was chosen, dropped and converted, for people and programs; `chosen` the object as the agent wrote it.
    """

    fields: dict[str, Any] | None
    repaired: bool = False
    error_code: str = ""
    account: dict[str, Any] = field(default_factory=dict, compare=False)
    chosen: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class _Piece:
    """A text, or what a data part holds, and where it stood."""

    place: str
    value: Any
    is_text: bool
    is_draft: bool = False


@dataclass(frozen=True)
class _Candidate:
    piece: _Piece
    found: Found
    fields: Fields

    def rank(self) -> tuple[bool, int, bool, bool, bool]:
        """The higher, the more an answer; of two equal ones the later counts."""
        found, fields = self.found, self.fields
        return (not found.is_draft, fields.known, bool(fields.values), not self.piece.is_text, not found.repaired)


def read_reply(answer: Any) -> Reading:
    """A JSON-RPC answer, read. Never raises: an answer that says nothing readable has an `error_code`.

    agent_failed, agent_error, no_text, not_json, not_an_object, too_deep.
    """
    error = _member(answer, "error")
    if error is not None:
        failed = _member(error, "code") == AGENT_FAILED
        return Reading(None, error_code="agent_failed" if failed else "agent_error")
    pieces, search = list(islice(_pieces(_member(answer, "result")), MOST_PIECES)), Search()
    candidates = list(islice(_candidates(pieces, search), MOST_CANDIDATES))
    if not candidates:
        return Reading(None, error_code=_why_none(pieces, search))
    best = max(enumerate(candidates), key=lambda each: (each[1].rank(), each[0]))[1]
    account, repaired = _account(best, len(candidates)), best.found.repaired
    if not best.fields.values and best.fields.has_error:
        return Reading(None, repaired, "agent_error", account, best.found.value)
    return Reading(best.fields.values, repaired, "", account, best.found.value)


def _account(best: _Candidate, candidates: int) -> dict[str, Any]:
    """Names and counts alone: what was left out is in the reply."""
    fields = best.fields
    return {
        "place": best.piece.place,
        "form": "text" if best.piece.is_text else "data",
        "candidates": candidates,
        "draft": best.found.is_draft,
        "repaired": best.found.repaired,
        "converted": fields.converted,
        "dropped": [{"name": name, "why": why} for name, why in fields.dropped.items()],
        "droppedCount": sum(fields.counts.values()),
    }


def _candidates(pieces: Iterable[_Piece], search: Search) -> Iterator[_Candidate]:
    for piece in pieces:
        found = search.objects_in(piece.value) if piece.is_text else _objects_of(piece.value, search)
        for one in found:
            marked = Found(one.value, one.is_draft or piece.is_draft, one.repaired)
            yield _Candidate(piece, marked, fields_of(one.value))


def _objects_of(data: Any, search: Search) -> Iterator[Found]:
    for part in data if isinstance(data, list) else [data]:
        if isinstance(part, Mapping):
            try:
                yield Found(cleaned(part))
            except TooDeep:
                search.too_deep = True
        else:
            search.other_json = True


def _why_none(pieces: list[_Piece], search: Search) -> str:
    if not any(not piece.is_text or piece.value.strip() for piece in pieces):
        return "no_text"
    if search.too_deep:
        return "too_deep"
    return "not_an_object" if search.other_json or any(_is_json(piece) for piece in pieces) else "not_json"


def _is_json(piece: _Piece) -> bool:
    import json

    with suppress(ValueError, RecursionError):
        json.loads(piece.value)
        return True
    return False


def _pieces(result: Any) -> Iterator[_Piece]:
    """The places of a result in their order; its own members where there are none of them."""
    some = False
    for path in _PLACES:
        for found in _at(result, path):
            for piece in _artifacts(found) if path == ("artifacts",) else _parts(found, ".".join(path)):
                some = True
                yield piece
    if isinstance(result, str):
        yield _Piece("result", result, is_text=True)
    elif not some and (texts := list(islice(_texts_elsewhere(result), MOST_PIECES))):
        yield from (_Piece("result", text, is_text=True) for text in texts)
    elif not some and isinstance(result, Mapping) and (own := {k: v for k, v in result.items() if k not in _NO_ANSWER}):
        piece = _Piece("result", own, is_text=False)
        with suppress(TooDeep):
            if fields_of(cleaned(own)).known:
                yield piece


def _texts_elsewhere(value: Any, deep: int = 0) -> Iterator[str]:
    """The texts with an object in them, of whoever answers."""
    if isinstance(value, str):
        if "{" in value:
            yield value
    elif deep < _DEEPEST_HOLDER and isinstance(value, list):
        for part in value:
            yield from _texts_elsewhere(part, deep + 1)
    elif deep < _DEEPEST_HOLDER and isinstance(value, Mapping) and value.get("role") not in _REQUEST_ROLES:
        for name in value:
            if snake_case(name) in _HOLDERS:
                yield from _texts_elsewhere(value[name], deep + 1)


def _artifacts(artifacts: Any) -> Iterator[_Piece]:
    """Each artifact once, with the parts of all its chunks."""
    parts: dict[Any, list[Any]] = {}
    for at, artifact in enumerate(artifacts if isinstance(artifacts, list) else []):
        named = _member(artifact, "artifactId") or _member(artifact, "index")
        listed = _member(artifact, "parts")
        if isinstance(listed, list):
            parts.setdefault(named if isinstance(named, str | int) else ("", at), []).extend(listed)
    for listed in parts.values():
        yield from _parts(listed, "artifacts")


def _parts(value: Any, place: str) -> Iterator[_Piece]:
    """Data parts one by one, then the texts as one: an agent that streams cuts them anywhere."""
    if isinstance(value, Mapping) and value:
        yield _Piece(place, value, is_text=False)
    listed = value if isinstance(value, list) else [value]
    for part in listed:
        data = _member(part, "data")
        if isinstance(data, Mapping | list):
            yield _Piece(place, data, is_text=False)
    texts: dict[bool, str] = {}
    for part in listed:
        text = part if isinstance(part, str) else _member(part, "text") or _member(part, "data")
        if isinstance(text, str):
            is_draft = _member(part, "thought") is True
            texts[is_draft] = texts.get(is_draft, "") + text
    yield from (_Piece(place, text, is_text=True, is_draft=is_draft) for is_draft, text in texts.items())


def _at(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """What stands at a path, through every part of a list on the way."""
    if not path:
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _at(part, path)
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _at(value[path[0]], path[1:])


def _member(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else None
