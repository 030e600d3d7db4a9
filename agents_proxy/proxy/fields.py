"""From an object as an agent wrote it to the fields of a profile (pure). Contract 4.3, "Reading a reply"."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from agents_proxy.proxy import spelling
from agents_proxy.proxy.objects import NOT_A_NUMBER, Search
from agents_proxy.proxy.placeholders import is_missing, number_in, share_in, without_missing, yes_or_no
from pkm.registry.controls import spelled

MOST_KEYS = 1000  # of one reply are read; the rest is counted
MOST_NAMED = 50  # of what was dropped are named; all of it is counted
DEEPEST = 6  # wrappers and sections in each other
MOST_INSIDE = 20  # places in such a text where the object may begin; nothing in it is repaired
LONGEST_ENCODED = 200_000  # characters of a text that may hold an object

# why something was left out
NO_VALUE, NO_NUMBER, ASIDE = "no_value", "not_a_number", "not_about_them"
OUTSIDE, TOO_MANY = "outside_profile", "too_many"

# what answers and profiles are wrapped in
_WRAPPERS = frozenset(
    spelled(
        "data result results response responses output outputs answer payload content contents body json object "
        "profile profiles user person customer individual consumer user_data profile_data customer_data person_data "
        "final_answer final_output user_info customer_profile person_profile consumer_profile enriched_profile "
        "merged_profile structured_profile structured_content analysis root value items"
    )
)
# what programs and models say of themselves
_ASIDES = frozenset(
    spelled(
        "error errors error_message success ok status code message messages tool tools tool_name tool_call tool_calls "
        "function function_call arguments args parameters action action_input action_name thought thoughts thinking "
        "reasoning explanation observation plan steps query queries search_query search_results sources source "
        "citations references links id task_id request_id trace_id session_id context_id message_id timestamp "
        "created_at updated_at model usage tokens version schema type kind role jsonrpc disclaimer warning warnings "
        "refusal finish_reason instructions metadata text"
    )
) | _WRAPPERS  # fmt: skip
# beside a value that an agent explains: {"value": 41, "confidence": 0.9}
_REMARKS = frozenset(
    spelled(
        "value confidence confidence_score certainty probability score source sources provenance evidence citation "
        "citations reason reasoning rationale explanation note notes comment method verified updated_at "
        "last_updated url"
    )
)
_NAMES = ("field", "name", "key", "attribute", "label")  # of a field in a list of {"name", "value"}
_CAN_BE_NONE = frozenset({"children_count"})  # of the numbers: nobody's age is none, and nobody lives in no household
_GIVEN, _FAMILY = ("first_name", "given_name", "forename"), ("last_name", "family_name", "surname")


@dataclass
class Fields:
    """`values`: canonical names to values. `dropped`: what was left out by its name → why; `dropped_count` has all."""

    values: dict[str, Any] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    converted: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    has_error: bool = False

    @property
    def known(self) -> int:
        """How many of the values are fields that a profile has."""
        return sum(name in spelling.PROMPT_ATTRIBUTES or name in spelling.NESTED for name in self.values)

    def put(self, name: str, value: Any) -> None:
        """A value under its canonical name; the later of two counts, unless it says nothing."""
        self.has_error |= name in ("error", "errors") and not is_missing(value)
        typed = _typed(name, value)
        if is_missing(typed):
            self.drop(name, NO_NUMBER if typed is NOT_A_NUMBER else NO_VALUE)
        elif name in _ASIDES:
            self.drop(name, ASIDE)
        else:
            self.values[name] = without_missing(typed)
            if typed is not value and len(self.converted) < MOST_NAMED:
                self.converted.append(name)

    def drop(self, name: str, why: str) -> None:
        self.counts[why] += 1
        if len(self.dropped) < MOST_NAMED:
            self.dropped[name] = why


def fields_of(found: Mapping[str, Any]) -> Fields:
    """What `found` says of a person: `userProfile` unwrapped wherever it stands, sections and wrappers flattened."""
    fields, groups = Fields(), dict[str, dict[str, Any]]()
    inner = _profile_in(found)
    if inner is not None:
        others = [name for name, value in found.items() if not isinstance(value, Mapping | list)]
        for name in filter(None, map(spelling.canonical, others[:MOST_KEYS])):
            if name not in _ASIDES and name != "user_profile":
                fields.drop(name, OUTSIDE)
    for number, (name, value) in enumerate(_flattened(found if inner is None else inner, "", 0)):
        if number >= MOST_KEYS:
            fields.counts[TOO_MANY] += 1
            continue
        group = spelling.part_of_group(name)
        if group is not None and not is_missing(value):
            groups.setdefault(group[0], {})[group[1]] = value
        else:
            fields.put(name, value)
    for name, parts in groups.items():
        whole = fields.values.get(name)
        fields.put(name, {**whole, **parts} if isinstance(whole, dict) else parts)
    _join_names(fields)
    return fields


def as_object(value: Any) -> Mapping[str, Any] | None:
    """The object that `value` is, holds as its only part, or has as its text."""
    match value:
        case Mapping():
            return value
        case [only]:
            return as_object(only)
        case str() if "{" in value and len(value) <= LONGEST_ENCODED:
            whole = value.strip()
            if whole.startswith(("{", "[", '"', "```")):
                return next((found.value for found in Search(characters=0, tries=MOST_INSIDE).objects_in(whole)), None)
    return None


def _profile_in(found: Mapping[str, Any], depth: int = 0) -> Mapping[str, Any] | None:
    """The contents of the innermost `userProfile`."""
    if depth > DEEPEST:
        return None
    for name, value in islice(found.items(), MOST_KEYS):
        if spelling.canonical(name) == "user_profile" and (inner := as_object(value)):
            return _profile_in(inner, depth + 1) or inner
    for name, value in islice(found.items(), MOST_KEYS):
        if spelling.canonical(name) in spelling.PROMPT_ATTRIBUTES or not isinstance(value, Mapping | list | str):
            continue
        inner = as_object(value)
        if inner is not None and (profile := _profile_in(inner, depth + 1)) is not None:
            return profile
    return None


def _flattened(found: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Names and values, those of sections and wrappers as if they stood by themselves."""
    for number, (name, written) in enumerate(found.items()):
        if number >= MOST_KEYS:  # named no more
            yield "", written
            continue
        value = _without_remarks(written)
        plain = spelling.canonical(name)
        joined = spelling.canonical(f"{prefix}_{plain}") if prefix else plain
        key = joined if _is_field(joined) else plain
        if not key:
            yield "", None
        elif depth < DEEPEST and key not in spelling.PROMPT_ATTRIBUTES and (listed := _listed(value)):
            yield from _flattened(listed, "", depth + 1)
        elif depth < DEEPEST and (inner := _inner(key, value)) is not None:
            if key in spelling.PROMPT_ATTRIBUTES:
                yield from _parts_of(key, spelling.snake_case(name), inner)
            else:
                yield from _flattened(inner, "" if key in _WRAPPERS else key, depth + 1)
        else:
            yield key, value


def _without_remarks(value: Any) -> Any:
    """What an agent says of its own value is left out."""
    if not isinstance(value, Mapping) or len(value) > len(_REMARKS):
        return value
    if "value" in value and {spelling.canonical(name) for name in value} <= _REMARKS:
        return value["value"]
    return {name: _without_remarks(part) for name, part in value.items()}


def _listed(value: Any) -> dict[str, Any] | None:
    """Field → value of a list that has them as objects: [{"name": "age", "value": 41}]."""
    if not isinstance(value, list) or not value or not isinstance(value[0], Mapping):
        return None
    name = next((one for one in _NAMES if isinstance(value[0].get(one), str) and "value" in value[0]), None)
    rows = [one for one in value[:MOST_KEYS] if isinstance(one, Mapping) and isinstance(one.get(name), str)]
    found = {one[name]: one.get("value") for one in rows} if name else {}
    return found if any(_is_field(spelling.canonical(one)) for one in found) else None


def _inner(key: str, value: Any) -> Mapping[str, Any] | None:
    """The object to flatten under `key`: of a wrapper or a section, or in place of what is one value otherwise."""
    if key in spelling.PROMPT_ATTRIBUTES:
        is_group = spelling.PROMPT_ATTRIBUTES[key].control.kind == "group"
        return value if isinstance(value, Mapping) and not is_group else None
    if key in _WRAPPERS or spelling.is_section(key):
        return as_object(value)
    # an object of which parts are fields only together with its name: {"travel": {"frequency": …}}
    if isinstance(value, Mapping) and key not in spelling.NESTED and key not in _ASIDES:
        return value if any(_is_field(spelling.canonical(f"{key}_{name}")) for name in value) else None
    return None


def _parts_of(key: str, written: str, inner: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Of an object in place of one value the fields of its section: an address has its city in it."""
    rest: dict[str, Any] = {}
    for name, value in inner.items():
        plain = spelling.canonical(name)
        joined = (spelling.canonical(f"{prefix}_{plain}") for prefix in (key, written))
        if known := next(filter(_is_field, joined), None):
            yield known, value
        elif _is_field(plain) and spelling.section_of(plain) == spelling.section_of(key):
            yield plain, value
        else:
            rest[name] = value
    if len(rest) == len(inner):
        yield key, inner
    elif rest:
        yield from ((spelling.canonical(f"{key}_{name}"), value) for name, value in rest.items())


def _is_field(name: str) -> bool:
    return name in spelling.PROMPT_ATTRIBUTES or name in spelling.SCORES or spelling.part_of_group(name) is not None


def _typed(name: str, value: Any) -> Any:
    """`value` in the type of its field where it says one in words."""
    kind = spelling.PROMPT_ATTRIBUTES[name].control.kind if name in spelling.PROMPT_ATTRIBUTES else ""
    if kind == "number":
        return number_in(value, may_be_none=name in _CAN_BE_NONE)
    if kind == "yesno":
        return yes_or_no(value)
    return share_in(value) if name in spelling.SCORES else value


def _join_names(fields: Fields) -> None:
    """A given and a family name are the full name of who has no other."""
    given, family = (
        next((fields.values[one] for one in names if one in fields.values), None) for names in (_GIVEN, _FAMILY)
    )
    if "full_name" not in fields.values and isinstance(given, str) and isinstance(family, str):
        fields.values["full_name"] = f"{given} {family}"
