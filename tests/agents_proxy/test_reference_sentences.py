"""What the reference agents take a sentence to say of the person: what it states, and never the opposite."""

import json
from typing import Any

import pytest

from agents_proxy.analyses.prompts import profile_prompt
from examples.reference_agents.agents import AGENTS

STANDING = {"full_name": "Zoe Doe", "likes": ["tea"], "dislikes": ["noise"], "diet_preference": "vegan"}


def made(prompt: str) -> dict[str, Any]:
    """The profile that the agent makes of sentences, without how sure it is."""
    profile = AGENTS["core-profile"](prompt).profile
    profile.pop("confidence_score", None)
    return profile


def updated(instruction: str, standing: dict[str, Any] = STANDING) -> dict[str, Any]:
    profile = AGENTS["core-profile-update"](f"{json.dumps(standing)} {instruction}").profile
    profile.pop("confidence_score", None)
    return profile


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Ana does not like coffee. She likes tea.", {"likes": ["tea"], "dislikes": ["coffee"]}),
        ("She does not\nlike coffee", {"dislikes": ["coffee"]}),
        ("She doesn\u2019t really like loud bars at all.", {"dislikes": ["loud bars"]}),
        ("I don't like coffee or tea, but I love jazz", {"dislikes": ["coffee", "tea"], "likes": ["jazz"]}),
        ("likes tea, not coffee", {"likes": ["tea"]}),
        ("Ana is not married and is not vegan; she has 2 children", {"children_count": 2}),
        ("Ana is not vegan but vegetarian", {"diet_preference": "vegetarian"}),
        ("Ana, who isn't married, lives in Porto", {"city": "Porto"}),
        ("She was married and is divorced now", {"marital_status": "divorced"}),
    ],
)
def test_a_negation_holds_for_its_clause(prompt: str, expected: dict[str, Any]) -> None:
    assert made(prompt) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("She likes tea and bought shoes of Muji.", {"likes": ["tea"]}),
        ("Tea, ana@example.org", {"email": "ana@example.org"}),
        ("Ana S\u00e1, ana@example.org", {"full_name": "Ana S\u00e1", "email": "ana@example.org"}),
        ("Ana S\u00e1, +49 17604069055", {"full_name": "Ana S\u00e1"}),
    ],
)
def test_identifiers_and_likes_stand_beside_each_other(prompt: str, expected: dict[str, Any]) -> None:
    assert expected.items() <= made(prompt).items()


@pytest.mark.parametrize(
    "prompt",
    [
        "She no longer likes tea", "She never enjoys jazz", "Ana doesn't dislike coffee", "Ana isn't fond of tea",
        "She doesn't love tea", "I don't smoke or like coffee", "She isn't vegan or married", "not yet married",
        "Ana is neither married nor vegan, nor is she divorced", "She isn't, she says, vegan", "She isnt married",
        "Ana does not live in Berlin and does not work as a nurse", "She is not 34 years old",
        "It is not true that Ana likes tea and lives in Berlin", "I don't think she likes tea",
        "She is anything but vegan", "never married, non-vegan",
        "She used to be vegan", "She would like tea", "She may be married", "She wants to live in Rome",
        "likes tea without sugar", "She likes tea more than coffee", "She likes everything except fish and meat",
        "Ana is married or divorced", "Remove likes: coffee",
        "Diet: unknown", "Income: n/a", "Gender: -", "Her job is stressful", "Her city is boring", "Diet: not vegan",
        "Her occupation is a secret", "She has no income", "Teaches 20 children",
        "She has considered becoming vegan", "Openness to new technology: see below", "She has no need of a car",
        "Her address is in Rome", "When it comes to social media, she prefers silence",
    ],
)  # fmt: skip
def test_what_is_denied_or_uncertain_is_not_stated(prompt: str) -> None:
    assert made(prompt) == {}


@pytest.mark.parametrize(
    "prompt",
    [
        "Does she like coffee?", "She likes coffee, lives in Rome and is vegan?", "Is Ana married",
        "Is she 34 years old?",
        "If she likes tea, offer some", "Find out whether she lives in Rome", "She works in a place like Berlin",
        "Sell vegan food", "Please avoid loud bars",
    ],
)  # fmt: skip
def test_questions_conditions_and_requests_state_nothing(prompt: str) -> None:
    assert made(prompt) == {}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Her brother likes tea and lives in Rome.", {}),
        ("Her brother likes tea but she likes coffee", {"likes": ["coffee"]}),
        ("Her sister is vegan. She likes tea.", {}),
        ("Ana has a brother. He likes tea.", {}),
        ("Tom, Ana's brother, likes tea", {}),
        ("Ana thinks Bob likes tea", {}),
        ("Ana has a 5-year-old son", {}),
        ("Ana likes tea. Bob likes coffee.", {"likes": ["tea"]}),
        ("I like tea and my wife likes coffee", {"likes": ["tea"]}),
        ("Ana lives with her husband and likes tea. She has 2 kids.", {"likes": ["tea"], "children_count": 2}),
        ("Her plumber owns a house and plays golf. She likes tea.", {"likes": ["tea"]}),
        ("The people next door own a tablet and live in Rome", {}),
        ("She met a widow who lives in Paris", {}),
        ("Mia, her best friend, is a night owl and lives in Bern", {}),
        ("Her flat is 40 years old", {}),
        ("Some say she is divorced", {}),
        ("Create a profile for my wife, 34 years old, who likes tea", {"age": 34, "likes": ["tea"]}),
        ("Her roommate, a pescatarian, works as a chef", {}),
        ("She watches her son play football", {}),
    ],
)
def test_what_is_said_of_somebody_else_is_not_the_persons(prompt: str, expected: dict[str, Any]) -> None:
    assert made(prompt) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Technology does not interest her. She is vegan.", {"tech_affinity": "low", "diet_preference": "vegan"}),
        ("Rome is her home. She is vegan.", {"city": "Rome", "diet_preference": "vegan"}),
        ("It is rare for her to travel. She is vegan.", {"diet_preference": "vegan"}),
        ("Number of children: 0\nShe is vegan.", {"children_count": 0, "diet_preference": "vegan"}),
        ("Job: teacher\nShe is vegan.", {"occupation": "teacher", "diet_preference": "vegan"}),
        ("She and her husband have been married since 2011.", {"marital_status": "married"}),
        ("She shares her home with her partner.", {"marital_status": "partnered"}),
    ],
)
def test_what_is_said_of_a_thing_introduces_nobody_else(prompt: str, expected: dict[str, Any]) -> None:
    assert made(prompt) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "Diet: vegan\nIncome: 40,000-60,000 EUR\n- Home town: Bonn",
            {"diet_preference": "vegan", "income_bracket": "40,000-60,000 EUR", "city": "Bonn"},
        ),
        (
            "Her favourite cuisine is Thai and she is a night owl",
            {"favorite_cuisine": "Thai", "sleep_chronotype": "late"},
        ),
        ("Gym: no\nHousehold size: 4", {"gym_membership": False, "household_size": 4}),
        (
            "She does not belong to a gym. The environment is not important to her.",
            {"gym_membership": False, "eco_friendliness": "low"},
        ),
        (
            "Within 24 hours: groceries, 40-60 EUR, tomorrow evening",
            {"intent_24h": {"category": "groceries", "budget": "40-60 EUR", "timeWindow": "tomorrow evening"}},
        ),
        (
            "She needs a coat and boots. She wants to buy a car; she dreams of a boat.",
            {"needs": ["a coat", "boots"], "wants": ["a car"], "desires": ["a boat"]},
        ),
        (
            "I rent my flat, I take the tram and I spend two hours a day on social media",
            {"home_ownership": "rent", "transport": "tram", "social_media_usage_time": "two hours"},
        ),
        ("Her brother takes the bus. Her diet is vegan.", {"diet_preference": "vegan"}),
        ("Her sister takes the bus. Her diet is vegan.", {}),
    ],
)
def test_labels_and_sentences_fill_the_fields_of_a_profile(prompt: str, expected: dict[str, Any]) -> None:
    assert made(prompt) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("likes tea and Muji, dislikes coffee.", {"likes": ["tea", "Muji"], "dislikes": ["coffee"]}),
        ("Likes: tea\nDislikes: rain\nlives in Berlin", {"likes": ["tea"], "dislikes": ["rain"], "city": "Berlin"}),
        ("She likes tea, loves jazz, and hates rain", {"likes": ["tea", "jazz"], "dislikes": ["rain"]}),
        ("likes tea and lives in Berlin", {"likes": ["tea"], "city": "Berlin"}),
        ("likes cars and watches", {"likes": ["cars", "watches"]}),
        ("She longs for a garden of her own at times", {"desires": ["a garden"]}),
        ("She badly needs a desk lamp for work this winter", {"needs": ["a desk lamp"]}),
        ("She dreams of a house by a lake", {"desires": ["a house by a lake"]}),
        ("She works as a nurse these days", {"occupation": "nurse"}),
        ("She loves her husband and what her sister cooks", {}),
        ("likes vegan food", {"likes": ["vegan food"]}),
        ("Can you create a profile of Ana, 34 years old, who likes tea?", {"age": 34, "likes": ["tea"]}),
    ],
)
def test_a_list_ends_at_the_next_verb(prompt: str, expected: dict[str, Any]) -> None:
    assert made(prompt) == expected


@pytest.mark.parametrize(
    ("instruction", "changed"),
    [
        ("Zoe likes coffee and dislikes rain", {"likes": ["tea", "coffee"], "dislikes": ["noise", "rain"]}),
        ("She does not like Tea", {"likes": None, "dislikes": ["noise", "Tea"]}),
        ("She likes noise", {"likes": ["tea", "noise"], "dislikes": None}),
        ("She no longer likes tea", {"likes": None}),
        ("She likes tea", {}),
        ("She is no longer vegan", {"diet_preference": None}),
        ("She is not vegetarian", {}),
        ("Bob likes coffee. Her brother is not vegan.", {}),
        ("Does she like coffee?", {}),
    ],
)
def test_an_update_settles_what_is_liked_and_what_is_no_longer_so(instruction: str, changed: dict[str, Any]) -> None:
    expected = {name: value for name, value in {**STANDING, **changed}.items() if value is not None}

    assert updated(instruction) == expected


def test_a_list_of_one_may_stand_there_as_text() -> None:
    assert updated("She likes jazz", {"likes": "tea"}) == {"likes": ["tea", "jazz"]}
    assert updated("She is 34 years old", {"likes": "tea"}) == {"likes": "tea", "age": 34}


def test_an_update_tells_the_source_of_what_it_changed() -> None:
    said = AGENTS["core-profile-update"]('{"likes": ["tea"]} Zoe likes coffee.')

    assert said.profile == {"likes": ["tea", "coffee"], "confidence_score": 1.0}
    assert said.sources == {"likes": "prompt"}


@pytest.mark.parametrize("name", AGENTS)
def test_the_words_of_an_analysis_are_no_statement_of_the_person(name: str) -> None:
    asked = {"fullName": "Zoe Doe", "email": "zoe@example.org", "countryCode": "+49", "phoneNumber": "3012345678"}

    told = AGENTS[name](profile_prompt(asked)).profile

    assert not told.keys() & {"likes", "dislikes", "diet_preference", "marital_status", "age", "city", "occupation"}


@pytest.mark.parametrize(
    "words", ["vegan ", "likes tea, ", "not ", "A", "a b", "she likes ", " ", "is vegan, who ", "\n"]
)
def test_reading_has_an_end(words: str) -> None:
    AGENTS["core-profile"](words * (100_000 // len(words)))
