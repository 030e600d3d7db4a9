"""Guessing at passwords through real servers behind a proxy: two processes, one database, with Redis and without."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from django.conf import settings

from tests.accounts.people import WRONG, Browser
from tests.factories import PersonFactory
from tests.patience import MOST_SECONDS, eventually
from tests.served_site import Served

HERE, THERE = "203.0.113.7", "198.51.100.9"  # the attacker, and somebody else
# as deploy/ has it: the proxy replaces X-Forwarded-For by the address that it saw
BEHIND_PROXY = {"BEHIND_TLS_PROXY": "true", "EMAIL_VERIFICATION": "optional", "LOG_LEVEL": "WARNING"}
pytestmark = pytest.mark.long("each password hashed at the deployment's cost; in short at the tests' own")


@pytest.fixture(params=["database", "redis"], scope="module")
def servers(request: pytest.FixtureRequest, django_db_setup: None, long_form: bool) -> Iterator[tuple[Served, Served]]:
    if request.param == "redis" and not settings.REDIS_URL:
        pytest.skip("REDIS_URL is not set")
    store = settings.REDIS_URL if request.param == "redis" else ""
    own = {**BEHIND_PROXY, "REDIS_URL": store, **({"DJANGO_SETTINGS_MODULE": "config.settings"} if long_form else {})}
    both = Served(**own), Served(**own)
    for served in both:
        served.start()
    yield both
    for served in both:
        served.stop()
        served.close()


@pytest.fixture
def sites(servers: tuple[Served, Served], transactional_db: None) -> tuple[str, str]:
    """The addresses of both processes."""
    return servers[0].address, servers[1].address


def guess(sites: tuple[str, str], email: str, times: int, there: str = HERE) -> list[int]:
    """Wrong passwords, by turns at each process."""
    browser = Browser(there, claims="192.0.2.1")
    return [browser.sign_in(sites[turn % 2], email, WRONG).status_code for turn in range(times)]


def test_who_guesses_at_one_account_is_refused_and_its_owner_is_not(sites: tuple[str, str]) -> None:
    owner = PersonFactory()
    known = Browser(HERE)  # under one roof with whoever guesses
    assert known.sign_in(sites[0], owner.email).status_code == 302
    known.sign_out()

    assert guess(sites, owner.email, 13) == [200] * 10 + [429] * 3
    refused = Browser(HERE, claims=THERE).sign_in(sites[1], owner.email)

    assert refused.status_code == 429  # even with the right password, or it would tell which that is
    assert 0 < int(refused.headers["Retry-After"]) <= 900
    assert "Try again in" in refused.text
    assert Browser(THERE).sign_in(sites[0], owner.email).status_code == 302
    assert known.sign_in(sites[1], owner.email, WRONG).status_code == 200
    assert known.sign_in(sites[1], owner.email).status_code == 302
    other = PersonFactory()
    assert Browser(HERE).sign_in(sites[0], other.email).status_code == 302


def test_a_restart_forgets_nothing(servers: tuple[Served, Served], sites: tuple[str, str]) -> None:
    owner = PersonFactory()
    guess(sites, owner.email, 10)

    servers[0].stop()
    servers[0].start()

    assert guess((sites[0], sites[0]), owner.email, 1) == [429]


def test_junk_flushes_nothing(sites: tuple[str, str]) -> None:
    owner = PersonFactory()
    guess(sites, owner.email, 10)

    with ThreadPoolExecutor(4) as pool:
        junk = list(pool.map(lambda n: guess(sites, f"junk{n}@example.net", 1, f"192.0.2.{n}"), range(160)))

    assert junk == [[200]] * 160
    assert guess(sites, owner.email, 1) == [429]


def test_a_crowd_holds_no_threads_and_the_owner_gets_in(sites: tuple[str, str]) -> None:
    owner = PersonFactory()
    for network in range(4):
        guess(sites, owner.email, 10, f"192.0.2.{network}")
    over, seen = threading.Event(), Counter[int]()

    def crowd(member: int) -> None:
        browser = Browser(f"198.18.{member}.1")
        while not over.is_set():
            seen[browser.sign_in(sites[0], owner.email, WRONG).status_code] += 1

    threads = [threading.Thread(target=crowd, args=(member,)) for member in range(12)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: seen[429], "somebody who is sent away")
        alive = {requests.get(f"{sites[0]}/livez", timeout=MOST_SECONDS).status_code for _ in range(10)}
        browser = Browser(THERE)
        eventually(lambda: browser.sign_in(sites[0], owner.email).status_code == 302, "the owner's sign-in")
    finally:
        over.set()
        for thread in threads:
            thread.join()

    assert alive == {200}
    assert set(seen) == {200, 429}
