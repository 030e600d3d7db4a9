"""The headers of every address, at every status that it gives: works, stranger, wrong method, bad input, our own fault.

With the database away, and on a real server, in tests/system/config/test_outage.py.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, ProgrammingError, connection
from django.http import HttpResponse
from django.test import Client

from tests import factories
from tests.callers import Developer, signed_in
from tests.config import every_address
from tests.config.every_address import (
    ADMIN,
    AGENTS,
    DEVELOPER,
    LISTED,
    MANAGEMENT,
    OPEN,
    OWNER,
    PAGE,
    STAFF_RECORDS,
)
from tests.config.sample_paths import path_of, samples
from tests.config.wanted_headers import lacking
from tests.consent.api.test_failing import failing
from tests.staff import at_the_admin

METHODS = ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE")
EVERY = 3  # one in so many addresses of a group with every method, in the short form
STAFF_PAGES = tuple(sorted(address for address in LISTED if address.startswith("admin/")))
RECORDS_ALIKE = tuple(
    address for address in STAFF_PAGES if address.startswith(tuple(f"admin/{it}/" for it in STAFF_RECORDS[1:]))
)
# who is meant to call, and statuses that have to be among those that were seen
GROUPS = {
    "pages": (PAGE, {200, 302, 403, 404, 405, 500, 503}),
    "owner": (OWNER, {200, 400, 401, 404, 405, 500, 503}),
    "developers": (DEVELOPER, {200, 400, 401, 403, 405, 415, 500, 503}),
    "management": (MANAGEMENT, {200, 400, 401, 403, 404, 405, 415, 500, 503}),
    "agents": (AGENTS, {200, 400, 401, 403, 404, 405, 415, 500, 503}),
    "staff": (STAFF_PAGES, {200, 302, 403, 404, 500, 503}),
    "open": (OPEN, {200, 405, 503}),
}


def test_every_address_is_listed() -> None:
    assert every_address.configured() == LISTED
    assert len(STAFF_RECORDS) * 6 + len(ADMIN) == len(STAFF_PAGES)


@pytest.mark.long("all methods and faults at every page; in short at a third of them, every page in each")
@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("group", GROUPS)
def test_every_answer_has_its_headers(
    group: str, secure: bool, person: Any, app: Any, settings: Any, long_form: bool
) -> None:
    session = at_the_admin(factories.StaffFactory()).cookies  # before what follows sends plain HTTP away
    if secure:
        settings.SECURE_HSTS_SECONDS = 31536000
        settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True
        settings.SECURE_SSL_REDIRECT = True
    addresses, wanted = GROUPS[group]
    parts = samples(person, app)
    staff = Client(raise_request_exception=False)
    staff.cookies = session
    token = _manager(person) if group == "management" else Developer.of(app).headers
    wrong: dict[str, list[str]] = {}
    seen: defaultdict[int, set[str]] = defaultdict(set)
    # of staff's records the first stands for all: they differ in what is shown, not in how it is answered
    several = [address for address in addresses if group != "staff" or address not in RECORDS_ALIKE]
    every = 1 if long_form else EVERY
    in_full = set() if secure else set(several[::every])
    # over https the answers are the same but for two headers, which one place writes
    for address in addresses[::every] if secure else addresses:
        path = path_of(address, parts)
        thorough = address in in_full
        for what, answer in calls(path, person, staff, token, thorough=thorough, secure=secure):
            seen[answer.status_code].add(address)
            if problems := lacking(path, answer.status_code, answer.headers, https=secure):
                wrong[f"{what} {path} {answer.status_code}"] = problems

    assert wrong == {}
    assert secure or wanted - set(seen) == set()


def _manager(person: Any) -> dict[str, str]:
    """The headers of a program that manages for the person, who is a member of the app already."""
    return {"Authorization": f"Bearer {factories.ManagementTokenFactory(user=person).secret}"}


def calls(
    path: str, person: Any, staff: Client, token: Any, *, thorough: bool, secure: bool
) -> Iterator[tuple[str, HttpResponse]]:
    """The answers of one address to everybody, each in a session of its own."""
    callers = {
        "anonymous": Client(raise_request_exception=False),
        "person": browser_of(person),
        "staff": staff,
    }
    stranger = Client(raise_request_exception=False, enforce_csrf_checks=True)
    for name, caller in callers.items():
        yield f"{name} GET", caller.get(path, secure=secure)
    yield "developer GET", callers["anonymous"].get(path, headers=token, secure=secure)
    elsewhere = {**token, "Origin": "https://evil.example"}
    yield "developer in a browser", callers["anonymous"].get(path, headers=elsewhere, secure=secure)
    body = {"data": b"{}", "content_type": "application/json", "headers": token, "secure": secure}
    yield "developer POST", callers["anonymous"].post(path, **body)
    yield "forged POST", stranger.post(path, {"a": "b"}, secure=secure)
    with connection.execute_wrapper(failing()):
        yield "person GET, database away", callers["person"].get(path, secure=secure)
    if not thorough:
        return
    for method in METHODS:
        # each signed in anew: some of these end the session
        answer = browser_of(person).generic(method, path, b"{", content_type="application/json")
        yield f"person {method}", answer
    yield "person form", browser_of(person).post(path, {"unfit": "\x00"})
    yield "developer text", callers["anonymous"].post(path, b"a", content_type="text/plain", headers=token)
    for error in (OperationalError, ProgrammingError):
        with connection.execute_wrapper(failing(error=error)):
            yield f"{error.__name__} GET", callers["person"].get(path)
            yield f"{error.__name__} POST", callers["person"].post(path, b"{}", content_type="application/json")
            yield f"{error.__name__} developer", callers["anonymous"].get(path, headers=token)


def browser_of(user: Any) -> Client:
    client = signed_in(user).client
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize(
    "path",
    [
        "/nothing-here", "/accounts/", "/consent", "/mcp/nothing", "/api/v1/nothing", "/api/nothing", "/static/nothing",
        "/static/../config/settings.py", "/.well-known/nothing", "/%00", "/%ff", "//evil.example/", "/admin/nothing/",
        "/" + "a" * 5000,
    ],
    ids=lambda path: path[:30],
)  # fmt: skip
def test_what_is_no_address_has_its_headers_too(path: str, person: Any) -> None:
    for caller in (Client(raise_request_exception=False), browser_of(person)):
        for method in ("GET", "POST", "OPTIONS"):
            answer = caller.generic(method, path)
            assert lacking(path, answer.status_code, answer.headers, https=False) == [], (method, answer.status_code)


def test_another_host_and_plain_http_have_their_headers_too(db: None, settings: Any) -> None:
    elsewhere = Client(headers={"host": "elsewhere.example"})
    settings.SECURE_SSL_REDIRECT = True
    plain = Client()

    for path in ("/", "/consent/", "/api/v1/scope-catalog", "/mcp", "/api/a2a/core", "/livez", "/static/nothing"):
        for caller in (elsewhere, plain):
            answer = caller.get(path)
            assert lacking(path, answer.status_code, answer.headers, https=False) == [], (path, answer.status_code)


def test_programs_are_told_that_their_answers_are_no_documents(api: Developer) -> None:
    for answer in (api.get("/scope-catalog"), api.get("/nothing"), Client().get("/mcp")):
        assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
