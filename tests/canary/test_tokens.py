"""A developer token stays with whoever sent it: no log, mail, row or page has it, whatever the call was answered."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests
from django.conf import settings as configured
from django.test import Client

from developers.models import App, LoggedRequest
from pkm.models import RegistryVersion
from tests.canary.kept import dump
from tests.factories import AppFactory, MemberFactory, TokenFactory
from tests.patience import wait_until
from tests.served_site import Served

pytestmark = pytest.mark.django_db(transaction=True)

# how a token travels, also by mistake; `{}` is where it stands
PLACES: dict[str, dict[str, Any]] = {
    "header": {"headers": {"Authorization": "Bearer {}"}},
    "query": {"query": "token={}"},
    "query of another name": {"headers": {"Authorization": "Bearer {}"}, "query": "next={}"},
    "referer": {"headers": {"Authorization": "Bearer {}", "Referer": "https://trips.example/?token={}"}},
    "identifier": {"headers": {"Authorization": "Bearer {}", "X-Request-Id": "{}"}},
    "agent": {"headers": {"Authorization": "Bearer {}", "User-Agent": "trips/{}"}},
}
ADDRESSES = {
    "/api/v1/scope-catalog": "fine",
    "/api/v1/user-scopes/usr_nobody": "refused",
    "/api/v1/user-scopes/{}": "refused",
    "/api/v1/receipts/{}": "refused",
    "/api/v1/nothing/{}": "refused",
    "/api/v1/crash": "broken",
    "/developers/": "a page",
    "/nothing": "a page",
}


@pytest.fixture
def served() -> Iterator[Served]:
    """A server of this test's own that writes down all it can."""
    site = Served(DJANGO_SETTINGS_MODULE="tests.canary.crashing_settings", LOG_LEVEL="DEBUG")
    try:
        site.start()
        yield site
    finally:
        site.stop()
        site.close()


@contextmanager
def without_registry() -> Iterator[None]:
    """Nobody can read the scope registry, which no test but this one is to notice."""
    versions = list(RegistryVersion.objects.all())
    RegistryVersion.objects.all().delete()
    try:
        yield
    finally:
        RegistryVersion.objects.bulk_create(versions)


def call(site: str, address: str, place: dict[str, Any], token: str, method: str) -> requests.Response:
    def put(text: str) -> str:
        return text.replace("{}", token)

    headers = {"X-Request-Id": uuid.uuid4().hex}
    headers.update({name: put(value) for name, value in place.get("headers", {}).items()})
    url = f"{site}{put(address)}?{put(place.get('query', ''))}"
    return requests.request(method, url, headers=headers, timeout=60, allow_redirects=False)


def every_call(site: str, tokens: list[str]) -> Iterator[requests.Response]:
    for token in tokens:
        for place in PLACES.values():
            for address in ADDRESSES:
                for method in ("GET", "POST"):
                    yield call(site, address, place, token, method)


def test_a_token_is_kept_nowhere(served: Served) -> None:
    app: App = AppFactory()
    member = MemberFactory(app=app)
    good, revoked = TokenFactory(app=app).secret, TokenFactory(app=app, permissions=["read"]).secret
    secrets = [token.rsplit("_", 1)[1] for token in (good, revoked)]

    answers = list(every_call(served.address, [good, revoked]))
    with without_registry():  # the 500 that the contract knows
        answers += [call(served.address, "/api/v1/scope-catalog", place, good, "GET") for place in PLACES.values()]
    last = call(served.address, "/api/v1/user-scopes/usr_nobody", PLACES["header"], good, "GET").headers["X-Request-Id"]
    assert wait_until(lambda: LoggedRequest.objects.filter(trace_id=last).exists())
    browser = Client()
    browser.force_login(member.user)
    portal = f"/developers/apps/{app.app_id}/"
    pages = [browser.get(path).content for path in (portal, f"{portal}log/", f"{portal}log/latest", f"{portal}limits/")]
    served.stop()

    told = b"".join(answer.content + repr(answer.headers).encode() for answer in answers) + b"".join(pages)
    files = [path for path in configured.VAR.rglob("*") if path.is_file() and path.suffix != ".sqlite3"]
    written = b"".join(path.read_bytes() for path in files if "static" not in path.parts)
    kept = dump()
    statuses = {answer.status_code for answer in answers}
    assert {200, 400, 403, 404, 405, 500} <= statuses
    assert set(LoggedRequest.objects.values_list("status", flat=True)) >= {200, 404, 403, 500}
    assert "scope_registry_unavailable" in set(LoggedRequest.objects.values_list("code", flat=True))
    for place in (told, written, kept):  # the search does search: what may be known of a call is found
        assert last.encode() in place or place is told
    assert b"broken by" in written
    for secret in secrets:
        assert (secret.encode() in told, secret.encode() in written, secret.encode() in kept) == (False, False, False)
