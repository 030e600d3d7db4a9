"""What a prompt holds: JSON, labelled lines, whom it is about, and what a phone number or address tells (pure)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import phonenumbers
from phonenumbers import PhoneNumberType, carrier, geocoder, timezone

PROMPT, KEPT, NUMBERING_PLAN, EMAIL_ADDRESS = "prompt", "kept", "numbering_plan", "email_address"
ASK_ME = "ask_me"  # `Ask me: dislikes` in what is kept: of this field the person wants to be asked first
_TEXTS = (
    "full_name gender address city state postal_code country marital_status occupation education income_bracket "
    "home_ownership city_tier diet_preference favorite_cuisine coffee_or_tea fitness_routine shopping_preference "
    "grocery_store_type fashion_style transport sleep_chronotype eco_friendliness tech_affinity primary_device "
    "favorite_social_platform social_media_usage_time content_preference sports_interest gaming_preference "
    f"travel_frequency {ASK_ME}"
)
_NUMBERS, _YES_OR_NO = "age household_size children_count", "gym_membership"
_LISTS = "needs wants desires likes dislikes brand_affinities"
KINDS = {
    name: kind
    for kind, names in (("text", _TEXTS), ("number", _NUMBERS), ("yes or no", _YES_OR_NO), ("list", _LISTS))
    for name in names.split()
}
_SPELT = {
    "fullname": "full_name", "name": "full_name", "phonenumber": "phone", "diet": "diet_preference",
    "favourite_cuisine": "favorite_cuisine", "cuisine": "favorite_cuisine", "drink": "coffee_or_tea",
}  # fmt: skip
_LINE = re.compile(r"^[\s*-]*([A-Za-z][A-Za-z _-]{1,40}?)[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.M)
_SET = re.compile(r"\b(?:change|set|update) (?:the |my |her |his )?([A-Za-z _-]{2,40}?) to ([^.;!\n]{1,200})", re.I)
_EMAIL = re.compile(r"(?<![\w.+-])([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)")
_MAX_OBJECTS = 100  # places of a prompt where an object is looked for
_LINE_TYPES = {
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE: "fixed line",
    PhoneNumberType.FIXED_LINE_OR_MOBILE: "fixed line or mobile",
    PhoneNumberType.VOIP: "voice over IP",
    PhoneNumberType.TOLL_FREE: "toll-free",
}


@dataclass(frozen=True)
class Fact:
    """A value, where it comes from, and how sure it is, from 0 to 1 (docs/agents.md)."""

    value: Any
    source: str
    confidence: float = 1.0


Facts = dict[str, Fact]


def find_identifiers(prompt: str) -> Facts:
    """Name, e-mail address and phone number, where the prompt has them."""
    stated = stated_fields(prompt)
    email = str(stated.get("email") or "") or next(iter(_EMAIL.findall(prompt)), "")
    numbers = numbers_in(str(stated.get("phone") or "") or prompt)
    found = {"full_name": stated.get("full_name"), "email": email.lower(), "phone": next(iter(numbers), "")}
    return {name: Fact(value, PROMPT) for name, value in found.items() if isinstance(value, str) and value.strip()}


def identifiers_in(prompt: str) -> set[str]:
    """Every e-mail address and every phone number that the prompt names, of whomever."""
    return {address.lower() for address in _EMAIL.findall(prompt)} | set(numbers_in(prompt, valid=False))


def numbers_in(text: str, *, valid: bool = True) -> list[str]:
    """The phone numbers in international form, as E.164."""
    found = [match.number for match in phonenumbers.PhoneNumberMatcher(text, None)]
    return [
        phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        for number in found
        if not valid or phonenumbers.is_valid_number(number)
    ]


def stated_fields(prompt: str) -> dict[str, Any]:
    """Fields that the prompt states: in JSON objects, in lines `Label: value`, or as `change the label to value`.

    The first value counts; null, which takes a field away, stays.
    """
    objects, text = split_json(prompt)
    found: dict[str, Any] = {}
    for one in objects:
        nested = one.get("userProfile")
        members = nested if isinstance(nested, dict) else one
        for label, value in members.items():
            found.setdefault(spelt(label), value)
        code, number = one.get("countryCode"), one.get("phoneNumber")
        if isinstance(code, str) and isinstance(number, str):
            found["phone"] = code + number
    for label, value in [*_LINE.findall(text), *_SET.findall(text)]:
        name = spelt(label)
        if name in KINDS or name in ("email", "phone"):
            found.setdefault(name, _typed(KINDS.get(name, "text"), value.strip(". ")))
    return found


def split_json(prompt: str) -> tuple[list[dict[str, Any]], str]:
    """The JSON objects of the prompt, without those nested in another, and its text without them."""
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
    return objects, "\n".join([*rest, prompt[kept_from:]])


def facts_from_phone(phone: str) -> Facts:
    """What the numbering plan tells of a number in E.164: country, region, line type, time zone, original carrier."""
    number = phonenumbers.parse(phone)
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
    return {name: Fact(value, NUMBERING_PLAN, 0.9) for name, value in found.items() if value}


def facts_from_email(email: str) -> Facts:
    """The domain, and a full name where the local part has the form of one (`zoe.doe@`)."""
    local, _, domain = email.partition("@")
    facts = {"email_domain": Fact(domain.lower(), PROMPT)}
    parts = [part for part in re.split(r"[._-]", local.split("+")[0]) if part]
    if len(parts) == 2 and all(part.isalpha() and len(part) > 1 for part in parts):
        facts["full_name"] = Fact(" ".join(part.capitalize() for part in parts), EMAIL_ADDRESS, 0.5)
    return facts


def facts_from_name(full_name: str) -> Facts:
    """Given name and family name, where the full name consists of exactly two words."""
    parts = full_name.split()
    return {"given_name": Fact(parts[0], PROMPT), "family_name": Fact(parts[1], PROMPT)} if len(parts) == 2 else {}


def answered(name: str, text: str) -> Any:
    """The value of a field that somebody gave when asked for it alone."""
    return _typed(KINDS.get(name, "text"), text.strip(" .\n"))


def values_of(facts: Mapping[str, Fact]) -> dict[str, Any]:
    return {name: fact.value for name, fact in facts.items()}


def spelt(label: str) -> str:
    """`dietPreference` and `Diet preference` are both `diet_preference`."""
    snake = re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label)).strip("_").lower()
    return _SPELT.get(snake.replace("_", ""), _SPELT.get(snake, snake))


def _typed(kind: str, text: str) -> Any:
    match kind:
        case "number":
            return int(text) if re.fullmatch(r"\d{1,9}", text) else None
        case "yes or no":
            return {"yes": True, "no": False}.get(text.lower())
        case "list":
            return [part.strip() for part in text.split(",") if part.strip()]
    return text
