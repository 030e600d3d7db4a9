"""The parts of a prompt: the JSON objects in it, their members, and the sentences around them (pure)."""

import json
import re
from collections.abc import Iterator
from typing import Any


def stated_confidence(prompt: str) -> float:
    """The confidence that the JSON in the prompt states for its own values, from 0 to 1; 1.0 where it states none."""
    confidence = json_members(prompt).get("confidence")
    if not isinstance(confidence, int | float) or isinstance(confidence, bool):
        return 1.0
    return float(min(1, max(0, confidence)))


def json_objects(prompt: str) -> Iterator[dict[str, Any]]:
    """All JSON objects in the prompt, without those nested in another."""
    decoder, position = json.JSONDecoder(), 0
    while (position := prompt.find("{", position)) >= 0:
        try:
            value, position = decoder.raw_decode(prompt, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        if isinstance(value, dict):
            yield value


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
