"""From an agent's JSON-RPC answer to the fields it names (pure). Contract 4.3, "Reading a reply"."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

from agents_proxy.proxy.repairs import DEEPEST, Budget, Exhausted, TooDeep, past_brackets, repaired
from agents_proxy.proxy.spelling import canonical

MOST_TEXTS = 200  # of a reply are read; all of them are kept
MOST_BLOCKS = 20
MOST_TRIES = 100  # places in a text where an object may begin

_FENCE = re.compile(r"```[ \t]*[\w+-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_OUTERMOST_FENCE = re.compile(r"```[ \t]*+[\w+-]*+[ \t]*+\r?+\n?+(.*)```", re.DOTALL)
_OPENING = re.compile(r"[\[{]")
_FENCE_BEFORE = re.compile(r"```[ \t]*[\w+-]*\s*\Z")
_GOES_ON = re.compile(r'\s*(?:[}\]]|,\s*")')
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NOT_A_NUMBER = re.compile(r"(?<![\w.])-?(?:NaN|Infinity)(?![\w.])")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Unreadable(Exception):
    """No object can be had from this reply; `code` says why."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True)
class Reading:
    """What a reply says: canonical names to values, the missing ones left out. `text` is where it stood, as it stood.

    Exactly one of `fields` and `error_code` is there; `repaired` where only a repair could read it.
    """

    fields: dict[str, Any] | None
    text: str
    repaired: bool = False
    error_code: str = ""


def read_reply(answer: Any) -> Reading:
    """A JSON-RPC answer, read. Never raises: an answer that says nothing readable has an `error_code`.

    agent_error, no_text, not_json, not_an_object, non_finite_number, too_deep.
    """
    texts = list(_texts(answer))
    whole = "\n\n".join(texts)
    if isinstance(answer, Mapping) and "error" in answer:
        return Reading(None, whole, error_code="agent_error")
    if not any(text.strip() for text in texts):
        return Reading(None, whole, error_code="no_text")
    reason, budget = "not_json", Budget()
    # what can be read as it is comes before what would have to be repaired, wherever it stands
    for read, was_repaired in ((_parsed, False), (_repair, True)):
        for text in texts[:MOST_TEXTS]:
            try:
                return Reading(_named(_unwrapped(read(text, budget))), text, was_repaired)
            except Unreadable as problem:
                if problem.code in ("non_finite_number", "too_deep"):
                    return Reading(None, text, error_code=problem.code)
                if problem.code == "not_an_object":
                    reason = problem.code
    return Reading(None, whole, error_code=reason)


def objects_in(texts: Iterable[str]) -> Iterator[Any]:
    """Every object and list that stands in these texts, not only the one that `read_reply` takes."""
    budget = Budget()
    for text in islice(texts, MOST_TEXTS):
        found = list(_all_of(text))
        if not found:
            with suppress(Unreadable):
                found = [_repair(text, budget)]
        yield from found


def _all_of(text: str) -> Iterator[Any]:
    at = 0
    for _ in range(MOST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            found, at = _JSON.raw_decode(text, opening.start())
        except (ValueError, RecursionError, Unreadable):
            at = opening.end()
        else:
            yield found


def is_missing(value: Any) -> bool:
    """Null, blank text, an empty list, an empty object. 0 and false are values."""
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _texts(answer: Any) -> Iterator[str]:
    """The places where the text may stand, in their order."""
    result = _member(answer, "result")
    yield from _parts(_member(_member(result, "status"), "message"))
    artifacts = _member(result, "artifacts")
    for artifact in artifacts if isinstance(artifacts, list) else []:
        yield from _parts(artifact)
    yield from _parts(_member(result, "message"))
    yield from _parts(result)


def _parts(holder: Any) -> Iterator[str]:
    parts = _member(holder, "parts")
    for part in parts if isinstance(parts, list) else []:
        text = _member(part, "text")
        if isinstance(text, str):
            yield text


def _member(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else None


def _candidates(text: str) -> Iterator[str]:
    """The text itself, then what stands in its fences; a fence may hold backticks of its own."""
    yield text.strip()
    if "```" in text:
        for index, block in enumerate(_FENCE.finditer(text)):
            if index == MOST_BLOCKS:
                break
            yield block[1].strip()
        if outermost := _OUTERMOST_FENCE.search(text):
            yield outermost[1].strip()


def _parsed(text: str, budget: Budget) -> dict[str, Any]:
    """The object that `text` is, or that its fences hold, or else the first that stands in it as it is."""
    reason = "not_json"
    for candidate in _candidates(text):
        try:
            found = _JSON.decode(candidate)
        except RecursionError:
            raise Unreadable("too_deep") from None
        except ValueError:
            continue
        if isinstance(found, dict):
            return _checked(found)
        reason = "not_an_object"
    if reason == "not_json" and (within := _first_object(text.strip(), budget)) is not None:
        return _checked(within)
    raise Unreadable(reason)


def _first_object(text: str, budget: Budget) -> dict[str, Any] | None:
    """The first object among the words of `text`; what stands inside brackets that cannot be read is only a part."""
    at = 0
    for _ in range(MOST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return None
        at = opening.start()
        try:
            found, end = _JSON.raw_decode(text, at)
        except RecursionError:
            raise Unreadable("too_deep") from None
        except ValueError:
            if text[at] == "{" and (at == 0 or _FENCE_BEFORE.search(text, max(at - 40, 0), at)):
                return None  # the object that this text means to be, which is to be repaired
            try:
                at = past_brackets(text, at, budget)
            except (Exhausted, TooDeep):
                return None
            continue
        if isinstance(found, dict):
            # a text that begins with an object and goes on with its next member is one broken object
            return None if at == 0 and _GOES_ON.match(text, end) else found
        at = end
    return None


def _repair(text: str, budget: Budget) -> dict[str, Any]:
    """The object that a repair makes of a text which means to be one: prose with braces in it does not."""
    inner = text.strip()
    if not inner.startswith("{"):
        *_, inner = _candidates(text)
    means_to = inner.startswith("{") or ("```" in text and "{" in inner)
    if not means_to or len(inner) > budget.characters:
        raise Unreadable("not_json")
    if _NOT_A_NUMBER.search(_STRING.sub('""', inner)):
        raise Unreadable("non_finite_number")  # a repair would make text of it
    try:
        found = repaired(inner, budget)
    except TooDeep:
        raise Unreadable("too_deep") from None
    except (Exhausted, ValueError):
        raise Unreadable("not_json") from None
    if not isinstance(found, dict) or not found:
        raise Unreadable("not_json" if not found else "not_an_object")
    return _checked(found)


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    """`found` with finite numbers, a bounded depth, and text that can be written as UTF-8."""
    cleaned: dict[str, Any] = _clean(found, 1)
    return cleaned


def _clean(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise Unreadable("too_deep")
    match value:
        case dict():
            return {_clean(str(key), depth): _clean(part, depth + 1) for key, part in value.items()}
        case list() | tuple():
            return [_clean(part, depth + 1) for part in value]
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case float() if not math.isfinite(value):
            raise Unreadable("non_finite_number")
    return value


def _unwrapped(found: dict[str, Any]) -> dict[str, Any]:
    for name, inner in found.items():
        if isinstance(inner, dict) and canonical(name) == "user_profile":
            return inner
    return found


def _named(found: dict[str, Any]) -> dict[str, Any]:
    """One spelling per field; the later of two spellings counts, unless it says nothing."""
    pairs = ((canonical(name), value) for name, value in found.items() if not is_missing(value))
    return {name: value for name, value in pairs if name}


def _refuse(_name: str) -> NoReturn:
    raise Unreadable("non_finite_number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Unreadable("non_finite_number")
    return value


def _whole(digits: str) -> int | float:
    """An integer that other programs can read too: beyond 64 bits it becomes a float."""
    return int(digits) if len(digits) <= 18 else _finite(digits)


# no number that JSON does not know, none that turns infinite, none that other programs cannot read
_JSON = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
