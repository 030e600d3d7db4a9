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
    members = told(prompt)
    facts = {name: Fact(members[name], PROMPT) for name in ("full_name", "email", "phone") if members.get(name)}
    if "email" not in facts and (match := _EMAIL.search(prompt)):
        facts["email"] = Fact(match[1].lower(), PROMPT)
    number = _number(str(facts["phone"].value) if "phone" in facts else prompt)
    if number is not None:
        facts["phone"] = Fact(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), PROMPT)
    elif "phone" in facts:
        del facts["phone"]  # no number of any country
    if "full_name" not in facts and (match := _NAME_SAID.search(prose(prompt))) and match[1][0].isupper():
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


def sureness(prompt: str) -> float:
    """How sure the signals in the prompt are of themselves; 1.0 where they do not say."""
    sure = told(prompt).get("confidence")
    if not isinstance(sure, int | float) or isinstance(sure, bool):
        return 1.0
    return float(min(1, max(0, sure)))


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


def told(prompt: str) -> dict[str, Any]:
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


def prose(prompt: str) -> str:
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


def texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list) else []
