"""The files of a brand affinity, whole, as each system's documentation gives the body."""

import json
from typing import Any

import pytest

from accounts.models import User
from agents_proxy.analyses.affinity import affinity_of
from agents_proxy.analyses.exports import EXPORTS
from tests.agents_proxy.agent_server import Agents
from tests.agents_proxy.runs import finished
from tests.callers import JsonClient

PROFILE: dict[str, Any] = {
    "full_name": "Ana Maria Sá", "email": "ana@example.org", "phone": "+3519123456789", "likes": ["Muji", "tea; green"],
    "dislikes": ["Shein"], "confidence": 0.5,
    "shopping_preferences": {"category_focus": ["home", "sports"], "price_sensitivity": "high", "channel": "online"},
}  # fmt: skip
GOLDEN: dict[str, Any] = {
    "json": {
        "fullName": "Ana Maria Sá", "email": "ana@example.org", "phone": "+3519123456789",
        "likes": ["Muji", "tea; green"], "dislikes": ["Shein"], "confidence": 0.5,
        "shopping_preferences": {
            "category_focus": ["home", "sports"], "price_sensitivity": "high", "channel": "online",
        },
    },
    "segment": {
        "type": "identify",
        "userId": "ana@example.org",
        "traits": {
            "name": "Ana Maria Sá", "email": "ana@example.org", "phone": "+3519123456789",
            "likes": ["Muji", "tea; green"], "dislikes": ["Shein"], "shopping_category_focus": ["home", "sports"],
            "shopping_price_sensitivity": "high", "shopping_channel": "online", "affinity_confidence": 0.5,
        },
    },
    "salesforce": {
        "allOrNone": True,
        "records": [
            {
                "attributes": {"type": "Contact"}, "Email": "ana@example.org", "FirstName": "Ana Maria",
                "LastName": "Sá", "Phone": "+3519123456789", "Likes__c": "Muji;tea, green", "Dislikes__c": "Shein",
                "Category_Focus__c": "home;sports", "Price_Sensitivity__c": "high", "Channel__c": "online",
                "Affinity_Confidence__c": 0.5,
            }
        ],
    },
    "hubspot": {
        "inputs": [
            {
                "idProperty": "email",
                "id": "ana@example.org",
                "properties": {
                    "email": "ana@example.org", "firstname": "Ana Maria", "lastname": "Sá", "phone": "+3519123456789",
                    "likes": "Muji;tea, green", "dislikes": "Shein", "category_focus": "home;sports",
                    "price_sensitivity": "high", "channel": "online", "affinity_confidence": "0.5",
                },
            }
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_each_file_is_the_body_that_its_system_takes(name: str) -> None:
    written = EXPORTS[name].written(affinity_of(PROFILE).affinity)

    assert written is not None
    assert json.loads(written) == GOLDEN[name]


def test_csv_is_one_heading_and_one_row() -> None:
    assert EXPORTS["csv"].written(affinity_of(PROFILE).affinity) == (
        "fullName,email,phone,likes,dislikes,brand_affinities,category_focus,price_sensitivity,channel,confidence\r\n"
        "Ana Maria Sá,ana@example.org,+3519123456789,Muji; tea; green,Shein,,home; sports,high,online,0.5\r\n"
    )


@pytest.mark.parametrize(
    ("profile", "possible"),
    [
        ({"likes": ["tea"]}, {"csv", "json"}),
        ({"likes": ["tea"], "phone": "+3519123456789"}, {"csv", "json", "segment"}),
        ({"likes": ["tea"], "email": "a@example.org"}, {"csv", "json", "segment", "hubspot"}),
        ({"likes": ["tea"], "email": "a@example.org", "full_name": "Ana"}, set(EXPORTS)),
    ],
)
def test_what_a_system_cannot_do_without_is_asked_for(profile: dict[str, Any], possible: set[str]) -> None:
    affinity = affinity_of(profile).affinity

    assert {name for name, export in EXPORTS.items() if export.written(affinity) is not None} == possible


def test_a_single_name_is_the_last_name() -> None:
    affinity = affinity_of({"full_name": "Ana", "email": "a@example.org"}).affinity

    written = EXPORTS["salesforce"].written(affinity)
    assert written is not None
    record = {"attributes": {"type": "Contact"}, "Email": "a@example.org", "LastName": "Ana"}
    assert json.loads(written)["records"] == [record]


@pytest.mark.django_db
def test_the_page_offers_what_can_be_saved(owner: JsonClient, person: User, agents: Agents) -> None:
    agents.replies = {"brand": {"likes": ["Muji"], "email": "ana@example.org"}}
    here = f"/profile/{finished(person).analysis_id}/brand-affinity"
    text = owner.client.get(f"{here}/").content.decode()

    assert "Muji" in text
    assert [name for name in EXPORTS if f"{here}.{name}" in text] == ["csv", "json", "segment", "hubspot"]
    answer = owner.client.get(f"{here}.hubspot")
    assert answer["Content-Disposition"] == 'attachment; filename="brand-affinity-hubspot.json"'
    assert json.loads(answer.content)["inputs"][0]["properties"] == {"email": "ana@example.org", "likes": "Muji"}
    assert owner.client.get(f"{here}.salesforce").status_code == 404
    assert owner.client.get(f"{here}.xml").status_code == 404


@pytest.mark.django_db
def test_the_page_says_where_there_is_nothing(owner: JsonClient, person: User, agents: Agents) -> None:
    text = owner.client.get(f"/profile/{finished(person).analysis_id}/brand-affinity/").content.decode()

    assert "There is nothing to export." in text
