"""On a phone: what an agent asks back is answered, and what agents say is corrected in place and let stand again."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from agents_proxy.analyses import steps
from tests.agents_proxy.agent_server import speaking
from tests.agents_proxy.proxy_calls import owning
from tests.agents_proxy.runs import finished
from tests.factories import PersonFactory
from tests.system.browser.conftest import PHONE
from tests.system.browser.ended_runs import ended
from tests.system.browser.page_faults import Themes, axe_findings_in
from tests.system.browser.people import NewProfile, SignIn

pytestmark = pytest.mark.browser
QUESTION = "Which Ana is meant?"


def asks_then(fields: dict[str, Any]) -> Callable[[Any], Any]:
    """An agent that asks back once."""
    message = {"role": "agent", "parts": [{"type": "text", "text": QUESTION}]}
    replies: Iterator[Any] = iter([{"result": {"status": {"state": "input-required", "message": message}}}, fields])
    return lambda _request: next(replies)


def test_a_question_is_answered_where_it_stands(
    new_profile: NewProfile, sign_in: SignIn, settings: Any, themes: Themes
) -> None:
    user = owning(PersonFactory())
    with speaking() as agents:
        settings.AGENTS = {**settings.AGENTS, **agents.settings()}
        agents.replies = {"brand": {"likes": ["tea"]}, "core": asks_then({"city": "Porto"})}
        run = finished(user)
        page = new_profile(viewport=PHONE).new_page()
        sign_in(page, user, at=f"/profile/{run.analysis_id}/")
        findings = axe_findings_in(themes, page)
        expect(page.get_by_label(QUESTION)).to_be_visible()
        assert is_within(page)
        page.get_by_label(QUESTION).fill("The one in Porto.")
        page.get_by_role("button", name="Send the answer").click()
        expect(page.get_by_text("The agent has your answer and goes on.")).to_be_visible()
        expect(page.get_by_label(QUESTION)).to_have_count(0)
        steps.run_through(run.pk)

    assert findings == []
    expect(page.get_by_role("heading", name="What agents say about you")).to_be_visible()
    expect(row_of(page, "City")).to_contain_text("Porto")
    assert agents.requests[2][1]["params"]["message"]["parts"][0]["text"] == "The one in Porto."


def is_within(page: Page) -> bool:
    """Whether nothing is wider than the screen."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def row_of(page: Page, label: str) -> Locator:
    return page.locator(".said-row", has=page.get_by_text(label, exact=True))


def test_a_value_is_corrected_in_place_and_let_stand_again(
    new_profile: NewProfile, sign_in: SignIn, themes: Themes
) -> None:
    user = owning(PersonFactory())
    run = ended(user, {"core": {"occupation": "Nurse", "city": "Linz"}, "public": {"occupation": "Thief"}})
    page = new_profile(viewport=PHONE).new_page()
    sign_in(page, user, at=f"/profile/{run.analysis_id}/")
    occupation = row_of(page, "Occupation")
    expect(occupation.locator("summary")).to_have_count(2)
    expect(occupation.locator("summary").last).to_be_hidden()  # until somebody says that they want to correct
    page.get_by_text("Correct something").click()
    differs, corrects = occupation.locator("summary").all()
    boxes = [one.bounding_box() for one in (differs, corrects)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]  # neither lies on the other

    corrects.click()
    findings = axe_findings_in(themes, page)
    assert is_within(page)
    occupation.get_by_label("What is true").fill("Baker")
    occupation.get_by_role("button", name="Correct it").click()
    expect(occupation.locator(".said-value")).to_have_text("Baker")
    expect(occupation.locator(".marks")).to_contain_text("You")

    page.get_by_text("Correct something").click()
    occupation.locator("summary").last.click()
    occupation.get_by_role("button", name="Let agents say it again").click()
    expect(occupation.locator(".said-value")).to_have_text("Thief")
    expect(occupation.locator(".marks")).not_to_contain_text("You")
    assert findings == []
