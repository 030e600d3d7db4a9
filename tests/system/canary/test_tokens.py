"""A token stays with whoever sent it: no log, mail, row or page has it, whatever the call was answered."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests
from django.conf import settings as configured
from django.test import Client

from developers.models import App, AppMember, LoggedRequest
from pkm.models import RegistryVersion
from tests.callers import sign_in
from tests.factories import AppFactory, ManagementTokenFactory, MemberFactory, TestAppFactory, TokenFactory
from tests.patience import eventually
from tests.served_site import Served
from tests.system.canary.kept import dump

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
    "/api/v1/manage/apps": "fine",
    "/api/v1/manage/apps/{}": "refused",
    "/api/v1/manage/tokens/{}/revoke": "refused",
    "/api/v1/manage/crash": "broken",
    "/developers/": "a page",
    "/nothing": "a page",
}


@pytest.fixture
def served() -> Iterator[Served]:
    """A server of this test's own that writes down all it can."""
    site = Served(DJANGO_SETTINGS_MODULE="tests.system.canary.crashing_settings", LOG_LEVEL="DEBUG")
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


def call(site: str, address: str, place: dict[str, Any], token: str, method: str = "GET") -> requests.Response:
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


def pages_of(member: AppMember) -> bytes:
    """Every page of the portal that tells of tokens or calls, as the member sees it."""
    browser = Client()
    sign_in(browser, member.user)
    portal = f"/developers/apps/{member.app.app_id}/"
    own = [f"{portal}{page}" for page in ("", "log/", "log/latest", "limits/", "tokens/", "audit/")]
    answers = [browser.get(path) for path in [*own, "/developers/management-tokens/"]]
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    return b"".join(answer.content for answer in answers)


def parts_of(token: str) -> list[bytes]:
    """Either half of what is secret in a token: one of them shows in whatever was cut off."""
    secret = token.split("_", 3)[3].encode()  # the secret itself may hold more of these
    assert len(secret) == 43
    return [secret[:20], secret[-20:]]


def test_a_token_is_kept_nowhere(served: Served) -> None:
    app: App = AppFactory()
    member = MemberFactory(app=app)
    good, narrow = TokenFactory(app=app).secret, TokenFactory(app=app, permissions=["read"]).secret
    test = TokenFactory(app=TestAppFactory()).secret
    managing = ManagementTokenFactory(user=member.user).secret
    tokens = [good, narrow, test, managing]

    answers = list(every_call(served.address, tokens))
    with without_registry():  # the 500 that the contract knows
        answers += [call(served.address, "/api/v1/scope-catalog", place, good) for place in PLACES.values()]
    last = call(served.address, "/api/v1/user-scopes/usr_nobody", PLACES["header"], good).headers["X-Request-Id"]
    eventually(LoggedRequest.objects.filter(trace_id=last).exists, "the last call's line in the log")
    pages = pages_of(member)
    for token in tokens:  # the one body that holds a token; its owners are told by mail
        answers.append(requests.post(f"{served.address}/api/v1/leaked-tokens", json={"token": token}, timeout=60))
    gone = [call(served.address, "/api/v1/scope-catalog", PLACES["header"], token) for token in tokens]
    served.stop()

    answered = b"".join(answer.content + repr(answer.headers).encode() for answer in [*answers, *gone]) + pages
    answered += pages_of(member)
    files = [path for path in configured.VAR.rglob("*") if path.is_file() and path.suffix != ".sqlite3"]
    written = b"".join(path.read_bytes() for path in files if "static" not in path.parts)
    kept = dump()
    statuses = {answer.status_code for answer in answers}
    assert {200, 202, 400, 401, 403, 404, 405, 500} <= statuses
    assert {answer.status_code for answer in gone} == {401}
    assert set(LoggedRequest.objects.values_list("status", flat=True)) >= {200, 404, 403, 500}
    assert "scope_registry_unavailable" in set(LoggedRequest.objects.values_list("code", flat=True))
    for place in (answered, written, kept):  # the search does search: what may be known of a call is found
        assert last.encode() in place or place is answered
    assert written.count(b"broken by") >= 2  # once at the apps' addresses, once at the managers'
    found = {name: [part for token in tokens for part in parts_of(token) if part in place]
             for name, place in (("told", answered), ("written", written), ("kept", kept))}  # fmt: skip
    assert found == {"told": [], "written": [], "kept": []}
