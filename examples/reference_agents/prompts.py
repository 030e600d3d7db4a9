"""What a prompt holds: JSON, labelled lines, simple statements, whom it is about, and what a phone number tells."""

import json
import re
from typing import Any, NamedTuple

import phonenumbers
from phonenumbers import geocoder

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
_IS = re.compile(r"\b(?:the|my|her|his) ([A-Za-z _-]{2,40}?) (?:is|are) ([^.;!\n]{1,200})", re.I)
_EMAIL = re.compile(r"(?<![\w.+-])([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)")
_MAX_OBJECTS = 100  # places of a prompt where an object is looked for


class Call(NamedTuple):
    """A prompt with whom it is about, under which consent it came, since when (seconds since 1970), by whose `sub`."""

    text: str
    consent: str = ""
    at: float = 0.0
    person: str = ""


def find_identifiers(prompt: str) -> dict[str, str]:
    """Name, e-mail address and phone number (E.164), where the prompt has them."""
    fields = stated(prompt)
    email = str(fields.get("email") or "") or next(iter(_EMAIL.findall(prompt)), "")
    numbers = numbers_in(str(fields.get("phone") or "") or prompt)
    found = {"full_name": fields.get("full_name"), "email": email.lower(), "phone": next(iter(numbers), "")}
    return {name: value for name, value in found.items() if isinstance(value, str) and value.strip()}


def identifiers_in(prompt: str) -> set[str]:
    """Every e-mail address and every phone number that the prompt names, of whomever."""
    return {address.lower() for address in _EMAIL.findall(prompt)} | set(numbers_in(prompt, valid=False))


def numbers_in(text: str, *, valid: bool = True) -> list[str]:
    """The phone numbers in international form, as E.164."""
    found = [match.number for match in phonenumbers.PhoneNumberMatcher(text, None)]
    if valid:
        found = [number for number in found if phonenumbers.is_valid_number(number)]
    return [phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164) for number in found]


def stated(prompt: str) -> dict[str, Any]:
    """Fields that the prompt states: in JSON, in lines `Label: value`, as `change the label to value`, `my label is …`.

    The first value counts; null, which takes a field away, stays.
    """
    found: dict[str, Any] = {}
    for one in json_objects(prompt):
        nested = one.get("userProfile")
        for label, value in (nested if isinstance(nested, dict) else one).items():
            found.setdefault(spelt(label), value)
        code, number = one.get("countryCode"), one.get("phoneNumber")
        if isinstance(code, str) and isinstance(number, str):
            found["phone"] = code + number
    for label, value in [*_LINE.findall(prompt), *_SET.findall(prompt), *_IS.findall(prompt)]:
        name = spelt(label)
        if name in KINDS or name in ("email", "phone"):
            found.setdefault(name, typed(name, value))
    return found


def json_objects(prompt: str) -> list[dict[str, Any]]:
    """The JSON objects of the prompt, without those nested in another."""
    decoder, position, objects = json.JSONDecoder(), 0, []
    for _ in range(_MAX_OBJECTS):
        if (position := prompt.find("{", position)) < 0:
            break
        try:
            value, position = decoder.raw_decode(prompt, position)
            objects.append(value)
        except (ValueError, RecursionError):
            position += 1
    return objects


def numbering_plan(phone: str | None) -> dict[str, str]:
    """The country of a number in E.164, as public numbering plans have it; empty where they do not say."""
    country = geocoder.country_name_for_number(phonenumbers.parse(phone), "en") if phone else ""
    return {"country": country} if country else {}


def spelt(label: str) -> str:
    """`dietPreference` and `Diet preference` are both `diet_preference`."""
    snake = re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label)).strip("_").lower()
    return _SPELT.get(snake.replace("_", ""), _SPELT.get(snake, snake))


def typed(name: str, text: str) -> Any:
    """What somebody wrote as the value of this field; None where that is none."""
    text = text.strip(" .\n")
    match KINDS.get(name):
        case "number":
            found = re.fullmatch(r"(\d{1,9})(?: [a-z ]+)?", text)
            return int(found[1]) if found else None
        case "yes or no":
            return {"yes": True, "no": False}.get(text.lower())
        case "list":
            return [part.strip() for part in text.split(",") if part.strip()]
    return text
