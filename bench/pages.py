"""How high the pages of somebody are who has much, and how long the server takes for each.

    ./run bench pages

Fills a database of its own beside the one of DATABASE_URL: one person has a history of 20,000 lines, 500 live
approvals and 1,000 requests that wait. Prints for each page the best of some rounds in milliseconds, and its height in
screens of 390 by 844; what is more than wanted is marked.
"""

import os
import shutil
import time
from typing import Any

from playwright.sync_api import sync_playwright

from bench.staging import own_database, prepare

PHONE = {"width": 390, "height": 844}
MOST_MS, MOST_SCREENS, ROUNDS, PEOPLE, APPS = 300.0, 4.0, 5, 100, 50
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
    from tests.system.browser.sealing.chromium import ARGUMENTS, find_chromium

    setup_test_environment(debug=False)
    world = populate(PEOPLE, app_count=APPS, sealed="x" * 512)
    add_long_history(world, BASE + PEOPLE)
    client = signed_in(User.objects.get(pk=BASE + PEOPLE)).client
    shutil.rmtree(settings.STATIC_ROOT)  # what was collected for a process without a server
    settings.STATIC_ROOT.mkdir()
    paths = [f"/{path.format(app=world.apps[-1].app_id)}" for path in PATHS]
    with running_site() as site, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        context = browser.new_context(viewport=PHONE)  # type: ignore[arg-type]  # two numbers
        name = settings.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": site}])
        page = context.new_page()
        print("| page | ms | screens |\n|---|---|---|")
        for path in paths:
            page.goto(f"{site}{path}", wait_until="networkidle")
            screens = page.evaluate("document.documentElement.scrollHeight") / PHONE["height"]
            ms = min(_milliseconds(client, path) for _ in range(ROUNDS))
            print(f"| {path} | {ms:.0f}{_mark(ms, MOST_MS)} | {screens:.1f}{_mark(screens, MOST_SCREENS)} |")


def _milliseconds(client: Any, path: str) -> float:
    began = time.perf_counter()
    answer = client.get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answers {answer.status_code}")
    return (time.perf_counter() - began) * 1000


def _mark(found: float, most: float) -> str:
    return " ←" if found > most else ""
