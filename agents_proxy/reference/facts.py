"""What can be known about a person without asking anybody, each fact with its source (pure)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import phonenumbers
from phonenumbers import PhoneNumberType, carrier, geocoder, timezone

PROMPT, PLAN, ADDRESS = "prompt", "numbering_plan", "email_address"
# What a fact of each source is worth, and why: docs/agents.md. None of it is a guess about the person.
WORTH = {PROMPT: 1.0, PLAN: 0.9, ADDRESS: 0.5}

_EMAIL = re.compile(r"(?<![\w.+-])([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)")
_NAME = r"([^\W\d_][\w'\u2019.-]*(?:[ \t]+[^\W\d_][\w'\u2019.-]*){1,4})"
_NAME_SAID = re.compile(rf"(?:full[ _]?name|my name is|name is|named|called|for|about|i am)\s*[:=]?\s*{_NAME}", re.I)
_SPOKEN: list[tuple[str, re.Pattern[str]]] = [
    ("age", re.compile(r"\b(\d{1,3})[ -]years?[ -]old\b|\baged? (\d{1,3})\b", re.I)),
    ("city", re.compile(r"\b(?:lives?|living|based|resides?) in ([A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})")),
    (
        "occupation",
        re.compile(r"\bworks? as (?:an? )?([a-z][a-z -]{2,40}?)(?= (?:in|at|for|and|who)\b|[.,;\n]|$)", re.I),
    ),
    ("diet_preference", re.compile(r"\b(vegan|vegetarian|pescatarian)\b", re.I)),
    ("marital_status", re.compile(r"\b(married|divorced|widowed|unmarried)\b", re.I)),
    ("children_count", re.compile(r"\b(\d{1,2}) (?:children|kids)\b", re.I)),
]
_LIKES = re.compile(r"(?<!dis)\b(?:likes?|loves?|enjoys?|is fond of)\s*:?\s+([^.;\n]{2,200})", re.I)
_DISLIKES = re.compile(r"\b(?:dislikes?|hates?|avoids?|does not like|doesn't like)\s*:?\s+([^.;\n]{2,200})", re.I)
_SPLIT = re.compile(r",| and ")
_LINES = {
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE: "fixed line",
    PhoneNumberType.FIXED_LINE_OR_MOBILE: "fixed line or mobile",
    PhoneNumberType.VOIP: "voice over IP",
    PhoneNumberType.TOLL_FREE: "toll-free",
    PhoneNumberType.PREMIUM_RATE: "premium rate",
    PhoneNumberType.PERSONAL_NUMBER: "personal number",
    PhoneNumberType.PAGER: "pager",
}


@dataclass(frozen=True)
class Fact:
    """One thing that is known, and where it comes from."""

    value: Any
    source: str


Facts = dict[str, Fact]


def identifiers(prompt: str) -> Facts:
    """Name, e-mail address and phone number, where the prompt names them."""
    told = _told(prompt)
    facts = {name: Fact(told[name], PROMPT) for name in ("full_name", "email", "phone") if told.get(name)}
    if "email" not in facts and (match := _EMAIL.search(prompt)):
        facts["email"] = Fact(match[1].lower(), PROMPT)
    number = _number(str(facts["phone"].value) if "phone" in facts else prompt)
    if number is not None:
        facts["phone"] = Fact(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), PROMPT)
    elif "phone" in facts:
        del facts["phone"]  # no number of any country
    if "full_name" not in facts and (match := _NAME_SAID.search(_spoken(prompt))) and match[1][0].isupper():
        facts["full_name"] = Fact(_capitalised(match[1]), PROMPT)
    return facts


def of_phone(phone: str) -> Facts:
    """What the numbering plan says of a number: country, region, kind of line, time zone, first carrier."""
    number = _number(phone)
    if number is None:
        return {}
    zones = [zone for zone in timezone.time_zones_for_number(number) if zone != "Etc/Unknown"]
    country = geocoder.country_name_for_number(number, "en")
    region = geocoder.description_for_number(number, "en")
    found = {
        "country": country,
        "phone_region": region if region != country else "",
        "phone_line_type": _LINES.get(phonenumbers.number_type(number), ""),
        "time_zone": zones[0] if len(zones) == 1 else "",
        "phone_carrier": carrier.safe_display_name(number, "en"),
    }
    return {name: Fact(value, PLAN) for name, value in found.items() if value}


def of_email(email: str) -> Facts:
    """A name, where the address is written like one (`zoe.doe@`), and the domain."""
    local, _, domain = email.partition("@")
    facts = {"email_domain": Fact(domain.lower(), PROMPT)}
    parts = [part for part in re.split(r"[._-]", local.split("+")[0]) if part]
    if len(parts) == 2 and all(part.isalpha() and len(part) > 1 for part in parts):
        facts["full_name"] = Fact(" ".join(part.capitalize() for part in parts), ADDRESS)
    return facts


def of_name(full_name: str) -> Facts:
    """Given and family name, where the name has exactly these two parts."""
    parts = full_name.split()
    if len(parts) != 2:
        return {}
    return {"given_name": Fact(parts[0], PROMPT), "family_name": Fact(parts[1], PROMPT)}


def spoken(prompt: str) -> Facts:
    """What sentences of the prompt say of somebody."""
    text, facts = _spoken(prompt), Facts()
    for name, pattern in _SPOKEN:
        if match := pattern.search(text):
            value = next(group for group in match.groups() if group)
            facts[name] = Fact(int(value) if value.isdigit() else value.strip().lower(), PROMPT)
    if "city" in facts and (match := dict(_SPOKEN)["city"].search(text)):
        facts["city"] = Fact(match[1], PROMPT)
    return facts


def preferences(prompt: str) -> Facts:
    """What the prompt says that somebody likes, dislikes and buys, in sentences or as signals of purchases."""
    text, told = _spoken(prompt), _told(prompt)
    shopping = told.get("shopping_preferences")
    shopping = shopping if isinstance(shopping, dict) else {}
    found = {
        "likes": [*_texts(told.get("likes")), *_listed(_LIKES, text)],
        "dislikes": [*_texts(told.get("dislikes")), *_listed(_DISLIKES, text)],
        "brand_affinities": _texts(told.get("brand_affinities")),
        "category_focus": _texts(shopping.get("category_focus")),
    }
    facts = {name: Fact(list(dict.fromkeys(texts))[:50], PROMPT) for name, texts in found.items() if texts}
    for name in ("price_sensitivity", "channel"):
        if isinstance(shopping.get(name), str) and shopping[name]:
            facts[name] = Fact(shopping[name], PROMPT)
    return facts


def sureness(prompt: str) -> float:
    """How sure the signals in the prompt are of themselves; 1.0 where they do not say."""
    told = _told(prompt).get("confidence")
    if not isinstance(told, int | float) or isinstance(told, bool):
        return 1.0
    return float(min(1, max(0, told)))


def objects(prompt: str) -> Iterator[dict[str, Any]]:
    """Every JSON object that the prompt holds, outermost ones only."""
    decoder, at = json.JSONDecoder(), 0
    while (at := prompt.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(prompt, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(value, dict):
            yield value


def _told(prompt: str) -> dict[str, Any]:
    """The members of all objects in the prompt together, under the records' names; the first that says something."""
    names = {"fullname": "full_name", "name": "full_name", "phonenumber": "phone"}
    found: dict[str, Any] = {}
    for value in objects(prompt):
        for key, member in value.items():
            plain = re.sub(r"[^a-z]", "", key.lower())
            found.setdefault(names.get(plain, key), member)
        code = value.get("countryCode")
        if isinstance(code, str) and isinstance(value.get("phoneNumber"), str):
            found["phone"] = code + value["phoneNumber"]
    return {key: member for key, member in found.items() if member not in (None, "", [], {})}


def _spoken(prompt: str) -> str:
    """The prompt without its JSON: what is left are sentences."""
    return re.sub(r"<<<.*?>>>|\{[^{}]*\}", " ", prompt, flags=re.DOTALL)


def _number(text: str) -> phonenumbers.PhoneNumber | None:
    """The first valid number in international form; without a country code nobody can know whose plan it is."""
    found = phonenumbers.PhoneNumberMatcher(text, None)
    return next((match.number for match in found if phonenumbers.is_valid_number(match.number)), None)


def _capitalised(text: str) -> str:
    """The words of a name, up to the first that is not written like one."""
    words: list[str] = []
    for word in text.split():
        if not word[0].isupper():
            break
        words.append(word.strip(".,"))
    return " ".join(words)


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list) else []


def _listed(pattern: re.Pattern[str], text: str) -> list[str]:
    """The parts of the lists that sentences hold."""
    parts = (item.strip() for match in pattern.finditer(text) for item in _SPLIT.split(match[1]))
    return [part for part in parts if part]
