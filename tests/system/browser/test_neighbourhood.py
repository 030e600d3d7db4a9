"""The neighbourhood's pages in a browser: the hosted page from bank to agreement, and no page with a fault."""

from pathlib import Path
from typing import Any

import requests
from playwright.sync_api import Page, expect

from examples.neighbourhood.aggregator import Aggregator
from examples.neighbourhood.crm import Crm
from examples.neighbourhood.gateway import Gateway
from examples.neighbourhood.link_page import LinkPage
from examples.neighbourhood.overview import Overview, Part, answers_get, process_lives
from examples.neighbourhood.store import Store
from tests.fakes.neighbourhood import served
from tests.system.browser.page_faults import THEMES, axe_findings_in, faults_at

KEYS = {"client_id": "neighbourhood", "secret": "its secret"}


def hosted_page(address: str, back: str) -> str:
    body: dict[str, Any] = {
        **KEYS, "client_name": "Tests", "products": ["transactions"], "country_codes": ["DE"],
        "user": {"client_user_id": "u"},
        "hosted_link": {"completion_redirect_uri": back},
    }  # fmt: skip
    return str(requests.post(f"{address}/link/token/create", json=body).json()["hosted_link_url"])


def test_somebody_links_a_bank_on_a_narrow_screen(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    store = Store()
    program = Aggregator(store, KEYS["client_id"], KEYS["secret"])
    program.hosted = LinkPage(store)
    with served(program) as address, served(Crm(Store())) as back:
        faults = faults_at(page, hosted_page(address, f"{back}/"))
        page.get_by_label("Harbour Mutual").check()
        page.get_by_role("button", name="Continue").click()
        faults += axe_findings_in(THEMES, page)
        page.get_by_label("Name").fill("mara")
        page.get_by_role("button", name="Sign in").click()
        faults += axe_findings_in(THEMES, page)
        page.get_by_label("Credit card").uncheck()
        page.get_by_role("button", name="Agree and share").click()
        expect(page).to_have_url(f"{back}/")
    store.close()

    assert faults == []


def test_pages_that_show_what_came_have_no_fault(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    store = Store()
    store.add("activation", "act_1", {"id": "act_1", "at": "2026-11-20T10:00:00", "said": {"likes": ["tea" * 50]}})
    store.add(
        "message", "m", {"at": "now", "status": "sent", "message": {"to": "+4917604069018", "text": "Hello " * 20}}
    )
    with served(Crm(store)) as crm, served(Gateway(store)) as gateway, served(Aggregator(store, "a", "b")) as bank:
        parts = [
            Part("CRM", "Takes what people send.", crm, answers_get(crm)),
            Part("Worker", "Works.", "", process_lives(tmp_path / "none")),
        ]
        with served(Overview(parts)) as overview:
            faults = [fault for each in (crm, gateway, bank, overview) for fault in faults_at(page, f"{each}/")]
    store.close()

    assert faults == []
