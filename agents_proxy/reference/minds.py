"""What each reference agent makes of a prompt: a profile, and beside it its sources; nothing that it does not know."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agents_proxy.reference.facts import (
    PROMPT,
    WORTH,
    Fact,
    Facts,
    identifiers,
    objects,
    of_email,
    of_name,
    of_phone,
    prose,
    sureness,
    texts,
)
from agents_proxy.reference.preferences import preferences, settled
from agents_proxy.reference.spoken import spoken

_LIKINGS = ("likes", "dislikes")
_SHOPPING = ("category_focus", "price_sensitivity", "channel")


@dataclass(frozen=True)
class Said:
    """What an agent says of a person. `sources` (field → source) is no field of the person, so it stands outside."""

    profile: dict[str, Any]
    sources: dict[str, str] = field(default_factory=dict)


def public(prompt: str) -> Said:
    """What public numbering plans say of the phone number."""
    known = identifiers(prompt)
    return document(of_phone(str(known["phone"].value)) if "phone" in known else {})


def second(prompt: str) -> Said:
    """What is left to fill: parts of names, and a name that only the e-mail address tells."""
    known = identifiers(prompt)
    facts: Facts = of_email(str(known["email"].value)) if "email" in known else {}
    if "full_name" in known:
        facts.pop("full_name", None)
        facts |= of_name(str(known["full_name"].value))
    return document(facts)


def core(prompt: str) -> Said:
    """The profile by the identifiers of the prompt: these, and what else the prompt says of the person."""
    known = identifiers(prompt)
    return document({**spoken(prompt, _name(known)).facts, **known})


def create(prompt: str) -> Said:
    """A structured profile out of natural language."""
    known = identifiers(prompt)
    plan = of_phone(str(known["phone"].value)) if "phone" in known else {}
    liked = {name: fact for name, fact in preferences(prompt, _name(known)).items() if name in _LIKINGS}
    return document({**plan, **spoken(prompt, _name(known)).facts, **liked, **known})


def update(prompt: str) -> Said:
    """The profile in the prompt, with what its sentences say now; what they do not mention stays."""
    standing: dict[str, Any] = next(objects(prompt), {})
    standing = standing.get("userProfile", standing) if isinstance(standing.get("userProfile"), dict) else standing
    sentences = prompt
    for value in objects(prompt):
        sentences = sentences.replace(json.dumps(value, ensure_ascii=False), " ")
    name = _name(identifiers(prompt))
    now, lists = spoken(sentences, name), _preferred(sentences, name, standing)
    changed = {**now.facts, **lists, **identifiers(_without_objects(sentences))}
    said = document({name: fact for name, fact in changed.items() if fact.value != []})
    gone = {name for name, value in now.denied.items() if _same(standing.get(name), value)}
    gone |= {"sources", "confidence_score", *(name for name, fact in lists.items() if fact.value == [])}
    base = {name: value for name, value in standing.items() if name not in gone}
    return Said({**base, **said.profile}, said.sources)


def brand(prompt: str) -> Said:
    """The specification's brand-affinity shape, as far as the prompt tells."""
    known = identifiers(prompt)
    liked = preferences(prompt, _name(known))
    names = {"full_name": "fullName", "email": "email", "phone": "phone"}
    shape: dict[str, Any] = {names[name]: fact.value for name, fact in known.items()}
    shape |= {name: liked[name].value for name in ("likes", "dislikes", "brand_affinities") if name in liked}
    if shopping := {name: liked[name].value for name in _SHOPPING if name in liked}:
        shape["shopping_preferences"] = shopping
    sources = dict.fromkeys(shape, PROMPT)
    if facts := {**known, **liked}:
        shape["confidence"] = min(confidence(facts), sureness(prompt))
    return Said(shape, sources)


MINDS: dict[str, Callable[[str], Said]] = {
    "public": public,
    "second": second,
    "core": core,
    "core-profile": create,
    "core-profile-update": update,
    "brand": brand,
}


def document(facts: Facts) -> Said:
    """The facts, and where each comes from; the confidence is the mean of what these sources are worth."""
    if not facts:
        return Said({})
    values = {name: fact.value for name, fact in facts.items()}
    sources = {name: fact.source for name, fact in facts.items()}
    return Said({**values, "confidence_score": confidence(facts)}, sources)


def confidence(facts: Facts) -> float:
    return round(sum(WORTH[fact.source] for fact in facts.values()) / len(facts), 2)


def _name(known: Facts) -> str:
    return str(known["full_name"].value) if "full_name" in known else ""


def _preferred(sentences: str, name: str, standing: dict[str, Any]) -> Facts:
    """The lists of likes and dislikes that the sentences change; an empty one is a list that nothing is left of."""
    stood = {kind: standing.get(kind) for kind in _LIKINGS}
    before = {kind: texts([value] if isinstance(value, str) else value) for kind, value in stood.items()}
    after = settled(prose(sentences), name, before)
    return {kind: Fact(items, PROMPT) for kind, items in after.items() if items != before[kind]}


def _same(standing: Any, value: Any) -> bool:
    return str(standing).casefold() == str(value).casefold()


def _without_objects(prompt: str) -> str:
    text = prompt
    while (start := text.find("{")) >= 0 and (end := text.find("}", start)) >= 0:
        text = text[:start] + " " + text[end + 1 :]
    return text
