"""What an analysis makes of the list of attributes: a prompt, spellings, sections and words."""

import pytest
from django.utils.translation import override

from agents_proxy.analyses import words as analysis_words
from agents_proxy.analyses.prompts import profile_prompt
from agents_proxy.proxy.spelling import SECTIONS, canonical, spellings
from pkm.registry.controls import PromptField
from pkm.registry.starter_attributes import ATTRIBUTES, Attribute

SUBMITTED = {"fullName": "Ana", "email": "ana@example.org", "countryCode": "+351", "phoneNumber": "912"}


@pytest.mark.parametrize(
    "line",
    [
        '"user_id": text',
        '"age": number',
        '"gym_membership": true or false',
        '"marital_status": text',
        '"needs": list of text',
        '"intent_24h": {"category": text, "budget": text, "timeWindow": text, "confidence": number from 0 to 1}',
        '"shopping_preferences": {"category_focus": list of text, "price_sensitivity": text, "channel": text}',
    ],
)
def test_prompt_names_each_kind_of_value(line: str) -> None:
    assert f"\n  {line}\n" in profile_prompt(SUBMITTED)


def test_prompt_asks_for_what_the_list_says_and_begins_with_who_it_is_about() -> None:
    prompt = profile_prompt(SUBMITTED)

    names = [attribute.name for attribute in ATTRIBUTES if f'\n  "{attribute.name}": ' in prompt]
    assert names == [attribute.name for attribute in ATTRIBUTES if attribute.prompt]
    assert not {"merchants", "categories", "spend_bracket"} & set(names)
    assert SECTIONS["basic"][:3] == ("full_name", "email", "phone")


def test_every_field_has_a_section_with_a_heading_and_a_label() -> None:
    assert set(SECTIONS) == set(analysis_words.HEADINGS) - {"other"}
    for name in (name for names in SECTIONS.values() for name in names):
        assert name in analysis_words.FIELDS


def test_label_is_the_attributes_own_unless_the_page_has_another_and_is_translated() -> None:
    with override("de"):
        labels = [analysis_words.label(name) for name in ("full_name", "income_bracket", "channel", "shoe_size")]

    assert [analysis_words.label(name) for name in ("full_name", "income_bracket", "channel", "shoe_size")] == [
        "Full name",
        "Income bracket",
        "Where they buy",
        "Shoe size",
    ]
    assert labels[0] == "Vollständiger Name"


def test_other_name_that_agents_use_is_the_attributes() -> None:
    made = Attribute("lifestyle.food.snack", "Snack", "", prompt=PromptField(aliases=("between_meals",)))

    assert spellings([made, *ATTRIBUTES[-1:]]) == {"snack": "snack", "betweenmeals": "snack"}
    assert canonical("Diet-Preference") == "diet_preference"
