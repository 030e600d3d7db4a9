"""How high the pages of somebody are who has much, and how long the server takes for each.

    ./run bench pages

Fills a database of its own beside the one of DATABASE_URL: one person has a history of 20,000 lines, 500 live
approvals and 1,000 requests that wait. Prints for each page the best of some rounds in milliseconds: on the server, and
until its scripts have run in a browser whose processor is slowed to a quarter, the answer included; and its height in
screens of 390 by 844. What is more than wanted is marked.
"""

import os
import shutil
import time
from typing import Any

from playwright.sync_api import Page

from bench.staging import chromium, own_database, prepare

PHONE = {"width": 390, "height": 844}
MOST_MS, MOST_USABLE_MS, MOST_SCREENS, ROUNDS, PEOPLE, APPS = 300.0, 1000.0, 4.0, 5, 100, 50
SLOWER = 4
PATHS = ("consent/", "consent/inbox/", "consent/apps/", "consent/apps/{app}/", "consent/history/", "vault/")


def main() -> None:
    with own_database() as url:
        os.environ.update(DATABASE_URL=url, DJANGO_SETTINGS_MODULE="tests.settings", DJANGO_ALLOW_ASYNC_UNSAFE="true")
        prepare()
        _measure()


def _measure() -> None:
    from django.conf import settings
    from django.test.utils import setup_test_environment

    from accounts.models import User
    from bench.population import BASE, add_long_history, populate
    from tests.callers import signed_in
    from tests.served_site import running_site

    setup_test_environment(debug=False)
    world = populate(PEOPLE, app_count=APPS, sealed="x" * 512)
    add_long_history(world, BASE + PEOPLE - 1)
    client = signed_in(User.objects.get(pk=BASE + PEOPLE - 1)).client
    shutil.rmtree(settings.STATIC_ROOT)  # what was collected for a process without a server
    settings.STATIC_ROOT.mkdir()
    paths = [f"/{path.format(app=world.apps[-1].app_id)}" for path in PATHS]
    with running_site() as site, chromium() as browser:
        context = browser.new_context(viewport=PHONE)
        name = settings.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": site}])
        page = context.new_page()
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        print("| page | ms | usable, ms | screens |\n|---|---|---|---|")
        for path in paths:
            usable = min(_usable(page, f"{site}{path}") for _ in range(ROUNDS))
            screens = page.evaluate("document.documentElement.scrollHeight") / PHONE["height"]
            ms = min(_milliseconds(client, path) for _ in range(ROUNDS))
            cells = [(ms, MOST_MS, 0), (usable, MOST_USABLE_MS, 0), (screens, MOST_SCREENS, 1)]
            print(
                f"| {path} | {' | '.join(f'{found:.{digits}f}{_mark(found, most)}' for found, most, digits in cells)} |"
            )


def _usable(page: Page, url: str) -> float:
    page.goto(url, wait_until="networkidle")
    return float(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))


def _milliseconds(client: Any, path: str) -> float:
    began = time.perf_counter()
    answer = client.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answers {answer.status_code}")
    return (time.perf_counter() - began) * 1000


def _mark(found: float, most: float) -> str:
    return " ←" if found > most else ""
