"""The reference agents: each makes a profile out of a prompt, what is kept and the registers, and invents nothing."""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from examples.reference_agents import registers
from examples.reference_agents.prompts import (
    ASK_ME,
    KEPT,
    KINDS,
    PROMPT,
    Fact,
    Facts,
    answered,
    facts_from_email,
    facts_from_name,
    facts_from_phone,
    find_identifiers,
    spelt,
    stated_fields,
    values_of,
)
from examples.reference_agents.store import IDENTIFIERS, TwoPeople, kept

_SIGNALS = ("likes", "dislikes", "brand_affinities")
_SHOPPING_FIELDS = ("category_focus", "price_sensitivity", "channel")
_IDENTITY = {"full_name": "fullName", "email": "email", "phone": "phone"}
_GOOD_STARS, _BAD_STARS = 4, 2
_NO_FIELDS = {"kind", "person", "id", "employer", "within", "stars", "brand", "pay", "industry", "name"}
_PLAN_FIELDS = ("category", "budget", "timeWindow")
_KEPT_CONFIDENCE = 0.98
_FORGET = re.compile(r"^\s*forget (?:this person|me)\s*(?:[.!:(]|$)", re.I | re.M)
_REMOVE = re.compile(
    r"(?:^|[.;!]\s)\s*remove (?:([^.;!\n]{1,80}?) from )?(?:the |my |her |his )?([A-Za-z _-]{2,40}?)\s*(?=[.;!\n]|\Z)",
    re.I | re.M,
)


@dataclass(frozen=True)
class Answer:
    """The reply of an agent: field → value. Where each comes from and how sure it is are no part of the profile."""

    profile: dict[str, Any]
    sources: dict[str, str] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)


def public_data(prompt: str) -> Answer:
    """What the first register and public numbering plans tell of the person in the prompt."""
    known = _asked_for(prompt)
    match = registers.search(values_of(known))
    return answer_from({**_plan(known), **(_of_record(match, match.records[0]) if match else {})})


def second_look(prompt: str) -> Answer:
    """What follows from the newer registers: directory, household, employer, place, clubs, reviews, posts and plans.

    For whom no register knows: the parts of the name, or a name that only the e-mail address contains.
    """
    known = _asked_for(prompt)
    facts: Facts = facts_from_email(str(known["email"].value)) if "email" in known else {}
    if "full_name" in known:
        facts.pop("full_name", None)
        facts |= facts_from_name(str(known["full_name"].value))
    match = registers.search(values_of(known))
    if match is None:
        return answer_from(facts)
    facts.pop("full_name", None)
    for record in match.records[1:]:
        facts |= _followed(match, record)
    found_at = registers.place(match.records[0]["city"])
    certainty = match.certainty * registers.RELIABILITY["place"]
    named = {name: value for name, value in found_at.items() if name not in _NO_FIELDS | {"city"}}
    return answer_from(facts | {name: Fact(value, "place", certainty) for name, value in named.items()})


def known_profile(prompt: str) -> Answer:
    """The profile that is kept under the identifiers in the prompt, or else the identifiers alone."""
    known = find_identifiers(prompt)
    found = kept().find(values_of(known)) or {}
    found.pop(ASK_ME, None)
    told = {name: Fact(value, KEPT, _KEPT_CONFIDENCE) for name, value in found.items() if name not in known}
    return answer_from({**known, **told})


def create_profile(prompt: str) -> Answer:
    """A new profile out of what the prompt states, kept under its identifiers; the same person again changes it."""
    known = find_identifiers(prompt)
    stated = {name: Fact(value, PROMPT) for name, value in stated_fields(prompt).items() if name in KINDS and value}
    facts = {**_plan(known), **stated, **known}
    if any(kind in known for kind in IDENTIFIERS):
        with suppress(TwoPeople):
            kept().change(values_of(known), values_of(facts))
    return answer_from(facts)


def update_profile(prompt: str) -> Answer:
    """The profile that is given or kept, changed as the prompt states; fields that it does not mention stay.

    null, or "Remove the diet", takes a field away, and "Remove tea from likes" what a list has. "Forget this person"
    deletes what is kept. Without identifiers, or with those of two kept people, nothing is kept.
    """
    known = values_of(find_identifiers(prompt))
    if _FORGET.search(prompt):
        with suppress(TwoPeople):
            return Answer({"forgotten": kept().forget(known)})
        return Answer({"forgotten": False})
    stated = {name: value for name, value in stated_fields(prompt).items() if value is None or name not in IDENTIFIERS}
    before = kept().find(known)
    removed = {name for name, value in stated.items() if value is None}
    for item, label in _REMOVE.findall(prompt):
        current = (before or {}).get(spelt(label))
        if not item:
            removed.add(spelt(label))
        elif isinstance(current, list):
            stated[spelt(label)] = [one for one in current if one.casefold() != item.casefold()]
    changes = {**known, **{name: value for name, value in stated.items() if name not in removed}}
    after = {name: value for name, value in {**(before or {}), **changes}.items() if name not in removed}
    if any(kind in known for kind in IDENTIFIERS) and (before is not None or changes.keys() - known.keys()):
        with suppress(TwoPeople):
            after = kept().change(known, changes, frozenset(removed))
    return Answer(after, dict.fromkeys(changes.keys() - known.keys(), PROMPT))


def brand_affinity(prompt: str) -> Answer:
    """Brand affinity in the shape of the specification, of the prompt's signals, what is kept, and brand reviews."""
    known, stated = find_identifiers(prompt), stated_fields(prompt)
    liked: Facts = {}
    shopping = stated.get("shopping_preferences")
    signals = {**stated, **(shopping if isinstance(shopping, dict) else {})}
    given = {name: Fact(signals[name], PROMPT) for name in (*_SIGNALS, *_SHOPPING_FIELDS) if signals.get(name)}
    for found in (given, _kept_signals(known), _reviewed(known)):
        for name, fact in found.items():
            earlier = liked[name].value if name in liked else []
            both = isinstance(earlier, list) and isinstance(fact.value, list)
            value = list(dict.fromkeys([*earlier, *fact.value])) if both else fact.value
            liked[name] = replace(liked.get(name, fact), value=value)
    if {"likes", "dislikes"} <= liked.keys():  # what purchases and people say outweighs an older review
        likes = [item for item in liked["likes"].value if item not in liked["dislikes"].value]
        liked["likes"] = replace(liked["likes"], value=likes)
    facts = {**{_IDENTITY[name]: fact for name, fact in known.items()}, **liked}
    shape: dict[str, Any] = {name: fact.value for name, fact in facts.items() if name not in _SHOPPING_FIELDS}
    if buying := {name: liked[name].value for name in _SHOPPING_FIELDS if name in liked}:
        shape["shopping_preferences"] = buying
    if facts:
        shape["confidence"] = min(mean_confidence(facts), _stated_confidence(stated.get("confidence")))
    return Answer({name: value for name, value in shape.items() if value != []}, *_beside(facts))


def question_of(agent: str, prompt: str) -> tuple[str, str]:
    """The field of which the person wants to be asked before `core` tells it, and the question; or two empty texts."""
    found = (kept().find(values_of(find_identifiers(prompt))) or {}) if agent == "core" else {}
    name = spelt(str(found.get(ASK_ME, "")))
    if name not in KINDS:
        return "", ""
    before = found.get(name)
    was = f" So far: {', '.join(before) if isinstance(before, list) else before}." if before else ""
    return name, f"Please tell us your {name.replace('_', ' ')}.{was}"


# agent → what it makes of a prompt; `messaging`, which answers with no profile, is not among them
AGENTS: dict[str, Callable[[str], Answer]] = {
    "public": public_data,
    "second": second_look,
    "core": known_profile,
    "core-profile": create_profile,
    "core-profile-update": update_profile,
    "brand": brand_affinity,
}


def part_of(agent: str, prompt: str, told: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The text of the reply, in one of the forms that a caller has to read, and its metadata.

    `told`: field → what the person said when `question_of` asked for it; it counts this once, and is not kept.
    """
    answer = AGENTS[agent](prompt)
    for name, said in (told or {}).items():
        answer.profile[name], answer.sources[name], answer.sure[name] = answered(name, said), PROMPT, 1.0
    text = json.dumps(answer.profile, ensure_ascii=False)
    match agent:
        case "core" | "core-profile-update":
            text = json.dumps({"userProfile": answer.profile}, ensure_ascii=False)
        case "public":
            text = f"```json\n{text}\n```"
    return {"text": text, "metadata": {"sources": answer.sources, "confidence": answer.sure}}


def answer_from(facts: Facts) -> Answer:
    """An answer out of facts, with the mean confidence of their sources."""
    if not facts:
        return Answer({})
    return Answer({**values_of(facts), "confidence_score": mean_confidence(facts)}, *_beside(facts))


def mean_confidence(facts: Facts) -> float:
    """The mean confidence of the facts, from 0 to 1."""
    return round(sum(fact.confidence for fact in facts.values()) / len(facts), 2)


def _beside(facts: Facts) -> tuple[dict[str, str], dict[str, float]]:
    sources = {name: fact.source for name, fact in facts.items()}
    return sources, {name: round(fact.confidence, 2) for name, fact in facts.items()}


def _stated_confidence(told: Any) -> float:
    """What the prompt states of its own values, from 0 to 1; 1.0 where it states nothing."""
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    return float(min(1, max(0, told))) if is_number else 1.0


def _plan(known: Facts) -> Facts:
    return facts_from_phone(str(known["phone"].value)) if "phone" in known else {}


def _asked_for(prompt: str) -> Facts:
    """The identifiers in the prompt, and the city, which tells namesakes apart."""
    city = stated_fields(prompt).get("city")
    return {**find_identifiers(prompt), **({"city": Fact(city, PROMPT)} if isinstance(city, str) else {})}


def _of_record(match: registers.Match, record: Mapping[str, Any]) -> Facts:
    """The fields of one record, as sure as its register and the match."""
    register = str(record["kind"])
    return {
        name: Fact(value, register, match.certainty * registers.reliability(register, name))
        for name, value in record.items()
        if name not in _NO_FIELDS | set(_PLAN_FIELDS)
    }


def _followed(match: registers.Match, record: Mapping[str, Any]) -> Facts:
    """The fields of a record of the newer registers, and what follows from it."""
    facts = _of_record(match, record)
    certainty = match.certainty * registers.RELIABILITY[str(record["kind"])]
    match record["kind"]:
        case "directory-2025":
            employer = registers.company(str(record.get("employer")))
            if pay := employer.get("pay", {}).get(record.get("occupation")):
                facts["income_bracket"] = Fact(pay, "company", certainty)
        case "plan":
            plan = {name: record[name] for name in _PLAN_FIELDS} | {"confidence": registers.RELIABILITY["plan"]}
            facts[f"intent_{record['within']}"] = Fact(plan, "plan", certainty)
    return facts


def _kept_signals(known: Facts) -> Facts:
    found = kept().find(values_of(known)) or {}
    return {name: Fact(found[name], KEPT, _KEPT_CONFIDENCE) for name in _SIGNALS if isinstance(found.get(name), list)}


def _reviewed(known: Facts) -> Facts:
    """Brands that the person reviewed well or badly."""
    match = registers.search(values_of(known))
    if match is None:
        return {}
    reviews = [record for record in match.records if record["kind"] == "review" and "brand" in record]
    good = [record["brand"] for record in reviews if record["stars"] >= _GOOD_STARS]
    bad = [record["brand"] for record in reviews if record["stars"] <= _BAD_STARS]
    certainty = match.certainty * registers.RELIABILITY["review"]
    found = {"likes": good, "brand_affinities": good, "dislikes": bad}
    return {name: Fact(brands, "review", certainty) for name, brands in found.items() if brands}
