"""The reference agents: each makes a profile out of a prompt, with the source of each field, and invents nothing."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from examples.reference_agents.preferences import apply_preferences, find_preferences
from examples.reference_agents.profile_facts import (
    PROMPT,
    SOURCE_CONFIDENCE,
    Fact,
    Facts,
    facts_from_email,
    facts_from_name,
    facts_from_phone,
    find_identifiers,
)
from examples.reference_agents.prompt_parsing import json_objects, stated_confidence, strings_in, text_without_json
from examples.reference_agents.statements import find_statements

_PREFERENCE_LISTS = ("likes", "dislikes")
_SHOPPING_FIELDS = ("category_focus", "price_sensitivity", "channel")


@dataclass(frozen=True)
class Answer:
    """The reply of an agent. `profile`: field → value. `sources`: field → source; they are not part of the profile."""

    profile: dict[str, Any]
    sources: dict[str, str] = field(default_factory=dict)


def public_data(prompt: str) -> Answer:
    """What public numbering plans tell about the phone number."""
    known = find_identifiers(prompt)
    return answer_from(facts_from_phone(str(known["phone"].value)) if "phone" in known else {})


def derived_fields(prompt: str) -> Answer:
    """Fields derived from others: parts of the name, or a name that only the e-mail address contains."""
    known = find_identifiers(prompt)
    facts: Facts = facts_from_email(str(known["email"].value)) if "email" in known else {}
    if "full_name" in known:
        facts.pop("full_name", None)
        facts |= facts_from_name(str(known["full_name"].value))
    return answer_from(facts)


def known_profile(prompt: str) -> Answer:
    """The identifiers in the prompt, and what else it states about the person."""
    known = find_identifiers(prompt)
    return answer_from({**find_statements(prompt, _name(known)).facts, **known})


def create_profile(prompt: str) -> Answer:
    """A new profile out of natural language."""
    known = find_identifiers(prompt)
    plan = facts_from_phone(str(known["phone"].value)) if "phone" in known else {}
    liked = {name: fact for name, fact in find_preferences(prompt, _name(known)).items() if name in _PREFERENCE_LISTS}
    return answer_from({**plan, **find_statements(prompt, _name(known)).facts, **liked, **known})


def update_profile(prompt: str) -> Answer:
    """The profile in the prompt, changed as its sentences say; fields that they do not mention stay."""
    current, sentences = _current_profile(prompt), _sentences(prompt)
    name = _name(find_identifiers(prompt))
    now, lists = find_statements(sentences, name), _changed_preferences(sentences, name, current)
    changed = {**now.facts, **lists, **find_identifiers(_without_objects(sentences))}
    answer = answer_from({name: fact for name, fact in changed.items() if fact.value != []})
    outdated = {name for name, value in now.denied.items() if _same_value(current.get(name), value)}
    outdated |= {"sources", "confidence_score", *(name for name, fact in lists.items() if fact.value == [])}
    base = {name: value for name, value in current.items() if name not in outdated}
    return Answer({**base, **answer.profile}, answer.sources)


def brand_affinity(prompt: str) -> Answer:
    """Brand affinity in the shape of the specification, as far as the prompt contains it."""
    known = find_identifiers(prompt)
    liked = find_preferences(prompt, _name(known))
    names = {"full_name": "fullName", "email": "email", "phone": "phone"}
    shape: dict[str, Any] = {names[name]: fact.value for name, fact in known.items()}
    shape |= {name: liked[name].value for name in ("likes", "dislikes", "brand_affinities") if name in liked}
    if shopping := {name: liked[name].value for name in _SHOPPING_FIELDS if name in liked}:
        shape["shopping_preferences"] = shopping
    sources = dict.fromkeys(shape, PROMPT)
    if facts := {**known, **liked}:
        shape["confidence"] = min(mean_confidence(facts), stated_confidence(prompt))
    return Answer(shape, sources)


# agent → what it makes of a prompt; `messaging`, which answers with no profile, is in json_rpc.py
AGENTS: dict[str, Callable[[str], Answer]] = {
    "public": public_data,
    "second": derived_fields,
    "core": known_profile,
    "core-profile": create_profile,
    "core-profile-update": update_profile,
    "brand": brand_affinity,
}


def answer_from(facts: Facts) -> Answer:
    """An answer out of facts, with the mean confidence of their sources."""
    if not facts:
        return Answer({})
    values = {name: fact.value for name, fact in facts.items()}
    sources = {name: fact.source for name, fact in facts.items()}
    return Answer({**values, "confidence_score": mean_confidence(facts)}, sources)


def mean_confidence(facts: Facts) -> float:
    """The mean confidence of the facts' sources, from 0 to 1."""
    return round(sum(SOURCE_CONFIDENCE[fact.source] for fact in facts.values()) / len(facts), 2)


def _current_profile(prompt: str) -> dict[str, Any]:
    """The first JSON object of the prompt, or the profile inside it."""
    found: dict[str, Any] = next(json_objects(prompt), {})
    nested = found.get("userProfile")
    return nested if isinstance(nested, dict) else found


def _sentences(prompt: str) -> str:
    """The prompt without its JSON objects."""
    for value in json_objects(prompt):
        prompt = prompt.replace(json.dumps(value, ensure_ascii=False), " ")
    return prompt


def _name(known: Facts) -> str:
    return str(known["full_name"].value) if "full_name" in known else ""


def _changed_preferences(sentences: str, name: str, current: dict[str, Any]) -> Facts:
    """The lists of likes and dislikes that the sentences change; one that became empty is an empty list."""
    current_values = {kind: current.get(kind) for kind in _PREFERENCE_LISTS}
    before = {kind: strings_in([value] if isinstance(value, str) else value) for kind, value in current_values.items()}
    after = apply_preferences(text_without_json(sentences), name, before)
    return {kind: Fact(items, PROMPT) for kind, items in after.items() if items != before[kind]}


def _same_value(current: Any, value: Any) -> bool:
    return str(current).casefold() == str(value).casefold()


def _without_objects(prompt: str) -> str:
    text = prompt
    while (start := text.find("{")) >= 0 and (end := text.find("}", start)) >= 0:
        text = text[:start] + " " + text[end + 1 :]
    return text
