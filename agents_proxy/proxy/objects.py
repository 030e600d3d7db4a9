"""Every JSON object that stands in a text: whole, broken, in a fence, between words, written as a text (pure)."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DEEPEST = 48  # levels; deeper ones are nobody's profile and break whoever walks them
LONGEST_REPAIR = 12 * 1024  # characters of all texts of a reply: what the library does grows with the square of them
MOST_TRIES = 1000  # places in all texts where an object may begin
MOST_SCANNED = 4_000_000  # characters, of all tries that came to nothing
MOST_ENCODED = 3  # texts in texts

NOT_A_NUMBER = object()  # in place of NaN, Infinity and what is too large to be finite

_OPENING = re.compile(r'[\[{]|"(?=\s{0,9}(?:\\{1,7}")?[\[{]\s{0,9}(?:\\{1,15}[n"]|[}\]]))')
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_FENCE_BEFORE = re.compile(r"```[\w+-]{0,20}\Z")
_MEANT = re.compile(r"""\{\s*(?:["'\u201c\u2018`\\}]|//|/\*)""")  # a member's name begins, and no words in braces
_GOES_ON = re.compile(r'\s*(?:[}\]]|,\s*")')
_THOUGHT = re.compile(
    r"<(?P<tag>think|thinking|thought|thoughts|reasoning|scratchpad|reflection)\s{0,9}>.*?(?:</(?P=tag)\s{0,9}>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|thoughts|reasoning|scratchpad|reflection)\s{0,9}>", re.I)
_SURROGATE = re.compile("[\ud800-\udfff]")


class TooDeep(Exception):
    """Something is nested deeper than `DEEPEST`."""


@dataclass(frozen=True)
class Found:
    """An object; `is_draft` where an agent wrote it while thinking, `repaired` where the text was no JSON."""

    value: dict[str, Any]
    is_draft: bool = False
    repaired: bool = False


@dataclass
class Search:
    """Of the texts of one reply: what may still be repaired and tried, and what else was met than objects."""

    characters: int = LONGEST_REPAIR
    tries: int = MOST_TRIES
    too_deep: bool = False
    other_json: bool = False

    def objects_in(self, text: str, encoded: int = 0) -> Iterator[Found]:
        """In the order in which they stand; those of a list one by one."""
        drafts = [found.span() for found in _THOUGHT.finditer(text)]
        if (end := _last_end(text)) and not drafts:  # models are often started inside of their thoughts
            drafts = [(0, end)]
        for start, value in self._values_in(text, encoded):
            is_draft = any(begin <= start < end for begin, end in drafts)
            for found in self._found(value, encoded):
                yield Found(found.value, is_draft or found.is_draft, found.repaired)

    def _found(self, value: Any, encoded: int) -> Iterator[Found]:
        try:
            match value:
                case Found(value=inner):
                    yield Found(cleaned(inner), repaired=True)
                case dict():
                    yield Found(cleaned(value))
                case list():
                    self.other_json = True
                    for part in value:
                        yield from self._found(part, encoded) if isinstance(part, dict) else ()
                case str() if encoded < MOST_ENCODED:
                    yield from self.objects_in(value, encoded + 1)
        except TooDeep:
            self.too_deep = True

    def _values_in(self, text: str, encoded: int) -> Iterator[tuple[int, Any]]:
        """Where each begins, and an object, a list, a text that holds one, or a repaired object as `Found`."""
        at = scanned = 0
        while self.tries > 0:
            self.tries -= 1
            opening = _OPENING.search(text, at)
            if opening is None or scanned > MOST_SCANNED:
                break
            start = opening.start()
            begins = _begins(text, start)
            try:
                value, end = _JSON.raw_decode(text, start)
            except RecursionError:
                self.too_deep, at = True, start + DEEPEST
                continue
            except json.JSONDecodeError as error:
                scanned += error.pos - start
                at = start + 1
                if text[start] == "{" and (begins or _MEANT.match(text, start)):
                    at = _end_of(text, start)
                    yield from ((start, found) for found in self._repaired(text[start:at]))
                continue
            at = end
            if begins and isinstance(value, dict) and _GOES_ON.match(text, end):
                at = _end_of_fence(text, start)  # one broken object, which closes too early
                yield from ((start, found) for found in self._repaired(text[start:at]))
            else:
                yield start, value

    def _repaired(self, broken: str) -> Iterator[Found]:
        import json_repair  # most replies need no repair

        self.characters -= len(broken)
        if self.characters < 0:
            return
        if max((depth for _, depth in _depths(broken, 0, len(broken))), default=0) > DEEPEST:
            self.too_deep = True
            return
        try:
            found = json_repair.loads(broken, skip_json_loads=True)
        except (RecursionError, ValueError):
            return
        if isinstance(found, list):
            found = next((part for part in found if isinstance(part, dict)), None)
        if isinstance(found, dict) and found:
            yield Found(found, repaired=True)


def cleaned(value: Any, depth: int = 1) -> Any:
    """`value` with text that can be written as UTF-8, and finite numbers; raises `TooDeep`."""
    if depth > DEEPEST:
        raise TooDeep
    match value:
        case dict():
            return {_SURROGATE.sub("\ufffd", str(name)): cleaned(part, depth + 1) for name, part in value.items()}
        case list() | tuple():
            return [cleaned(part, depth + 1) for part in value]
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case float() if not math.isfinite(value):
            return NOT_A_NUMBER
        case int() if value.bit_length() > 63:  # which other programs cannot read
            return _finite(str(value)) if value.bit_length() < 1100 else NOT_A_NUMBER
    return value


def _last_end(text: str) -> int:
    ends = [found.end() for found in _THOUGHT_ENDS.finditer(text)]
    return ends[-1] if ends else 0


def _begins(text: str, start: int) -> bool:
    """Whether nothing but blanks, or the opening of a fence, stands before."""
    before = text[max(start - 40, 0) : start].rstrip()
    return before in ("", "\ufeff") or bool(_FENCE_BEFORE.search(before))


def _end_of(text: str, start: int) -> int:
    """Where the bracket at `start` is closed again; the end of its fence, or of the text, where it never is, or not
    within what could be repaired."""
    for end, depth in _depths(text, start, start + LONGEST_REPAIR):
        if depth == 0:
            return end
    return _end_of_fence(text, start)


def _end_of_fence(text: str, start: int) -> int:
    is_fenced = text.count("```", 0, start) % 2 == 1
    end = text.find("```", start) if is_fenced else -1
    return len(text) if end < 0 else end


def _depths(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """After each bracket outside strings: where it ends, and how many are open."""
    depth = 0
    for found in _BRACKETS.finditer(text, start, end):
        if found[0][0] != '"':
            depth = depth + 1 if found[0] in "[{" else max(depth - 1, 0)
            yield found.end(), depth


def _finite(digits: str) -> Any:
    value = float(digits)
    return value if math.isfinite(value) else NOT_A_NUMBER


def _whole(digits: str) -> Any:
    """An integer that other programs can read too: beyond 64 bits it becomes a float."""
    return int(digits) if len(digits) <= 18 else _finite(digits)


# no number that JSON does not know, none that turns infinite, none that other programs cannot read
_JSON = json.JSONDecoder(parse_constant=lambda _: NOT_A_NUMBER, parse_float=_finite, parse_int=_whole)
