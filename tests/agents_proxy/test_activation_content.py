"""What is sent to a destination: what was found for brands, united, and who said each part of it."""

from typing import Any

import pytest

from accounts.models import User
from agents_proxy.activations import payloads
from agents_proxy.analyses import corrections
from agents_proxy.analyses.models import Run
from agents_proxy.analyses.queries import subject_of_run
from agents_proxy.destinations.models import Destination
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.institutions import coffees, linked, refreshed
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient
from tests.fakes.aggregator import Aggregator
from tests.fakes.crm import Crm

pytestmark = pytest.mark.django_db


def sent(run: Run) -> dict[str, Any]:
    """What goes out, and beside it who said it, which does not."""
    data = payloads.data_of(run, subject_of_run(run))
    provenance = payloads.found_for(run)[1]
    return {**data, "provenance": {name: provenance[name] for name in data["profile"]}}


def test_a_profile_agent_fills_only_what_the_brand_agent_left_empty(person: User, agents: Agents) -> None:
    agents.replies = {
        "brand": {"likes": ["Muji"], "confidence": 0.6, "shopping_preferences": {"channel": "online"}},
        "core": {"likes": ["core tea"], "dislikes": ["Shein"], "full_name": "Ana S\u00e1"},
        "second": {"likes": ["second tea"], "confidence_score": 0.9},
    }
    run = finished(person)

    assert sent(run) == {
        "analysisId": run.analysis_id,
        "profile": {
            "fullName": "Ana S\u00e1", "likes": ["Muji"], "dislikes": ["Shein"],
            "shopping_preferences": {"channel": "online"}, "confidence": 0.6,
        },
        "provenance": {
            "fullName": ["core"], "likes": ["brand"], "dislikes": ["core"], "shopping_preferences": ["brand"],
            "confidence": ["brand"],
        },
    }  # fmt: skip


def test_purchases_are_united_with_the_brand_agents_answer(person: User, agents: Agents, bank: Aggregator) -> None:
    refreshed(linked(person, bank, *coffees(5)))
    agents.replies = {
        "brand": {"brand_affinities": ["blue bottle", "Muji"], "shopping_preferences": {"category_focus": ["home"]}},
        "core": {"likes": ["core tea"], "brand_affinities": ["Shein"]},
    }
    found = sent(finished(person))

    assert found["profile"]["brand_affinities"] == ["blue bottle", "Muji"]
    assert found["profile"]["likes"] == ["coffee"]
    assert found["profile"]["shopping_preferences"]["category_focus"][0] == "home"
    assert (found["provenance"]["brand_affinities"], found["provenance"]["likes"]) == (
        ["brand", "purchases"], ["purchases"],
    )  # fmt: skip


def test_what_the_person_says_stands_for_itself(person: User, agents: Agents) -> None:
    agents.replies = {"brand": {"likes": ["Muji"], "dislikes": ["tea"]}}
    run = finished(person)
    corrections.correct(by=person, analysis_id=run.analysis_id, changes={"likes": ["coffee"], "dislikes": None})
    found = sent(Run.objects.get(pk=run.pk))

    assert (found["profile"], found["provenance"]) == ({"likes": ["coffee"]}, {"likes": ["person"]})


def test_the_page_says_who_said_it(
    owner: JsonClient, person: User, agents: Agents, crm: type[Crm], destination: Destination
) -> None:
    agents.replies = {"brand": {"likes": ["Muji"]}, "core": {"full_name": "Ana S\u00e1"}}
    here = f"/profile/analyses/{finished(person).analysis_id}/send/?destination={destination.destination_id}"
    shown = owner.client.get(here).content.decode()

    assert [shown.count(f"Said by: {who}") for who in ("Brand agent", "Profile agent")] == [1, 1]
