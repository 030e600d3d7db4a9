"""Reading agents' replies: every recorded case, where the text may stand, what is repaired, what is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import json_repair
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents_proxy.analyses.merging import measures, merge, metadata
from agents_proxy.analyses.results import reading_of
from agents_proxy.errors import InvalidAgentResponse
from agents_proxy.proxy import envelope, objects
from agents_proxy.proxy.envelope import read
from agents_proxy.proxy.replies import Reading, read_reply
from agents_proxy.proxy.spelling import canonical

CASES = json.loads((Path(__file__).parents[1] / "vectors/agent-replies.json").read_text())


def reply_of(text: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "t", "result": {"status": {"message": {"parts": [{"type": "text", "text": text}]}}}}


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_recorded_replies_come_out_as_expected(case: dict[str, Any]) -> None:
    readings = {agent: read_through_the_proxy(case["replies"][agent]) for agent in CASES["order"]}
    merged = merge({agent: one.fields for agent, one in readings.items() if one.fields is not None})
    about = metadata(merged.profile, [10, 20])

    assert merged.profile == case["profile"]
    assert case["provenance"] in (None, merged.provenance)
    assert sorted(agent for agent, one in readings.items() if one.fields is None) == sorted(case.get("failed", []))
    assert [agent for agent in CASES["order"] if readings[agent].repaired] == case.get("repaired", [])
    assert about["total_fields"] == case["total_fields"]
    scores = {name: about[name] for name in ("confidence_score", "accuracy_score") if name in about}
    assert scores == case.get("metadata", {})
    assert about["response_time_ms"] == 15
    empty = [agent for agent in CASES["order"] if readings[agent].fields == {}]
    assert empty == case.get("empty", empty)


def read_through_the_proxy(answer: dict[str, Any]) -> Reading:
    """As an analysis reads it: what the proxy makes of the upstream's body."""
    return reading_of(json.loads(read(json.dumps(answer).encode(), answer["id"]).body))


def test_four_silent_agents_cover_nothing_and_agree_in_nothing() -> None:
    assert measures(merge({agent: {} for agent in CASES["order"]})) == {"coverage": 0.0, "agreement": None}


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
        ('{"a": [0, false, null]}', {"a": [0, False]}),
        ('Here is the profile: {"age": 3}', {"age": 3}),
        ('Sure! {"city": "Graz"} Bye', {"city": "Graz"}),
        ('Result: {"a": 1} and {"b": 2}', {"b": 2}),
        ('{"a": 1} and {"b": 2}', {"b": 2}),
        ('Result: [{"a": 1}]', {"a": 1}),
        ('[{"a": 1}]', {"a": 1}),
        ('{"a": NaN}', {}),
        ('{"a": 1e999}', {}),
        ('{"a": ' + "9" * 400 + "}", {}),
        ('By {policy: 4} and [1]: {"age": 3}', {"age": 3}),
        ('\ufeff{"age": 3}', {"age": 3}),
    ],
)
def test_text_that_parses_is_read_as_it_is(text: str, fields: dict[str, Any]) -> None:
    assert read_reply(reply_of(text)) == Reading(fields)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"likes": ["a", "b",],}', {"likes": ["a", "b"]}),
        ("{'city': 'Graz'}", {"city": "Graz"}),
        ('{"a": 1}, "b": 2}', {"a": 1, "b": 2}),
        ('```json\n{"needs": [1,]}\n```\nas in {"x": 1}', {"needs": [1]}),
        (
            'Result: {"likes": ["a",], "intent_24h": {"category": "tea"}}',
            {"likes": ["a"], "intent_24h": {"category": "tea"}},
        ),
        ('{"a": [1,], "b": -Infinity}', {"a": [1]}),
        ('{"likes": ["a",], "intent_24h": {"category": "tea"}}', {"likes": ["a"], "intent_24h": {"category": "tea"}}),
        ('```json\n{"city": "Graz", // home\n```', {"city": "Graz"}),
        ('```json\n{"city": "Graz", "likes": ["tea"', {"city": "Graz", "likes": ["tea"]}),
    ],
)
def test_text_that_only_a_repair_reads_is_marked(text: str, fields: dict[str, Any]) -> None:
    assert read_reply(reply_of(text)) == Reading(fields, repaired=True)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I could not find anything.", "not_json"),
        ("Sorry, I cannot help {see policy: 4}", "not_json"),
        ("Could not find {name: Ana} anywhere", "not_json"),
        ("[1, 2]", "not_an_object"),
        ('"text"', "not_an_object"),
        ("null", "not_an_object"),
        ('{"a":' * 60 + "1" + "}" * 60, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ("<html><body>502 Bad Gateway</body></html>", "not_json"),
        ("{" * 100_000, "not_json"),
        ("{" * 10_000, "too_deep"),
    ],
)
def test_text_that_nothing_reads_is_kept_with_the_reason(text: str, code: str) -> None:
    assert read_reply(reply_of(text)) == Reading(None, error_code=code)


@pytest.mark.parametrize("answer", [{}, [], None, 5, "x", {"result": []}, {"result": {"parts": 5}}, reply_of(7)])
def test_an_answer_without_text_is_named(answer: Any) -> None:
    assert read_reply(answer) == Reading(None, error_code="no_text")


def test_of_equal_objects_the_later_counts_and_what_needs_no_repair_before_it() -> None:
    answer = reply_of("Working on it")
    answer["result"]["artifacts"] = [{"parts": [{"text": '{"city": "Linz"}'}, {"text": '{"city": "Graz",}'}]}]
    linz = read_reply(answer)
    answer["result"]["parts"] = [{"text": '{"city": "Wels"}'}]

    assert (linz, read_reply(answer)) == (Reading({"city": "Linz"}), Reading({"city": "Wels"}))


@pytest.mark.parametrize(
    "text", ['{"a": "' + "x" * 1_000_000, "{" * 900_000, "```" * 300_000, "`{`" * 300_000, "```" + "a" * 900_000]
)
def test_large_nonsense_is_read_to_its_end(text: str) -> None:
    reading = read_reply(reply_of(text))

    assert (reading.fields is None) == bool(reading.error_code)


@pytest.mark.parametrize("opened", ['{"a":["', "{'", "```json\n{"])
@pytest.mark.parametrize("shape", ['a"', '"a":', "{", "'", ",", "\\"])
def test_the_repair_of_a_reply_has_one_budget(opened: str, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(json_repair, "loads", lambda text, **_: tried.append(len(text)))
    answer = reply_of("")
    answer["result"]["parts"] = [{"text": f"{opened}{shape * 700}\n```\n"}] * 30
    read_reply(answer)

    assert sum(tried) <= objects.LONGEST_REPAIR


def test_an_honest_long_text_is_repaired_within_the_budget() -> None:
    fields = {f"field_{at}": ["some words", {"category": "tea", "confidence": 0.5}] for at in range(150)}
    text = str(fields)  # quotes of another language
    assert len(text) > 10_000

    assert read_reply(reply_of(text)) == Reading(fields, repaired=True)


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


def packed(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


BODY = '{"jsonrpc": "2.0", "id": "t", "result": {"parts": [{"data": {"city": "Köln", "occupation": "a NaN"}}]}}'


@pytest.mark.parametrize(
    "body",
    [
        BODY.encode(),
        BODY.encode("utf-8-sig"),
        packed(BODY.encode()),
        packed(BODY.encode("utf-16")),
        BODY.encode("utf-16"),
        BODY.encode("utf-16-le"),
        BODY.encode("utf-16-be"),
        BODY.replace('{"city"', '{"age": NaN, "household_size": -Infinity, "city"').encode(),
        BODY.replace('"result"', '"error": null, "result"').encode(),
    ],
)  # fmt: skip
def test_the_body_is_read_in_every_encoding_and_passed_on_as_json(body: bytes) -> None:
    reply = read(body, "t")

    assert reading_of(json.loads(reply.body)).fields == {"city": "Köln", "occupation": "a NaN"}
    assert "error" not in json.loads(reply.body, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "body",
    [
        packed(BODY.encode())[:-9],
        packed(b" " * (envelope.LONGEST + 1)),
        b"\xff\xfe\x00",
        b"\x00",
        b"\x1f\x8b",
    ],
)
def test_a_body_that_does_not_unpack_is_no_answer(body: bytes) -> None:
    with pytest.raises(InvalidAgentResponse):
        read(body, "t")
