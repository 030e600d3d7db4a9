"""The shapes in which agents answer, one by one: what of each comes out, and that nothing else does.

A shape is a text, which stands where the specification has it, or a whole result.
"""

import json
from typing import Any

import pytest

from agents_proxy.analyses.merging import filled
from agents_proxy.proxy.replies import read_reply
from agents_proxy.proxy.spelling import SECTIONS, canonical

ANA = {"full_name": "Ana Sa", "age": 41, "city": "Porto"}
TEXT = json.dumps(ANA)
MORE = '{"full_name": "X", "age": 1, "city": "Y", "state": "Z"}'
FENCED = f"```json\n{TEXT}\n```"


def task(text: str) -> dict[str, Any]:
    return {"status": {"state": "completed", "message": {"role": "agent", "parts": [{"type": "text", "text": text}]}}}


def parts(*members: Any) -> dict[str, Any]:
    return {"parts": list(members)}


def artifacts(*parts_of_each: list[Any], named: bool = False) -> dict[str, Any]:
    kept = [{"artifactId": "one" if named else str(at), "parts": each} for at, each in enumerate(parts_of_each)]
    return {"status": {"state": "completed"}, "artifacts": kept}


DATA = {"kind": "data", "data": ANA}
# name → shape, and the fields that it holds
READ: dict[str, tuple[Any, dict[str, Any]]] = {
    # where it stands
    "status message": (task(TEXT), ANA),
    "artifact": (artifacts([{"type": "text", "text": TEXT}]), ANA),
    "message": ({"message": parts({"kind": "text", "text": TEXT})}, ANA),
    "parts": (parts({"text": TEXT}), ANA),
    "response": ({"response": parts({"text": TEXT})}, ANA),
    "content of MCP": ({"content": [{"type": "text", "text": TEXT}]}, ANA),
    "structured content of MCP": ({"content": [], "structuredContent": ANA}, ANA),
    "chat completion": ({"choices": [{"message": {"role": "assistant", "content": TEXT}}]}, ANA),
    "candidates of Gemini": ({"candidates": [{"content": parts({"text": TEXT})}]}, ANA),
    "a text as the result": (TEXT, ANA),
    "a fenced text as the result": (FENCED, ANA),
    "an object as the result": (ANA, ANA),
    "an object in the result": ({"id": "t", "output": ANA}, ANA),
    "texts instead of parts": (parts(TEXT), ANA),
    "a text instead of parts": ({"message": {"content": TEXT}}, ANA),
    "output of the responses interface": ({"output": [{"type": "message", "content": [{"text": TEXT}]}]}, ANA),
    "messages of a conversation": (
        {"messages": [{"role": "user", "content": MORE}, {"role": "assistant", "content": TEXT}]}, ANA,
    ),
    "one artifact": ({"artifact": parts({"text": TEXT})}, ANA),
    "root of a part": (parts({"root": {"kind": "text", "text": TEXT}}), ANA),
    "content of a part": (parts({"kind": "text", "content": TEXT}), ANA),
    "generations": ({"generations": [[{"text": TEXT}]]}, ANA),
    "a result in the result": ({"result": task(TEXT)}, ANA),
    "text as the only member": ({"output_text": TEXT}, ANA),
    "progress in the status, the answer in an artifact": ({**task("Searching"), **artifacts([{"text": TEXT}])}, ANA),
    # data parts
    "data of 0.3": (artifacts([DATA]), ANA),
    "data by type": (artifacts([{"type": "data", "data": ANA}]), ANA),
    "data of 1.0": (artifacts([{"data": ANA}]), ANA),
    "data in data": (artifacts([{"data": {"data": ANA}}]), ANA),
    "data as a text": (artifacts([{"kind": "data", "data": TEXT}]), ANA),
    "data in a list": (artifacts([{"kind": "data", "data": [ANA]}]), ANA),
    "data wrapped": (artifacts([{"kind": "data", "data": {"userProfile": ANA}}]), ANA),
    "words and data": (artifacts([{"text": "Here it is."}, DATA]), ANA),
    "data and the same in words": (artifacts([DATA, {"text": '{"full_name": "X", "age": 1, "city": "Y"}'}]), ANA),
    "data of a tool, the answer as text": (artifacts([{"data": {"tool": "search"}}, {"text": TEXT}]), ANA),
    "a file beside": (artifacts([{"kind": "file", "file": {"uri": "https://x.example/a"}}, DATA]), ANA),
    # chunks
    "chunks of one artifact": (artifacts([{"text": TEXT[:20]}, {"text": TEXT[20:]}]), ANA),
    "appended chunks": (artifacts([{"text": TEXT[:9]}], [{"text": TEXT[9:]}], named=True), ANA),
    "chunks of a message": (parts({"text": TEXT[:33]}, {"text": TEXT[33:]}), ANA),
    "chunks of a fence": (artifacts([{"text": "```js"}, {"text": f"on\n{TEXT}\n`"}, {"text": "``"}]), ANA),
    "artifacts of which one is a draft": (artifacts([{"text": '{"age": 7}'}], [{"text": TEXT}]), ANA),
    # fences and words
    "bare": (TEXT, ANA),
    "with blanks": (f"\n\n  {TEXT}  \n", ANA),
    "pretty": (json.dumps(ANA, indent=4), ANA),
    "fenced": (FENCED, ANA),
    "fenced without a language": (f"```\n{TEXT}\n```", ANA),
    "fenced as JSON5": (f"```json5\r\n{TEXT}\r\n```", ANA),
    "fence without lines": (f"```{TEXT}```", ANA),
    "fence never closed": (f"```json\n{TEXT}", ANA),
    "words before": (f"Here is the profile: {TEXT}", ANA),
    "words around": (f"Sure!\n\n{FENCED}\n\nLet me know if you need more.", ANA),
    "words with braces": (f"By {{policy 4}} and [1], see {{x}}: {TEXT}", ANA),
    "links before": (f"From [register](https://x.example) and [2]: {TEXT}", ANA),
    "two fences": (f'```json\n{{"tool": "search"}}\n```\nthen\n{FENCED}', ANA),
    "the fuller one first": (f'{FENCED}\nFor example:\n```json\n{{"age": 3}}\n```', ANA),
    "the later of two": (f'{{"full_name": "A", "age": 1, "city": "B"}}\nCorrected:\n{TEXT}', ANA),
    "the answer after a tool": (f'{{"tool": "search", "arguments": {{"email": "x"}}}}\n{TEXT}', ANA),
    "backticks in a text": ('```json\n{"city": "Porto", "occupation": "```js\\nx```"}\n```',
                            {"city": "Porto", "occupation": "```js\nx```"}),
    "byte order mark": (f"\ufeff{TEXT}", ANA),
    "a list of one": (f"[{TEXT}]", ANA),
    "a list of several": (f'[{{"tool": "x"}}, {TEXT}]', ANA),
    "tag around": (f"<answer>{TEXT}</answer>", ANA),
    # thoughts
    "thought before": (f'<think>maybe {{"age": 7}}</think>\n{TEXT}', ANA),
    "thought with more": (f"<think>{MORE}</think>{TEXT}", ANA),
    "thought without its beginning": (f"perhaps {MORE}</think>\n{TEXT}", ANA),
    "thinking": (f'<thinking>\n```json\n{{"age": 7}}\n```\n</thinking>\n{FENCED}', ANA),
    "thought as an object": (f'{{"thought": "search first"}}\n{TEXT}', ANA),
    "thought as a part": (parts({"text": MORE, "thought": True}, {"text": TEXT}), ANA),
    "a tag in a value": ('{"city": "<think>Porto", "age": 41}', {"city": "<think>Porto", "age": 41}),
    # wrappers
    "userProfile": (json.dumps({"userProfile": ANA}), ANA),
    "user_profile": (json.dumps({"user_profile": ANA}), ANA),
    "User Profile": (json.dumps({"User Profile": ANA}), ANA),
    "userProfile twice": (json.dumps({"userProfile": {"userProfile": ANA}}), ANA),
    "userProfile in data": (json.dumps({"status": "ok", "data": {"userProfile": ANA}}), ANA),
    "userProfile in what has no name here": (json.dumps({"found": {"userProfile": ANA}}), ANA),
    "userProfile in a list": (json.dumps({"userProfile": [ANA]}), ANA),
    "userProfile as a text": (json.dumps({"userProfile": TEXT}), ANA),
    "userProfile as a fenced text": (json.dumps({"userProfile": FENCED}), ANA),
    "list of one with userProfile": (json.dumps([{"userProfile": ANA}]), ANA),
    "profile": (json.dumps({"profile": ANA, "sources": ["https://x.example"]}), ANA),
    "result in response": (json.dumps({"response": {"result": ANA}, "success": True}), ANA),
    "an answer as a text": (json.dumps({"answer": TEXT}), ANA),
    "encoded twice": (json.dumps(TEXT), ANA),
    "encoded three times": (json.dumps(json.dumps(TEXT)), ANA),
    "encoded in a fence": (f"```json\n{json.dumps(TEXT)}\n```", ANA),
    "an empty userProfile beside": (json.dumps({"userProfile": {}, **ANA}), ANA),
    "each value with its confidence": (
        json.dumps({name: {"value": value, "confidence": 0.9, "source": "x"} for name, value in ANA.items()}), ANA,
    ),
    "values in sections with remarks": (
        json.dumps({"location": {"city": {"value": "Porto"}}, "intent_24h": {"category": {"value": "tea"}}}),
        {"city": "Porto", "intent_24h": {"category": "tea"}},
    ),
    "a list of names and values": (
        json.dumps({"attributes": [{"name": name, "value": value} for name, value in ANA.items()]}), ANA,
    ),
    # sections
    "sections of 2.5": (json.dumps({"Basic information": {"Full Name": "Ana Sa", "Age": 41},
                                    "Location": {"City": "Porto"}}), ANA),
    "sections of 2.4": (json.dumps({"name": "Ana Sa", "demographics": {"marital_status": "single", "children": 2},
                                    "professional": {"occupation": "nurse", "education": "MSc", "income": "mid"},
                                    "lifestyle": {"diet": "vegan", "cuisine": "Thai", "gym": True}}),
                        {"full_name": "Ana Sa", "marital_status": "single", "children_count": 2, "occupation": "nurse",
                         "education": "MSc", "income_bracket": "mid", "diet_preference": "vegan",
                         "favorite_cuisine": "Thai", "gym_membership": True}),
    "sections in a wrapper": (json.dumps({"profile": {"personal_info": ANA}}), ANA),
    "sections in sections": (json.dumps({"lifestyle": {"food": {"diet": "vegan"}, "habits": {"transport": "bike"}}}),
                             {"diet_preference": "vegan", "transport": "bike"}),
    "nested address": ('{"address": {"street": "Rua 1", "city": "Porto", "zip_code": "4000", "country": "PT"}}',
                       {"address": "Rua 1", "city": "Porto", "postal_code": "4000", "country": "PT"}),
    "a field as an object": (json.dumps({"travel": {"frequency": "often"}, "education": {"level": "MSc"}}),
                             {"travel_frequency": "often", "education": "MSc"}),
    "technology and interests": ('{"technology_and_interests": {"primary_device": "phone", "sports": "judo"}}',
                                 {"primary_device": "phone", "sports_interest": "judo"}),
    "needs, wants and desires": (json.dumps({"needs_wants_desires": {"needs": ["a lamp"], "wants": ["tea"]}}),
                                 {"needs": ["a lamp"], "wants": ["tea"]}),
    "intents by window": (json.dumps({"intents": {"24h": {"category": "tea"}, "next_48_hours": {"category": "book"}}}),
                          {"intent_24h": {"category": "tea"}, "intent_48h": {"category": "book"}}),
    "flat intents": ('{"intent_24h_category": "tea", "intent24hBudget": "20", "intent_24h_time_window": "now"}',
                     {"intent_24h": {"category": "tea", "budget": "20", "time_window": "now"}}),
    "scores in a section": (json.dumps({**ANA, "metadata": {"confidence_score": 0.7, "model": "x"}}),
                            {**ANA, "confidence_score": 0.7}),
    "a given and a family name": ('{"first_name": "Ana", "last_name": "Sa"}',
                                  {"first_name": "Ana", "last_name": "Sa", "full_name": "Ana Sa"}),
    # values
    "numbers in words": ('{"age": "forty-one", "children_count": "two", "household_size": "4 people"}',
                         {"age": 41, "children_count": 2, "household_size": 4}),
    "German numbers": ('{"age": "einundvierzig", "children_count": "keine"}', {"age": 41, "children_count": 0}),
    "none as a number": ('{"children_count": "None", "age": "None"}', {"children_count": 0}),
    "yes and no in words": ('{"gym_membership": "No", "city": "Porto"}', {"gym_membership": False, "city": "Porto"}),
    "a dash as no": ('{"gym_membership": "-", "city": "-", "age": 4}', {"gym_membership": False, "age": 4}),
    "numbers explained": ('{"children_count": "2 (a boy and a girl)", "age": "41 (estimated)"}',
                          {"children_count": 2, "age": 41}),
    "yes and no explained": ('{"gym_membership": "Yes, at Ferro", "city": "Porto"}',
                             {"gym_membership": True, "city": "Porto"}),
    "no membership": ('{"gym_membership": "no membership", "city": "None found"}', {"gym_membership": False}),
    "of a hundred": ('{"confidence_score": 85, "accuracy_score": "8/10", "age": 1}',
                     {"confidence_score": 0.85, "accuracy_score": 0.8, "age": 1}),
    "percent": ('{"confidence_score": "85 %", "age": 41}', {"confidence_score": 0.85, "age": 41}),
    "not a number": ('{"age": NaN, "city": "Porto", "household_size": -Infinity}', {"city": "Porto"}),
    "not a number in a list": ('{"needs": ["tea", NaN], "city": "Porto"}', {"needs": ["tea"], "city": "Porto"}),
    "too large a number": ('{"age": 1e999, "city": "Porto"}', {"city": "Porto"}),
    "placeholders": ('{"full_name": "Unknown", "age": "N/A", "city": "Not specified", "state": "-", "gender": "f"}',
                     {"gender": "f"}),
    "German placeholders": ('{"city": "keine Angabe", "state": "unbekannt", "gender": "weiblich", "email": "k. A."}',
                            {"gender": "weiblich"}),
    "placeholders in others": ('{"needs": ["n/a", "tea"], "wants": ["Unknown"], "intent_24h": {"category": "tbd"}}',
                                         {"needs": ["tea"]}),
    "templates left open": ('{"full_name": "<name>", "city": "[city]", "state": "{{state}}", "age": 41}', {"age": 41}),
    "an error that is null": ('{"error": null, "age": 41}', {"age": 41}),
    # what has to be repaired
    "trailing commas": ('{"needs": ["a", "b",],}', {"needs": ["a", "b"]}),
    "single quotes": ("{'city': 'Porto', 'age': 41}", {"city": "Porto", "age": 41}),
    "Python": ("{'city': 'Porto', 'gym_membership': True, 'age': None}", {"city": "Porto", "gym_membership": True}),
    "no quotes": ("{city: Porto, age: 41}", {"city": "Porto", "age": 41}),
    "curly quotes": ("{\u201ccity\u201d: \u201cPorto\u201d}", {"city": "Porto"}),
    "comments": ('{"city": "Porto", // home\n "age": 41 /* years */}', {"city": "Porto", "age": 41}),
    "cut off": ('{"city": "Porto", "needs": ["tea', {"city": "Porto", "needs": ["tea"]}),
    "cut off in a fence": ('```json\n{"userProfile": {"city": "Porto", "age": 41', {"city": "Porto", "age": 41}),
    "no commas": ('{"city": "Porto" "age": 41}', {"city": "Porto", "age": 41}),
    "broken among words": ("Here: {'city': 'Porto', 'age': 41,} as asked.", {"city": "Porto", "age": 41}),
    "closed too early": ('{"city": "Porto"}, "age": 41}', {"city": "Porto", "age": 41}),
    "escaped once too often": ('{\\"city\\": \\"Porto\\"}', {"city": "Porto"}),
    "quotes in a text": ('{"occupation": "runs "Casa" in town", "age": 41}',
                         {"occupation": 'runs "Casa" in town', "age": 41}),
}  # fmt: skip
# name → shape of which nothing is to come out
NOTHING: dict[str, Any] = {
    "silence": "",
    "words": "I could not find anything.",
    "a refusal": "I'm sorry, but I can't help with that {see policy: 4}.",
    "words in braces": "Could not find {name: Ana} anywhere.",
    "HTML": "<html><body>502 Bad Gateway</body></html>",
    "no object": "[1, 2]",
    "a number": "41",
    "an empty object": "{}",
    "an empty wrapper": '{"userProfile": {}}',
    "a tool call": '{"tool": "search", "arguments": {"email": "ana@example.org", "name": "Ana"}}',
    "an error": '{"error": "db down"}',
    "an error beside no value": '{"error": {"message": "quota"}, "age": null}',
    "a thought": '{"thought": "I should search", "action": "search", "action_input": "Ana"}',
    "an empty form": '{"full_name": "", "age": null, "city": "Unknown", "needs": [], "intent_24h": {"budget": "-"}}',
    "a status": '{"status": "ok", "message": "done"}',
    "words as data": artifacts([{"kind": "data", "data": {"message": "nothing found"}}]),
    "a task without an answer": {"id": "t", "state": "completed", "kind": "task"},
    "a list of hits": '{"results": [{"title": "Ana", "link": "x"}, {"title": "Bea", "link": "y"}]}',
    "a prompt alone": {"messages": [{"role": "user", "content": TEXT}]},
    "history alone": {"history": [parts({"text": TEXT})]},
    "nested too deeply": '{"a":' * 60 + "1" + "}" * 60,
}


def answer(shape: Any) -> dict[str, Any]:
    is_text = isinstance(shape, str) and shape not in (TEXT, FENCED)
    return {"jsonrpc": "2.0", "id": "t", "result": task(shape) if is_text else shape}


@pytest.mark.parametrize(("shape", "fields"), READ.values(), ids=READ)
def test_what_an_answer_says_is_read(shape: Any, fields: dict[str, Any]) -> None:
    assert read_reply(answer(shape)).fields == fields


@pytest.mark.parametrize("shape", NOTHING.values(), ids=NOTHING)
def test_what_says_nothing_yields_nothing(shape: Any) -> None:
    assert not read_reply(answer(shape)).fields


def test_enough_shapes_are_tried() -> None:
    assert len(READ) >= 90


ORIGINS = {
    "user_id": "u-1", "full_name": "Ana Sa", "email": "ana@example.org", "phone": "+351912345678", "age": 34,
    "gender": "female",
    "address": {"street": "Rua 1", "city": "Porto", "state": "Norte", "zip_code": "4000-001", "country": "Portugal"},
    "demographics": {"marital_status": "single", "household_size": 2, "children_count": 0},
    "professional": {"occupation": "nurse", "education_level": "MSc", "income_bracket": "mid", "home_ownership": "rent",
                     "city_tier": "1"},
    "lifestyle": {"diet_preference": "vegan", "favorite_cuisine": "Thai", "coffee_or_tea_choice": "tea",
                  "fitness_routine": "runs", "gym_membership": True, "shopping_preference": "online",
                  "grocery_store_type": "market", "fashion_style": "plain", "primary_transport": "bike",
                  "sleep_chronotype": "early", "eco_friendliness": "high"},
    "technology": {"tech_affinity": "high", "primary_device": "phone", "favorite_social_platform": "Mastodon",
                   "social_media_usage_time": "1 h", "content_preference": "text"},
    "interests": {"sports_interest": "judo", "gaming_preference": "chess", "travel_frequency": "often"},
    "needs": ["a lamp"], "wants": ["a bike"], "desires": ["a garden"],
    "intent_24h_category": "groceries", "intent_24h_budget": "20", "intent_48h_category": "books",
    "intent_72h_category": "travel", "confidence_score": 0.8, "accuracy_score": 0.9,
}  # fmt: skip


@pytest.mark.parametrize("wrapped", [ORIGINS, {"userProfile": ORIGINS}], ids=["bare", "wrapped"])
def test_the_origins_full_answer_fills_every_field(wrapped: dict[str, Any]) -> None:
    fields = read_reply(answer(json.dumps(wrapped))).fields

    assert fields is not None
    assert len(filled(fields)) == 43
    assert [fields[name] for name in ("address", "education", "coffee_or_tea", "transport", "city")] == [
        "Rua 1", "MSc", "tea", "bike", "Porto",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for names in SECTIONS.values() for name in names])
def test_every_field_is_known_by_its_own_names_alone(name: str) -> None:
    assert canonical(name) == canonical(name.replace("_", " ").title()) == name


def test_a_thousand_keys_are_kept_and_the_rest_is_counted() -> None:
    reading = read_reply(answer(json.dumps({**{f"key_{at}": at for at in range(40_000)}})))

    assert reading.fields is not None
    assert len(reading.fields) == 1000
    assert reading.account["droppedCount"] == 39_000


def test_how_a_reply_was_read_is_told() -> None:
    text = '<think>{"age": 7}</think> {"userProfile": {"age": "41", "city": "n/a", "state": NaN,}, "note": "x"}'

    assert read_reply(answer(text)).account == {
        "place": "status.message.parts",
        "form": "text",
        "candidates": 2,
        "draft": False,
        "repaired": True,
        "converted": ["age"],
        "dropped": [
            {"name": "note", "why": "outside_profile"},
            {"name": "city", "why": "no_value"},
            {"name": "state", "why": "no_value"},
        ],
        "droppedCount": 3,
    }
