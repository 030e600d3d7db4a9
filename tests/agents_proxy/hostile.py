"""Replies of agents that mean harm, or that nobody looked after: always the same ones, every one different."""

import json
import random
from typing import Any

from tests.fakes.agents import Speech

MARKUP = [
    "<script>window.pwned=1;alert(1)</script>",
    "<img src=x onerror=window.pwned=1>",
    "<svg/onload=alert(1)>",
    "</script><script>window.pwned=1</script>",
    "</textarea></pre></code><iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<style>body{display:none}</style>",
    "<a href='javascript:window.pwned=1'>x</a>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "{{ 7*7 }}{% include 'admin/index.html' %}${7*7}#{7*7}",
    "\"><input autofocus onfocus=alert(1)>",
    "'-alert(1)-'",
    "<!--<script>",
    "]]><x xmlns='http://www.w3.org/1999/xhtml'>",
]  # fmt: skip
INVISIBLE = [
    "\u202egnp.exe\u202c", "\u2066\u2067\u2068\u202b" * 50, "\u200b\u200d\ufeff", "a\u0300" * 500, "\u061c\u200f",
    "\U0001f600" * 300, "\ufdfd" * 200, "\u0007\u001b[31m", "\u2028\u2029",
]  # fmt: skip
NAMES = ["city", "likes", "intent_24h", "full_name", "needs", "shopping_preferences", "confidence_score", "__proto__",
         "constructor", "hasOwnProperty", "toString", "user_profile", "length", "email"]  # fmt: skip


def hostile_replies(count: int) -> list[str]:
    """Texts of agents' answers."""
    chance = random.Random(20261120)
    return [_reply(chance, number) for number in range(count)]


def _reply(chance: random.Random, number: int) -> str:
    kind = number % 8
    nasty = chance.choice(MARKUP) + chance.choice(INVISIBLE) + chance.choice(MARKUP)
    if kind == 0:
        return json.dumps(dict.fromkeys(chance.sample(NAMES, 6), nasty))
    if kind == 1:
        return json.dumps({nasty: nasty, nasty * 40: 1, "x" * 100_000: "y"})
    if kind == 2:
        return json.dumps({"city": "w" * 200_000, "likes": ["long" * 3000] * 30, "needs": [nasty] * 400})
    if kind == 3:
        return json.dumps({"intent_24h": _deep(nasty, chance.randint(2, 40)), "city": _deep(nasty, 12)})
    if kind == 4:
        return json.dumps({f"{name}{at}": nasty for at in range(120) for name in chance.sample(NAMES, 3)})
    if kind == 5:
        return (
            "```json\n"
            + json.dumps({"city": nasty, "confidence_score": nasty, "likes": {nasty: nasty}})
            + ",}\n```"
            + nasty
        )
    if kind == 6:
        return nasty + "{" * 3000 + '"city": "' + nasty
    return json.dumps(
        {
            "intent_48h": [
                {"category": nasty, "budget": nasty, "confidence": value} for value in (1e308, -5, "NaN", [], 0.5)
            ],
            "confidence_score": chance.choice([1e308, -1, 55, 0.5, True, [], {"a": nasty}]),
            "shopping_preferences": {nasty: [nasty], "channel": [nasty]},
            "gym_membership": nasty,
            "age": chance.choice([10**300, -0.0, 1e-300, nasty]),
        }
    )


def _deep(value: Any, depth: int) -> Any:
    return value if depth == 0 else {"a": _deep(value, depth - 1)} if depth % 2 else [_deep(value, depth - 1)]


def as_result(speech: Speech, text: str) -> dict[str, Any]:
    """A finished task that says `text`, as an agent that speaks so would write it."""
    match speech:
        case Speech.TASKS_SEND:
            return {"status": {"state": "completed", "message": _message("agent", {"type": "text", "text": text})}}
        case Speech.A2A_0_3:
            message = {"kind": "message", "messageId": "m", **_message("agent", {"kind": "text", "text": text})}
            return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed", "message": message}}
        case Speech.A2A_1_0:
            message = {"messageId": "m", **_message("ROLE_AGENT", {"text": text})}
            return {
                "task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED", "message": message}}
            }


def _message(role: str, part: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": [part]}


# results that are none of the shapes that any protocol has
SHAPELESS: list[Any] = [
    None, 0, "", [], {}, "task", {"task": None}, {"task": []}, {"task": "text"}, {"message": {"parts": {}}},
    {"task": {"task": {"task": {}}}}, {"task": {"status": []}}, {"message": {"parts": [None, 7, [], {"text": 7}]}},
    {"artifacts": {"parts": []}}, {"artifacts": [None, 7, "text", {"parts": "text"}]}, {"parts": "text"},
    {"status": {"message": "text"}}, {"status": "completed", "message": "text"}, {"kind": "message", "parts": None},
]  # fmt: skip
