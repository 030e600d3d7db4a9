"""The synthetic registers: invented throughout, searched by who is asked for, and nobody's data for anybody else."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import phonenumbers
import pytest

from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses import results, steps
from agents_proxy.analyses.prompts import profile_prompt
from agents_proxy.proxy.spelling import SECTIONS
from deploy.sample_data.sample_person import SAMPLE, SAMPLE_DESCRIPTION
from examples.reference_agents import agents as reference
from tests.agents_proxy.agent_server import ORDER, Agents
from tests.agents_proxy.proxy_calls import owning
from tests.agents_proxy.reference_agents import profile_of, reply_of
from tests.agents_proxy.runs import kept
from tests.factories import PersonFactory

pytestmark = pytest.mark.usefixtures("empty_store")
FILE = Path(reference.__file__).with_name("records.jsonl")
RECORDS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
PEOPLE = [record for record in RECORDS if record["kind"] == "directory-2021"]
# what regulators keep free for fiction; German mobile and fixed numbers, and the United States' 555-01xx
FICTION = re.compile(
    r"\+49(?:3023125\d{3}|4066969\d{3}|6990009\d{3}|2214710\d{3}|8999998\d{3}|17139200\d{2}"
    r"|176040690\d{2})|\+1\d{3}55501\d{2}"
)


def test_everything_in_it_is_said_to_be_invented_and_can_reach_nobody() -> None:
    assert RECORDS[0]["kind"] == "about"
    assert "invented" in RECORDS[0]["text"]
    assert len(PEOPLE) >= 20
    for person in PEOPLE:
        assert FICTION.fullmatch(person["phone"]), person["phone"]
        assert phonenumbers.is_valid_number(phonenumbers.parse(person["phone"]))
        assert re.fullmatch(r"[a-z0-9.]+@example\.(?:org|com|net)", person["email"]), person["email"]
    for name in ("phone", "email"):
        assert max(Counter(person[name] for person in PEOPLE).values()) == 1


def prompt_for(person: dict[str, Any], **other: str) -> str:
    """The prompt of an analysis of somebody in the file."""
    code = "+1" if person["phone"].startswith("+1") else "+49"
    members = {"fullName": person["full_name"], "email": person["email"], "countryCode": code}
    return profile_prompt({**members, "phoneNumber": person["phone"].removeprefix(code), **other})


def test_a_phone_or_an_address_finds_a_person() -> None:
    person = PEOPLE[10]
    fields = {name: value for name, value in person.items() if name not in ("kind", "person")}

    for prompt in (prompt_for(person), person["phone"], f"Who is {person['email'].upper()}?"):
        found = profile_of("public", prompt)
        assert found.items() >= fields.items()


def test_identifiers_that_do_not_belong_together_find_nobody() -> None:
    one, other = PEOPLE[3], next(person for person in PEOPLE if person["full_name"] != PEOPLE[3]["full_name"])

    for prompt in (prompt_for(one, email=other["email"]), prompt_for(one, fullName="Nobody Else")):
        assert "address" not in profile_of("public", prompt)
        assert "state" not in profile_of("second", prompt)
        assert "brand_affinities" not in profile_of("brand", prompt)


def test_the_second_look_follows_to_employer_household_and_place() -> None:
    assert profile_of("second", profile_prompt(SAMPLE)).items() >= {
        "income_bracket": "60,000-80,000", "household_size": 4, "state": "Saxony", "sports_interest": "volleyball",
        "transport": "bicycle",
    }.items()  # fmt: skip


def test_brand_joins_what_is_kept_bought_and_reviewed() -> None:
    profile_of("core-profile", SAMPLE_DESCRIPTION)
    signals = {
        "likes": ["coffee shops"],
        "dislikes": ["Velokontor"],
        "brand_affinities": ["Pinewick"],
        "confidence": 0.5,
    }

    assert profile_of("brand", profile_prompt(SAMPLE, signals)) == {
        "fullName": "Mara Lindholm",
        "email": "mara.lindholm@example.org",
        "phone": "+4917604069042",
        "likes": ["coffee shops", "jazz", "Harbour Tea", "long train journeys"],
        "dislikes": ["Velokontor", "loud bars", "Rivet Denim"],
        "brand_affinities": ["Pinewick", "Harbour Tea", "Velokontor"],
    }


def test_replies_have_the_three_forms_that_callers_meet() -> None:
    forms = {name: reply_of(name, profile_prompt(SAMPLE)) for name in ORDER}

    assert json.loads(forms["brand"])["fullName"] == "Mara Lindholm"
    assert list(json.loads(forms["core"])) == ["userProfile"]
    assert forms["public"].startswith("```json\n")
    assert forms["public"].endswith("\n```")
    assert json.loads(forms["second"])["state"] == "Saxony"


@pytest.mark.django_db
def test_an_analysis_of_the_sample_person_fills_the_profile(agents: Agents) -> None:
    profile_of("core-profile", SAMPLE_DESCRIPTION)
    agents.replies = {
        name: lambda request, name=name: reply_of(name, request["params"]["message"]["parts"][0]["text"])
        for name in ORDER
    }
    mara = owning(PersonFactory(email=SAMPLE["email"]), SAMPLE["countryCode"] + SAMPLE["phoneNumber"])
    run = analysis_actions.start_analysis(by=mara, submitted=SAMPLE)

    steps.run_through(run.pk)

    run = kept(run)
    merged = results.merged_of(list(run.steps.all()))
    wanted = [name for names in SECTIONS.values() for name in names]
    assert run.status == "completed"
    assert [name for name in wanted if name not in merged.profile] == ["shopping_preferences"]
    assert merged.overridden.keys() >= {
        "address",
        "income_bracket",
        "marital_status",
        "primary_device",
        "needs",
        "likes",
    }
    assert merged.profile["intent_24h"] == {
        "category": "groceries", "budget": "50-80", "timeWindow": "tomorrow evening", "confidence": 0.7,
    }  # fmt: skip
    assert merged.profile.items() >= {
        "address": "Uferpfad 7", "marital_status": "married", "diet_preference": "vegetarian", "age": 34,
        "gym_membership": False, "household_size": 4, "education": "master's degree",
    }.items()  # fmt: skip
    assert set(merged.provenance.values()) == set(ORDER)
