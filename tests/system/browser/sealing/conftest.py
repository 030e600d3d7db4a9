"""Chromium for the sealing tests: one browser for all of them, a fresh profile for each."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.system.browser.sealing.chromium import ROOT, Driver, Tab, find_chromium

VECTORS = ROOT / "bridge" / "conformance" / "vectors" / "sealed.json"


@pytest.fixture(scope="session")
def sealing_driver() -> Iterator[Driver]:
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium found: set CHROMIUM to its path to run the browser's sealing tests")
    with Driver(executable) as driver:
        yield driver


@pytest.fixture
def sealing_tabs(sealing_driver: Driver) -> Iterator[Callable[..., Tab]]:
    """Opens tabs of one profile: `sealing_tabs("?user=usr_a&session=s1")`. At the end none may have complained."""
    context = sealing_driver.new_context()
    tabs: list[Tab] = []

    def open_tab(query: str = "") -> Tab:
        tabs.append(sealing_driver.new_tab(context, query))
        return tabs[-1]

    yield open_tab
    complaints = [line for tab in tabs for line in tab.complaints]
    sealing_driver.close_contexts()
    assert complaints == []


@pytest.fixture(scope="session")
def sealing_shared_tab(sealing_driver: Driver) -> Tab:
    return sealing_driver.new_tab(sealing_driver.new_context(kept=True))


@pytest.fixture
def sealing_page(sealing_shared_tab: Tab) -> Iterator[Tab]:
    """One tab for all tests that leave nothing behind in it. None of them may make it complain."""
    sealing_shared_tab.complaints.clear()
    yield sealing_shared_tab
    assert sealing_shared_tab.complaints == []


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(VECTORS.read_text())
    return loaded
