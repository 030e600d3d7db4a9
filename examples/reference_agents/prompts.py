"""What a prompt holds: JSON, sentences, who it is about, and what follows from a phone number or address (pure)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import phonenumbers
from phonenumbers import PhoneNumberType, carrier, geocoder, timezone

PROMPT, KEPT, NUMBERING_PLAN, EMAIL_ADDRESS = "prompt", "kept", "numbering_plan", "email_address"
# how reliable each source is, and why: docs/agents.md
SOURCE_CONFIDENCE = {PROMPT: 1.0, KEPT: 0.98, NUMBERING_PLAN: 0.9, EMAIL_ADDRESS: 0.5}

_MAX_OBJECTS = 100  # places of a prompt where an object is looked for
_EMAIL = re.compile(r"(?<![\w.+-])([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)")
_NAME = r"([^\W\d_][\w'\u2019.-]*(?:[ \t]+[^\W\d_][\w'\u2019.-]*){1,4})"
_NAME_STATEMENT = re.compile(
    rf"(?:full[ _]?name|my name is|name is|named|called|for|about|i am)\s*[:=]?\s*{_NAME}", re.I
)
_KITCHEN = re.compile(r"\w+ (?:food|cooking|cuisine|dishes|kitchen)\b")
_NAME_AT_START = re.compile(
    rf"\s*{_NAME}(?:,? (?:is|can|lives|works|has|was)\b(?! (?:her|his|my|their|the)\b)|, (?=\+?\d|who\b|[\w.+-]+@))"
)
_LINE_TYPES = {
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
    """A value, its source, and where in that source; `certainty` where it is not the source's own."""

    value: Any
    source: str
    record: str = ""
    certainty: float | None = None

    @property
    def confidence(self) -> float:
        """How sure the value is, from 0 to 1."""
        return SOURCE_CONFIDENCE[self.source] if self.certainty is None else self.certainty


Facts = dict[str, Fact]


def find_identifiers(prompt: str) -> Facts:
    """Name, e-mail address and phone number, where the prompt contains them."""
    members = json_members(prompt)
    stated = {name: members.get(name) for name in ("full_name", "email", "phone")}
    facts = {name: Fact(value, PROMPT) for name, value in stated.items() if isinstance(value, str) and value.strip()}
    if "email" not in facts and (match := _EMAIL.search(prompt)):
        facts["email"] = Fact(match[1].lower(), PROMPT)
    number = _number(str(facts["phone"].value) if "phone" in facts else prompt)
    if number is not None:
        facts["phone"] = Fact(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), PROMPT)
    elif "phone" in facts:
        del facts["phone"]  # not a valid number of any country
    if "full_name" not in facts and (name := _stated_name(text_without_json(prompt))):
        facts["full_name"] = Fact(name, PROMPT)
    return facts


def identifiers_in(prompt: str) -> set[str]:
    """Every e-mail address and every phone number that the prompt names, of whomever."""
    numbers = (match.number for match in phonenumbers.PhoneNumberMatcher(prompt, None))
    e164 = {phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) for number in numbers}
    return {match[1].lower() for match in _EMAIL.finditer(prompt)} | e164


def facts_from_phone(phone: str) -> Facts:
    """What the numbering plan tells about a number: country, region, line type, time zone, original carrier."""
    number = _number(phone)
    if number is None:
        return {}
    zones = [zone for zone in timezone.time_zones_for_number(number) if zone != "Etc/Unknown"]
    country = geocoder.country_name_for_number(number, "en")
    region = geocoder.description_for_number(number, "en")
    found = {
        "country": country,
        "phone_region": region if region != country else "",
        "phone_line_type": _LINE_TYPES.get(phonenumbers.number_type(number), ""),
        "time_zone": zones[0] if len(zones) == 1 else "",
        "phone_carrier": carrier.safe_display_name(number, "en"),
    }
    return {name: Fact(value, NUMBERING_PLAN) for name, value in found.items() if value}


def facts_from_email(email: str) -> Facts:
    """The domain, and a full name where the local part has the form of one (`zoe.doe@`)."""
    local, _, domain = email.partition("@")
    facts = {"email_domain": Fact(domain.lower(), PROMPT)}
    parts = [part for part in re.split(r"[._-]", local.split("+")[0]) if part]
    if len(parts) == 2 and all(part.isalpha() and len(part) > 1 for part in parts):
        facts["full_name"] = Fact(" ".join(part.capitalize() for part in parts), EMAIL_ADDRESS)
    return facts


def facts_from_name(full_name: str) -> Facts:
    """Given name and family name, where the full name consists of exactly two words."""
    parts = full_name.split()
    if len(parts) != 2:
        return {}
    return {"given_name": Fact(parts[0], PROMPT), "family_name": Fact(parts[1], PROMPT)}


def _stated_name(text: str) -> str:
    """The name that the text states, or starts with; empty where there is none."""
    match = _NAME_STATEMENT.search(text)
    if match is None or not match[1][0].isupper() or _KITCHEN.match(match[1]):
        match = _NAME_AT_START.match(text)
        if match is None or not all(word[0].isupper() for word in match[1].split()):
            return ""
    return _capitalised_words(match[1])


def _number(text: str) -> phonenumbers.PhoneNumber | None:
    """The first valid number in international form; without a country code its numbering plan is unknown."""
    found = phonenumbers.PhoneNumberMatcher(text, None)
    return next((match.number for match in found if phonenumbers.is_valid_number(match.number)), None)


def _capitalised_words(text: str) -> str:
    """The leading capitalised words of a text, up to the end of its sentence."""
    words: list[str] = []
    for word in text.split():
        if not word[0].isupper():
            break
        words.append(word.strip(".,"))
        if word[-1] in ".," and len(word) > 3:  # "Jr." and "J." do not end a sentence
            break
    return " ".join(words)


def stated_confidence(prompt: str) -> float:
    """The confidence that the JSON in the prompt states for its own values, from 0 to 1; 1.0 where it states none."""
    confidence = json_members(prompt).get("confidence")
    if not isinstance(confidence, int | float) or isinstance(confidence, bool):
        return 1.0
    return float(min(1, max(0, confidence)))


def json_objects(prompt: str) -> Iterator[dict[str, Any]]:
    """All JSON objects in the prompt, without those nested in another."""
    yield from split_json(prompt)[0]


def split_json(prompt: str) -> tuple[list[dict[str, Any]], str]:
    """The JSON objects of the prompt, and its text without them."""
    decoder, position, kept_from = json.JSONDecoder(), 0, 0
    objects, rest, tries = [], [], 0
    while (position := prompt.find("{", position)) >= 0 and (tries := tries + 1) <= _MAX_OBJECTS:
        try:
            value, end = decoder.raw_decode(prompt, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        objects.append(value)
        rest.append(prompt[kept_from:position])
        position = kept_from = end
    return objects, " ".join([*rest, prompt[kept_from:]])


def json_members(prompt: str) -> dict[str, Any]:
    """The members of all JSON objects in the prompt, under the names of profile fields; the first value counts."""
    names = {"fullname": "full_name", "name": "full_name", "phonenumber": "phone"}
    found: dict[str, Any] = {}
    for value in json_objects(prompt):
        for key, member in value.items():
            normalised = re.sub(r"[^a-z]", "", key.lower())
            found.setdefault(names.get(normalised, key), member)
        code = value.get("countryCode")
        if isinstance(code, str) and isinstance(value.get("phoneNumber"), str):
            found["phone"] = code + value["phoneNumber"]
    return {key: member for key, member in found.items() if member not in (None, "", [], {})}


def text_without_json(prompt: str) -> str:
    """The sentences of the prompt: its text without JSON and without marked data."""
    return re.sub(r"<<<.*?>>>|\{[^{}]*\}", " ", prompt, flags=re.DOTALL)


def strings_in(value: Any) -> list[str]:
    """The non-empty strings of a list; none where `value` is not a list."""
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list) else []
