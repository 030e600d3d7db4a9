"""The reference agents: each makes a profile out of a prompt, what is kept and the registers, and invents nothing."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from examples.reference_agents import registers
from examples.reference_agents.prompts import (
    KEPT,
    PROMPT,
    Fact,
    Facts,
    facts_from_email,
    facts_from_name,
    facts_from_phone,
    find_identifiers,
    stated_confidence,
)
from examples.reference_agents.reading import find_preferences, find_statements
from examples.reference_agents.store import IDENTIFIERS, TwoPeople, kept
from examples.reference_agents.updates import updated

_PREFERENCE_LISTS = ("likes", "dislikes")
_SHOPPING_FIELDS = ("category_focus", "price_sensitivity", "channel")
_SIGNALS = (*_PREFERENCE_LISTS, "brand_affinities")
_IDENTITY = {"full_name": "fullName", "email": "email", "phone": "phone"}
_GOOD_STARS, _BAD_STARS = 4, 2
_NO_FIELDS = {"kind", "person", "id", "employer", "text", "within", "stars", "brand", "pay", "industry", "name"}
_PLAN_FIELDS = ("category", "budget", "timeWindow")


@dataclass(frozen=True)
class Answer:
    """The reply of an agent. `profile`: field → value. `sources`: field → source; they are not part of the profile.

    `records`: field → where in the source. `sure`: field → how sure the agent is of it, from 0 to 1.
    """

    profile: dict[str, Any]
    sources: dict[str, str] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)
    sure: dict[str, float] = field(default_factory=dict)


def public_data(prompt: str) -> Answer:
    """What the first register and public numbering plans tell of the person in the prompt."""
    known = _asked_for(prompt)
    plan = facts_from_phone(str(known["phone"].value)) if "phone" in known else {}
    match = registers.search(_values(known))
    return answer_from({**plan, **(_of_record(match, match.records[0]) if match else {})})


def second_look(prompt: str) -> Answer:
    """What follows from the newer registers: directory, household, employer, place, clubs, reviews, posts and plans.

    For whom no register knows: the parts of the name, or a name that only the e-mail address contains.
    """
    known = _asked_for(prompt)
    facts: Facts = facts_from_email(str(known["email"].value)) if "email" in known else {}
    if "full_name" in known:
        facts.pop("full_name", None)
        facts |= facts_from_name(str(known["full_name"].value))
    match = registers.search(_values(known))
    if match is None:
        return answer_from(facts)
    facts.pop("full_name", None)
    for record in match.records[1:]:
        facts |= _followed(match, record)
    city = match.records[0]["city"]
    found_at = {name: value for name, value in registers.place(city).items() if name not in _NO_FIELDS | {"city"}}
    certainty = match.certainty * registers.RELIABILITY["place"]
    return answer_from(facts | {name: Fact(value, "place", city, certainty) for name, value in found_at.items()})


def known_profile(prompt: str) -> Answer:
    """The profile that is kept under the identifiers in the prompt, or else the identifiers alone."""
    known = find_identifiers(prompt)
    found = kept().find(_values(known)) or {}
    told = {name: Fact(value, KEPT) for name, value in found.items() if name not in known or known[name].value != value}
    return answer_from({**known, **told})


def create_profile(prompt: str) -> Answer:
    """A new profile out of natural language, kept under its identifiers; the same person again changes it."""
    known = find_identifiers(prompt)
    plan = facts_from_phone(str(known["phone"].value)) if "phone" in known else {}
    liked = {name: fact for name, fact in find_preferences(prompt, _name(known)).items() if name in _PREFERENCE_LISTS}
    facts = {**plan, **find_statements(prompt, _name(known)).facts, **liked, **known}
    keep(_values(facts))
    return answer_from(facts)


def update_profile(prompt: str) -> Answer:
    """The profile that is given or kept, changed as the prompt says; fields that it does not mention stay."""
    change = updated(prompt, kept())
    sources = {name: fact.source for name, fact in change.facts.items() if name in change.profile}
    if not change.facts:
        return Answer(change.profile)
    return Answer({**change.profile, "confidence_score": mean_confidence(change.facts)}, sources)


def brand_affinity(prompt: str) -> Answer:
    """Brand affinity in the shape of the specification, of the prompt's signals, what is kept, and brand reviews."""
    known = find_identifiers(prompt)
    liked: Facts = {}
    for found in (find_preferences(prompt, _name(known)), _kept_preferences(known), _reviewed(known)):
        for name, fact in found.items():
            before = liked.get(name)
            liked[name] = replace(before, value=list(dict.fromkeys([*before.value, *fact.value]))) if before else fact
    if {"likes", "dislikes"} <= liked.keys():  # what purchases and people say outweighs an older review
        likes = [item for item in liked["likes"].value if item not in liked["dislikes"].value]
        liked["likes"] = replace(liked["likes"], value=likes)
    shape: dict[str, Any] = {_IDENTITY[name]: fact.value for name, fact in known.items()}
    shape |= {name: liked[name].value for name in _SIGNALS if name in liked and liked[name].value}
    if shopping := {name: liked[name].value for name in _SHOPPING_FIELDS if name in liked}:
        shape["shopping_preferences"] = shopping
    sources = dict.fromkeys(shape, PROMPT) | {name: fact.source for name, fact in liked.items() if name in shape}
    if facts := {**known, **liked}:
        shape["confidence"] = min(mean_confidence(facts), stated_confidence(prompt))
    facts = {**known, **{name: fact for name, fact in liked.items() if name in shape}}
    records = {name: fact.record for name, fact in liked.items() if name in shape and fact.record}
    sure = {_IDENTITY.get(name, name): round(fact.confidence, 2) for name, fact in facts.items()}
    return Answer(shape, sources, records, sure)


# agent → what it makes of a prompt; `messaging`, which answers with no profile, is not among them
AGENTS: dict[str, Callable[[str], Answer]] = {
    "public": public_data,
    "second": second_look,
    "core": known_profile,
    "core-profile": create_profile,
    "core-profile-update": update_profile,
    "brand": brand_affinity,
}


def reply_text(agent: str, profile: Mapping[str, Any]) -> str:
    """One JSON object; different agents write it in the different forms that a caller has to read."""
    match agent:
        case "core" | "core-profile-update":
            return json.dumps({"userProfile": profile}, ensure_ascii=False)
        case "public":
            return f"```json\n{json.dumps(profile, ensure_ascii=False, indent=1)}\n```"
    return json.dumps(profile, ensure_ascii=False)


def keep(profile: Mapping[str, Any]) -> None:
    """Keep the profile where it has an identifier; one with identifiers of two kept people is kept nowhere."""
    fields = {name: value for name, value in profile.items() if name != "confidence_score"}
    if any(fields.get(kind) for kind in IDENTIFIERS):
        with suppress(TwoPeople):
            kept().change(fields, fields)


def answer_from(facts: Facts) -> Answer:
    """An answer out of facts, with the mean confidence of their sources."""
    if not facts:
        return Answer({})
    values = {name: fact.value for name, fact in facts.items()}
    sources = {name: fact.source for name, fact in facts.items()}
    records = {name: fact.record for name, fact in facts.items() if fact.record}
    sure = {name: round(fact.confidence, 2) for name, fact in facts.items()}
    return Answer({**values, "confidence_score": mean_confidence(facts)}, sources, records, sure)


def mean_confidence(facts: Facts) -> float:
    """The mean confidence of the facts, from 0 to 1."""
    return round(sum(fact.confidence for fact in facts.values()) / len(facts), 2)


def _asked_for(prompt: str) -> Facts:
    """The identifiers in the prompt, and the city, which tells namesakes apart."""
    known = find_identifiers(prompt)
    stated = find_statements(prompt, _name(known)).facts
    return {**known, **{name: fact for name, fact in stated.items() if name == "city"}}


def _of_record(match: registers.Match, record: Mapping[str, Any]) -> Facts:
    """The fields of one record, as sure as its register and the match."""
    register = str(record["kind"])
    return {
        name: Fact(value, register, match.person, match.certainty * registers.reliability(register, name))
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
                facts["income_bracket"] = Fact(pay, "company", employer["id"], certainty)
        case "post":
            written = find_statements(str(record["text"])).facts
            facts |= {name: Fact(fact.value, "post", match.person, certainty) for name, fact in written.items()}
        case "plan":
            plan = {name: record[name] for name in _PLAN_FIELDS} | {"confidence": registers.RELIABILITY["plan"]}
            facts[f"intent_{record['within']}"] = Fact(plan, "plan", match.person, certainty)
    return facts


def _kept_preferences(known: Facts) -> Facts:
    found = kept().find(_values(known)) or {}
    return {name: Fact(found[name], KEPT) for name in _SIGNALS if isinstance(found.get(name), list)}


def _reviewed(known: Facts) -> Facts:
    """Brands that the person reviewed well or badly, and where they say that they buy."""
    match = registers.search(_values(known))
    if match is None:
        return {}
    reviews = [record for record in match.records if record["kind"] == "review" and "brand" in record]
    good = [record["brand"] for record in reviews if record["stars"] >= _GOOD_STARS]
    bad = [record["brand"] for record in reviews if record["stars"] <= _BAD_STARS]
    certainty = match.certainty * registers.RELIABILITY["review"]
    found = {"likes": good, "brand_affinities": good, "dislikes": bad}
    return {name: Fact(brands, "review", match.person, certainty) for name, brands in found.items() if brands}


def _values(facts: Facts) -> dict[str, Any]:
    return {name: fact.value for name, fact in facts.items()}


def _name(known: Facts) -> str:
    return str(known["full_name"].value) if "full_name" in known else ""
