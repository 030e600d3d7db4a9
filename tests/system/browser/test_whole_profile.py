"""A whole profile on a phone: no more than three screens."""

import pytest
from playwright.sync_api import expect

from agents_proxy.analyses.prompts import profile_prompt
from deploy.sample_data.sample_person import SAMPLE, SAMPLE_DESCRIPTION
from tests.agents_proxy.agent_server import ORDER
from tests.agents_proxy.full_profile import FULL
from tests.agents_proxy.reference_agents import reply_of
from tests.factories import PersonFactory
from tests.system.browser.conftest import DESKTOP, PHONE
from tests.system.browser.ended_runs import ended
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser


def of_the_sample_person() -> dict[str, str]:
    """What the reference agents say of her, with purchases of a year."""
    reply_of("core-profile", SAMPLE_DESCRIPTION)
    merchants = ["Harbour Tea", "Korn & Kresse", "Gartenreich Market", "Mittelland Rail", "Fjellpfad Outdoor",
                 "Radwerk Nord", "Papierkranich Books", "Modeblitz", "Blauton Tickets", "Velokontor"]  # fmt: skip
    shopping = {"category_focus": ["food and drink", "transport"], "price_sensitivity": "low", "channel": "in store"}
    signals = {"brand_affinities": merchants, "shopping_preferences": shopping, "confidence": 0.9}
    prompts = {agent: profile_prompt(SAMPLE, signals if agent == "brand" else None) for agent in ORDER}
    return {agent: reply_of(agent, prompt) for agent, prompt in prompts.items()}


@pytest.mark.parametrize("of_the_sample", [True, False])
def test_a_whole_profile_fits_three_screens_of_a_phone(
    new_profile: NewProfile, sign_in: SignIn, site: str, of_the_sample: bool
) -> None:
    user = PersonFactory()
    run = ended(user, of_the_sample_person() if of_the_sample else FULL)
    page = new_profile(viewport=PHONE).new_page()
    sign_in(page, user, at=f"/profile/{run.analysis_id}/")

    expect(page.locator("#measure-coverage + dd")).to_contain_text("43 of 43 fields")
    assert page.evaluate("document.documentElement.scrollHeight") <= 3 * PHONE["height"]
    if of_the_sample:
        brands = page.locator(".said-row", has=page.get_by_text("Brand affinities", exact=True))
        expect(brands.get_by_text("Velokontor").first).to_be_hidden()
        brands.get_by_text("4 more").first.click()
        expect(brands.get_by_text("Velokontor").first).to_be_visible()
        return
    page.set_viewport_size(DESKTOP)
    columns = {section.bounding_box()["x"] for section in page.locator(".profile-section").all()}  # type: ignore[index]
    assert len(columns) == 2
