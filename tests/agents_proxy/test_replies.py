"""Reading agents' replies: every recorded case, where the text may stand, what is repaired, what is refused."""

import json
from pathlib import Path
from typing import Any

import json_repair
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_proxy.analyses.merging import merge, metadata
from agents_proxy.proxy import repairs
from agents_proxy.proxy.replies import Reading, read_reply
from agents_proxy.proxy.spelling import canonical
from tests.agents_proxy.agent_server import Agents

CASES = json.loads((Path(__file__).parents[1] / "vectors/agent-replies.json").read_text())


def says(text: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "t", "result": {"status": {"message": {"parts": [{"type": "text", "text": text}]}}}}


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_recorded_replies_come_out_as_expected(case: dict[str, Any]) -> None:
    agents = Agents(case["replies"])
    read = {agent: read_reply(agents.answer(agent, {"id": "task-1"})) for agent in CASES["order"]}
    merged = merge({agent: one.fields for agent, one in read.items() if one.fields is not None})
    about = metadata(merged.profile, [10, 20])

    assert merged.profile == case["profile"]
    assert case["provenance"] in (None, merged.provenance)
    assert sorted(agent for agent, one in read.items() if one.fields is None) == sorted(case.get("failed", []))
    assert [agent for agent in CASES["order"] if read[agent].repaired] == case.get("repaired", [])
    assert about["total_fields"] == case["total_fields"]
    scores = {name: about[name] for name in ("confidence_score", "accuracy_score") if name in about}
    assert scores == case.get("metadata", {})
    assert about["response_time_ms"] == 15


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{}", {}),
        ('  {"a": 1}\n', {"a": 1}),
        ('```JSON\r\n{"a": 1}\r\n```', {"a": 1}),
        ('```{"a": 1}```', {"a": 1}),
        ('Two:\n```\nnothing\n```\n```json\n{"a": 1}\n```', {"a": 1}),
        ('```json\n{"a": "```js\\ncode```"}\n```', {"a": "```js\ncode```"}),
        ('{"userProfile": {"a": 1}}', {"a": 1}),
        ('{"user_profile": {"a": 1}, "note": "x"}', {"a": 1}),
        ('{"userProfile": null, "a": 1}', {"a": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"dietPreference": "vegan", "diet_preference": null}', {"diet_preference": "vegan"}),
        ('{"!!": 1, "x": 2}', {"x": 2}),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}),
        ('{"a": 123456789012345678901234567890}', {"a": 1.2345678901234568e29}),
        ('{"a": [0, false, null]}', {"a": [0, False, None]}),
        ('Here is the profile: {"age": 3}', {"age": 3}),
        ('Sure! {"city": "Graz"} Bye', {"city": "Graz"}),
        ('Result: {"a": 1} and {"b": 2}', {"a": 1}),
        ('{"a": 1} and {"b": 2}', {"a": 1}),
        ('By {policy: 4} and [1]: {"age": 3}', {"age": 3}),
        ('\ufeff{"age": 3}', {"age": 3}),
    ],
)
def test_text_that_parses_is_read_as_it_is(text: str, fields: dict[str, Any]) -> None:
    assert read_reply(says(text)) == Reading(fields, text)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"likes": ["a", "b",],}', {"likes": ["a", "b"]}),
        ("{'city': 'Graz'}", {"city": "Graz"}),
        ('{"a": 1}, "b": 2}', {"a": 1, "b": 2}),
        ('```json\n{"a": [1,]}\n```\nas in {"x": 1}', {"a": [1]}),
        ('{"likes": ["a",], "intent_24h": {"category": "tea"}}', {"likes": ["a"], "intent_24h": {"category": "tea"}}),
        ('```json\n{"city": "Graz", // home\n```', {"city": "Graz"}),
        ('```json\n{"city": "Graz", "likes": ["tea"', {"city": "Graz", "likes": ["tea"]}),
    ],
)
def test_text_that_only_a_repair_reads_is_marked(text: str, fields: dict[str, Any]) -> None:
    assert read_reply(says(text)) == Reading(fields, text, repaired=True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I could not find anything.", "not_json"),
        ("Sorry, I cannot help {see policy: 4}", "not_json"),
        ("Could not find {name: Ana} anywhere", "not_json"),
        ('Result: {"likes": ["a",], "intent_24h": {"category": "tea"}}', "not_json"),
        ('Result: [{"a": 1}]', "not_json"),
        ('Result: {"a": NaN}', "non_finite_number"),
        ("[1, 2]", "not_an_object"),
        ('"text"', "not_an_object"),
        ("null", "not_an_object"),
        ('[{"a": 1}]', "not_an_object"),
        ('{"a": NaN}', "non_finite_number"),
        ('{"a": [1,], "b": -Infinity}', "non_finite_number"),
        ('{"a": 1e999}', "non_finite_number"),
        ('{"a": 1e999,}', "non_finite_number"),
        ('{"a": ' + "9" * 400 + "}", "non_finite_number"),
        ('{"a":' * 60 + "1" + "}" * 60, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ("<html><body>502 Bad Gateway</body></html>", "not_json"),
        ("{" * 100_000, "not_json"),
        ("{" * 40_000, "too_deep"),
    ],
)
def test_text_that_nothing_reads_is_kept_with_the_reason(text: str, code: str) -> None:
    assert read_reply(says(text)) == Reading(None, text, error_code=code)


@pytest.mark.parametrize("answer", [{}, [], None, 5, "x", {"result": []}, {"result": {"parts": "x"}}, says(7)])
def test_an_answer_without_text_is_named(answer: Any) -> None:
    assert read_reply(answer) == Reading(None, "", error_code="no_text")


def test_the_first_text_that_yields_an_object_counts() -> None:
    answer = says("Working on it")
    answer["result"]["artifacts"] = [{"parts": [{"text": '{"city": "Graz",}'}, {"text": '{"city": "Linz"}'}]}]
    answer["result"]["parts"] = [{"text": '{"city": "Wels"}'}]

    assert read_reply(answer) == Reading({"city": "Linz"}, '{"city": "Linz"}')


@pytest.mark.parametrize(
    "text", ['{"a": "' + "x" * 1_000_000, "{" * 900_000, "```" * 300_000, "`{`" * 300_000, "```" + "a" * 900_000]
)
def test_large_nonsense_is_read_to_its_end(text: str) -> None:
    reading = read_reply(says(text))

    assert (reading.fields is None) == bool(reading.error_code)


HOSTILE = ["{", "[", "(", '"', "'", ",", ":", "\\", '\\"', "/*", "#", "`", "a", 'a"', 'a"b":', '"a":', '{"a":[', '","',
           '{"a":"b"c",', '"a" ', "[1,", "\u201c", "\\u00", "}", "]", "- "]  # fmt: skip


@pytest.mark.parametrize("opened", ["{", '{"a":', '{"a":"', '{"a":["', "{'", "```json\n{"])
@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize(("length", "parts"), [(40_000, 1), (60_000, 8), (900, 500)])
def test_the_repair_of_a_reply_has_one_budget(
    opened: str, shape: str, length: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, looked = [], []

    def counting(text: Any, **how: Any) -> Any:
        tried.append(len(text))
        before = text.budget.looks
        try:
            return json_repair_loads(text, **how)
        finally:
            looked.append(before - text.budget.looks)

    json_repair_loads = json_repair.loads
    monkeypatch.setattr(json_repair, "loads", counting)
    answer = says("")
    answer["result"]["parts"] = [{"text": opened + shape * (length // len(shape))}] * parts
    read_reply(answer)

    assert sum(tried) <= repairs.LONGEST_REPAIR
    assert len(tried) <= repairs.MOST_REPAIRS
    assert sum(looked) <= repairs.MOST_LOOKS + max(tried, default=0)


def test_an_honest_long_text_is_repaired_within_the_budget() -> None:
    fields = {f"field_{at}": ["some words", {"category": "tea", "confidence": 0.5}] for at in range(500)}
    text = str(fields)  # quotes of another language
    assert len(text) > 30_000

    assert read_reply(says(text)) == Reading(fields, text, repaired=True)


def test_text_that_is_looked_at_too_often_is_given_up() -> None:
    text = '{"a":["' + '"a":' * 4000

    assert read_reply(says(text)) == Reading(None, text, error_code="not_json")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("dietPreference", "diet_preference"),
        ("Diet Preference", "diet_preference"),
        ("DIET-PREFERENCE", "diet_preference"),
        ("Eco-Friendliness", "eco_friendliness"),
        ("intent24h", "intent_24h"),
        ("Intent 24H", "intent_24h"),
        ("confidenceScore", "confidence_score"),
        ("userID", "user_id"),
        ("HTMLPage", "html_page"),
        ("shoeSize", "shoe_size"),
        ("__x__", "x"),
        ("Größe", "größe"),
        ("<script>", "script"),
        ("a" * 5000, "a" * 120),
        ("…", ""),
    ],
)
def test_names_have_one_spelling(name: str, spelled: str) -> None:
    assert canonical(name) == spelled


@given(st.text(max_size=300))
def test_a_spelling_is_its_own_spelling(name: str) -> None:
    assert canonical(canonical(name)) == canonical(name)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(
    _JSON
    | st.fixed_dictionaries(
        {
            "result": st.fixed_dictionaries(
                {"parts": st.lists(st.fixed_dictionaries({"text": st.text() | _JSON.map(json.dumps)}))}
            )
        }
    )
)
def test_any_answer_is_read_or_named(answer: Any) -> None:
    read = read_reply(answer)

    assert (read.fields is None) == bool(read.error_code)
    if read.fields is not None:
        json.dumps(read.fields, allow_nan=False).encode()
