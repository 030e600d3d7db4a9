"""The reference agents: each makes a profile out of a prompt, what is kept and the registers, and invents nothing."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from examples.reference_agents import model, prompts
from examples.reference_agents.store import IDENTIFIERS, kept

Profile = dict[str, Any]
_SIGNALS = ("likes", "dislikes", "brand_affinities")
_SHOPPING = ("category_focus", "price_sensitivity", "channel")
_NO_FIELDS = ("kind", "person", "stars", "brand")
_STATED, _KEPT, _REGISTERED = 1.0, 0.98, 0.9  # how often each is right about a person, from 0 to 1


def public_data(call: prompts.Call) -> Profile:
    """What the first register and public numbering plans tell of the person in the prompt."""
    known = prompts.find_identifiers(call.text)
    found = {**prompts.numbering_plan(known.get("phone")), **_fields_of(search(known)[:1])}
    return _scored(found, _REGISTERED)


def second_look(call: prompts.Call) -> Profile:
    """What the newer registers tell: directory, household, employer, place, clubs, reviews, posts and plans."""
    return _scored(_fields_of(search(prompts.find_identifiers(call.text))[1:]), _REGISTERED)


def known_profile(call: prompts.Call) -> Profile:
    """The profile that is kept under the identifiers in the prompt, or else the identifiers alone."""
    known = prompts.find_identifiers(call.text)
    found = kept().find(known) or {}
    found.pop(prompts.ASK_ME, None)
    return _scored({**found, **known}, _KEPT if found else _STATED)


def create_profile(call: prompts.Call) -> Profile:
    """A new profile out of what the prompt states, kept under its identifiers; the same person again changes it."""
    known = prompts.find_identifiers(call.text)
    stated = {**model.fields_in(call.text), **prompts.stated(call.text)}
    fields = {name: value for name, value in stated.items() if name in prompts.KINDS and value}
    made = {**prompts.numbering_plan(known.get("phone")), **fields, **known}
    if known.keys() & set(IDENTIFIERS):
        with suppress(ValueError):
            kept().change(known, made, by=call)
    return _scored(made, _STATED)


def update_profile(call: prompts.Call) -> Profile:
    """The profile that is given or kept, changed as the prompt states; fields that it does not mention stay.

    null in JSON takes a field away. Without identifiers, or with those of two kept people, nothing is kept.
    """
    known = prompts.find_identifiers(call.text)
    before = kept().find(known) or {}
    stated = {**model.fields_in(call.text), **prompts.stated(call.text)}
    removed = frozenset(name for name, value in stated.items() if value is None and name not in IDENTIFIERS)
    changes = {name: value for name, value in stated.items() if value is not None and name not in IDENTIFIERS} | known
    if known.keys() & set(IDENTIFIERS) and (before or changes.keys() - known.keys()):
        with suppress(ValueError):
            kept().change(known, changes, removed, by=call)
    return {name: value for name, value in {**before, **changes}.items() if name not in removed}


def brand_affinity(call: prompts.Call) -> Profile:
    """Brand affinity in the shape of the specification, of the prompt's signals, what is kept, and brand reviews."""
    known, signals = prompts.find_identifiers(call.text), prompts.stated(call.text)
    records = search(known)
    if isinstance(shopping := signals.get("shopping_preferences"), dict):
        signals |= shopping
    sources = [signals, kept().find(known) or {}, _reviewed(records)]
    found = {}
    for name in _SIGNALS:
        lists = [source[name] for source in sources if isinstance(source.get(name), list)]
        found[name] = list({json.dumps(item): item for entries in lists for item in entries}.values())
    # what purchases and people say outweighs an older review
    found["likes"] = [item for item in found["likes"] if item not in found["dislikes"]]
    buying = {name: signals[name] for name in _SHOPPING if signals.get(name)}
    named = {"fullName" if name == "full_name" else name: value for name, value in known.items()}
    given = {**named, **found, "shopping_preferences": buying}
    shape: Profile = {name: value for name, value in given.items() if value}
    if shape:
        stated: Any = signals.get("confidence")
        sure = stated if type(stated) in (int, float) and 0 <= stated <= 1 else _STATED
        shape["confidence"] = min(sure, _REGISTERED if records else _STATED)
    return shape


def question_of(agent: str, prompt: str) -> tuple[str, str]:
    """The field of which the person wants to be asked before `core` tells it, and the question; or two empty texts."""
    found = (kept().find(prompts.find_identifiers(prompt)) or {}) if agent == "core" else {}
    name = prompts.spelt(str(found.get(prompts.ASK_ME, "")))
    if name not in prompts.KINDS:
        return "", ""
    before = found.get(name)
    was = f" So far: {', '.join(before) if isinstance(before, list) else before}." if before else ""
    return name, f"Please tell us your {name.replace('_', ' ')}.{was}"


AGENTS: dict[str, Callable[[prompts.Call], Profile]] = {
    "public": public_data,
    "second": second_look,
    "core": known_profile,
    "core-profile": create_profile,
    "core-profile-update": update_profile,
    "brand": brand_affinity,
}


def reply(agent: str, call: prompts.Call, answered: tuple[str, str] | None = None) -> str:
    """The text of the reply, in one of the forms that a caller has to read: bare, fenced, or in `userProfile`.

    `answered`: a field, and what the person said when `question_of` asked for it; it counts this once, and is not kept.
    """
    profile = AGENTS[agent](call)
    if answered:
        profile[answered[0]] = prompts.typed(*answered)
    wrapped = {"userProfile": profile} if agent in ("core", "core-profile-update") else profile
    text = json.dumps(wrapped, ensure_ascii=False)
    return f"```json\n{text}\n```" if agent == "public" else text


@cache
def people() -> list[list[Profile]]:
    """The records of each person in the synthetic registers, the first register's before the others."""
    found: dict[str, list[Profile]] = defaultdict(list)
    for record in map(json.loads, Path(__file__).with_name("records.jsonl").read_text(encoding="utf-8").splitlines()):
        if "person" in record:
            found[record["person"]].append(record)
    return list(found.values())


def search(known: Mapping[str, str]) -> list[Profile]:
    """The records of the person with this phone or e-mail address; none where they are two people's, or the name that
    is asked for with them is another one: it may leave words out."""
    found = [one for one in people() if any(known.get(kind) == one[0][kind] for kind in IDENTIFIERS)]
    if len(found) != 1:
        return []
    wanted, own = set(known.get("full_name", "").casefold().split()), set(found[0][0]["full_name"].casefold().split())
    return found[0] if wanted <= own or own <= wanted else []


def _fields_of(records: list[Profile]) -> Profile:
    """The fields of the records; a later record counts more."""
    return {name: value for record in records for name, value in record.items() if name not in _NO_FIELDS}


def _reviewed(records: list[Profile]) -> dict[str, list[str]]:
    """Brands that the person reviewed well (four stars of five or more) or badly (two or fewer)."""
    reviews = [record for record in records if "brand" in record]
    good = [record["brand"] for record in reviews if record["stars"] >= 4]
    bad = [record["brand"] for record in reviews if record["stars"] <= 2]
    return {"likes": good, "brand_affinities": good, "dislikes": bad}


def _scored(profile: Profile, confidence: float) -> Profile:
    return {**profile, "confidence_score": round(confidence, 2)} if profile else {}
