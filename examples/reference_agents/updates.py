"""Changes a profile as a prompt says: by a JSON object of fields, by sentences, and by removals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from examples.reference_agents.fields import FIELDS, LISTS
from examples.reference_agents.labels import LABEL, field_of
from examples.reference_agents.prompts import PROMPT, Fact, Facts, find_identifiers, split_json, strings_in
from examples.reference_agents.reading import apply_preferences, find_statements
from examples.reference_agents.store import IDENTIFIERS, Store, TwoPeople

_PREFERENCE_LISTS = ("likes", "dislikes")
_NOT_OF_THE_PERSON = {"sources", "confidence_score", "country_code", "phone_number"}
_FORGET = re.compile(
    r"^\s*(?:please )?(?:forget|delete|erase) (?:(?:this|the|my|her|his|their) (?:whole )?(?:person"
    r"|profile)|me|her|him|them)"
    r"\s*(?:[.!:(]|$)",
    re.I | re.M,
)  # fmt: skip
_REMOVE = re.compile(
    rf"(?:^|[.;!\n]|\band)\s*(?:please )?(?:remove|delete|clear|drop) (?:the |her |his |my |their )?"
    rf"(?:(?P<item>[^.;!\n]{{1,80}}?) from (?:the |her |his |my |their )?)?(?P<label>{LABEL}|likes|dislikes)"
    r"(?: from (?:the|her|his|my|their) profile)?\s*(?=[.;!\n]|$|and\b)",
    re.I,
)


@dataclass(frozen=True)
class Change:
    """`profile`: whole, after the change. `facts`: what the prompt's sentences changed."""

    profile: dict[str, Any]
    facts: Facts = field(default_factory=dict)


def updated(prompt: str, store: Store) -> Change:
    """Change the profile in the prompt or the one that is kept under its identifiers, and keep the result.

    An object in the prompt gives fields; a field that is null, or that a sentence removes, goes. "Forget this person"
    deletes what is kept and answers `{"forgotten": true}`, or false where nothing was kept. Without identifiers, or
    with those of two kept people, nothing is kept and the answer is the given profile with its changes.
    """
    objects, sentences = split_json(prompt)
    known = {name: fact.value for name, fact in find_identifiers(prompt).items()}
    if _FORGET.search(sentences):
        return Change({"forgotten": _forgotten(known, store)})
    given = {name: value for name, value in _given(objects).items() if value is None or name not in IDENTIFIERS}
    given |= {kind: known[kind] for kind in IDENTIFIERS if kind in known and kind not in given}
    before = {**(store.find(known) or {}), **given}
    facts, removed = _stated(sentences, str(known.get("full_name") or ""), before)
    removed |= {name for name, value in given.items() if value is None}
    after = {name: value for name, value in before.items() if name not in removed}
    change = Change({**after, **_values(facts)}, facts)
    if not any(kind in known for kind in IDENTIFIERS):
        return change
    try:
        # an instruction that only names a person changes nothing, and keeps nobody who was not kept
        if store.find(known) is None and not (given.keys() | facts.keys()) - known.keys():
            return change
        # the changes alone, so that what somebody else changes meanwhile stays
        changes = {**known, **{name: value for name, value in given.items() if value is not None}, **_values(facts)}
        return Change(store.change(known, changes, frozenset(removed)), facts)
    except (TwoPeople, ValueError):
        return change


def _values(facts: Facts) -> dict[str, Any]:
    return {name: fact.value for name, fact in facts.items()}


def _forgotten(known: Mapping[str, Any], store: Store) -> bool:
    try:
        return store.forget(known)
    except TwoPeople:
        return False


def _given(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of the objects under the names of profile fields; a later object overrides."""
    found: dict[str, Any] = {}
    for one in objects:
        nested = one.get("userProfile")
        members = nested if isinstance(nested, dict) else one
        found |= {_spelt(name): value for name, value in members.items()}
    return {name: value for name, value in found.items() if name not in _NOT_OF_THE_PERSON}


def _spelt(name: str) -> str:
    """`dietPreference` and `Diet` are both `diet_preference`."""
    snake = re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").lower()
    if snake in FIELDS or snake in _PREFERENCE_LISTS:
        return snake
    return field_of(snake) or snake


def _stated(sentences: str, name: str, before: Mapping[str, Any]) -> tuple[Facts, set[str]]:
    """What the sentences set, and the names of fields that they remove or deny."""
    now = find_statements(sentences, name)
    facts = dict(now.facts)
    outdated = {kind for kind, value in now.denied.items() if str(before.get(kind)).casefold() == str(value).casefold()}
    lists = {kind: _listed(before.get(kind)) for kind in _PREFERENCE_LISTS}
    after = apply_preferences(sentences, name, lists)
    for match in _REMOVE.finditer(sentences):
        label = match["label"].lower()
        kind = label if label in _PREFERENCE_LISTS else str(field_of(label))
        if match["item"] is None:
            outdated.add(kind)
        elif kind in LISTS:
            gone = match["item"].strip().casefold()
            current = after[kind] if kind in after else _listed(before.get(kind))
            after[kind] = [entry for entry in current if entry.casefold() != gone]
    for kind, entries in after.items():
        if entries and entries != _listed(before.get(kind)) and kind not in outdated:
            facts[kind] = Fact(entries, PROMPT)
        elif not entries and before.get(kind):
            outdated.add(kind)
    facts |= {kind: fact for kind, fact in find_identifiers(sentences).items() if before.get(kind) != fact.value}
    return {kind: fact for kind, fact in facts.items() if kind not in outdated}, outdated


def _listed(value: Any) -> list[str]:
    return strings_in([value] if isinstance(value, str) else value)
