"""The starter list as rows of the registry: the domains, and every scope over their attributes (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.translation import gettext_noop
from django.utils.translation import gettext_noop as _

from pkm import scopes
from pkm.registry.derived import RULE_VERSION
from pkm.registry.starter_attributes import ATTRIBUTES, Attribute
from pkm.registry.starter_domains import DOMAINS, SEGMENTS, StarterDomain
from pkm.registry.starter_phrases import VERB_PHRASES


@dataclass(frozen=True)
class Answer:
    """`path` is where the answer stands, `source` the path of the value that it is made from."""

    path: str
    source: str
    rule: dict[str, Any]
    label: str
    description: str

    @property
    def definition(self) -> dict[str, Any]:
        """As the registry keeps it and a request's digest covers it."""
        return {"from": self.source, "rule": self.rule, "rule_version": RULE_VERSION}


ANSWERS: tuple[Answer, ...] = (
    Answer(
        "identity.basic.age_over_18",
        "identity.basic.birth_date",
        {"kind": "at_least", "of": "age", "value": 18},
        _("18 or older"),
        _("Whether you are 18 or older: yes or no, without your date of birth."),
    ),
    Answer(
        "identity.basic.age_bracket",
        "identity.basic.birth_date",
        {"kind": "bracket", "of": "age", "bounds": [18, 25, 35, 45, 55, 65]},
        _("Age range"),
        _("The range that your age falls in, without your date of birth."),
    ),
    Answer(
        "location.home.postal_area",
        "location.home.postal_code",
        {"kind": "part", "characters": 2},
        _("Postal area"),
        _("The first two characters of your postal code."),
    ),
)


Row = dict[str, Any]


def starter_domains() -> list[Row]:
    return [
        {
            "domain_key": domain.name,
            "display_name": domain.label,
            "description": domain.description,
            "icon": domain.name,
            "position": position * 10,
        }
        for position, domain in enumerate(DOMAINS, start=1)
    ]


def starter_entries(attributes: Sequence[Attribute] = ATTRIBUTES) -> list[Row]:
    """Every scope over these attributes as the fields of its entry; `domain` is the domain's key or None."""
    offered = [attribute for segment in SEGMENTS for attribute in attributes if attribute.segment == segment.path]
    entries = [entry for domain in DOMAINS for entry in _entries_of(domain, offered)]
    everything = _entry(
        scopes.EVERYTHING,
        gettext_noop("Everything you keep"),
        gettext_noop("All of your data, in every domain."),
        offered,
    )
    # it covers restricted data, so it is as sensitive as that; nobody can ask for it until staff expose it
    return [*entries, everything | {"sensitivity_tier": "restricted", "exposure_enabled": False}]


def verb_phrase(scope: str, label: str) -> str:
    """The English of what an app does that asks for it; "" where staff made or renamed it, so that it may differ."""
    return VERB_PHRASES[scope] if _labels().get(scope) == label else ""


@cache
def _labels() -> dict[str, str]:
    return {row["scope"]: row["scope_label"] for row in starter_entries()}


def _entries_of(domain: StarterDomain, offered: Sequence[Attribute]) -> list[Row]:
    """The scope of the whole domain, then each segment's and those of its attributes."""
    entries = [_entry(f"attr.{domain.name}.*", domain.whole, domain.description, offered, domain)]
    for segment in SEGMENTS:
        if segment.domain == domain.name:
            entries.append(_entry(f"attr.{segment.path}.*", segment.label, segment.description, offered, domain))
            entries.extend(
                _entry(f"attr.{attribute.path}", attribute.label, attribute.description, offered, domain)
                for attribute in offered
                if attribute.segment == segment.path
            )
            entries.extend(_answer(answer, domain) for answer in ANSWERS if answer.path.startswith(f"{segment.path}."))
    return entries


def _answer(answer: Answer, domain: StarterDomain) -> Row:
    """The scope of one answer; no wider scope has its path among its attributes."""
    own = Attribute(answer.path, answer.label, answer.description)
    entry = _entry(f"attr.{answer.path}", answer.label, answer.description, [own], domain)
    return {**entry, "derived": answer.definition}


def _entry(
    scope: str, label: str, description: str, offered: Sequence[Attribute], domain: StarterDomain | None = None
) -> Row:
    parsed = scopes.parse(scope)
    covered = [attribute for attribute in offered if parsed is not None and parsed.covers(attribute.path)]
    return {
        "scope": scope,
        "scope_handle": scopes.handle(scope),
        "scope_label": label,
        "description": description,
        "domain": domain.name if domain else None,
        "segment_ids": list(dict.fromkeys(attribute.segment for attribute in covered)),
        "attributes": [attribute.path for attribute in covered],
        "sensitivity_tier": domain.tier if domain else "standard",
        "exposure_enabled": True,
        "max_access_duration": 31536000,
        "derived": None,
    }
