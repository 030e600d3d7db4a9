"""The checks of contract 1.1 at every management address, in their order."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from developers.models import ManagementToken
from tests.addresses import ADDRESSES, Address, path_of
from tests.callers import API, Developer, JsonClient, manager
from tests.consent.api.addresses import problem
from tests.counts import PLACES, counts_in
from tests.factories import ManagementTokenFactory, MemberFactory, PersonFactory

MANAGED = [address for address in ADDRESSES if address.route.startswith("api/v1/manage/")]
every_address = pytest.mark.parametrize("address", MANAGED, ids=lambda address: address.name)
stranger = JsonClient(Client(), prefix=f"{API}/manage")


def call(address: Address, caller: JsonClient, *, suffix: str = "", **sent: Any) -> HttpResponse:
    """What the register sends there, about an app that nobody has."""
    body = sent.pop("body", orjson.dumps(address.body) if address.body is not None else b"")
    return caller.send(address.method, path_of(address.route).removeprefix(f"{API}/manage") + suffix, body, **sent)


@every_address
def test_a_management_token_gets_through_in_the_header(address: Address, person) -> None:
    assert call(address, manager(person)).status_code not in (401, 403, 405)


@every_address
def test_in_the_query_it_is_refused(address: Address, person) -> None:
    token = ManagementTokenFactory(user=person).secret

    assert problem(call(address, stranger, suffix=f"?token={token}")) == (401, "invalid_token")
    assert problem(call(address, manager(person), suffix=f"?token={token}")) == (400, "invalid_request")


@every_address
@pytest.mark.parametrize(
    "header",
    [
        None, "Bearer", "Bearer ", "Basic eDp5", "Bearer nonsense", "Bearer \x00\xff",
        "Bearer cr_mgmt_12345678_" + "x" * 43, "Bearer cr_mgmt_" + "A" * 5000,
    ],
)  # fmt: skip
def test_a_token_that_is_none_is_401_before_anything_else(address: Address, header: str | None, db: None) -> None:
    headers = {} if header is None else {"Authorization": header}
    answer = call(address, stranger, headers=headers, body=b"not json", media_type="text/plain")

    assert problem(answer) == (401, "invalid_token")
    assert answer["WWW-Authenticate"] == "Bearer"


@every_address
@pytest.mark.parametrize(
    "fields",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"revoked_at": timezone.now() - timedelta(seconds=1)},
        {"user__is_active": False},
    ],
    ids=["expired", "revoked", "closed account"],
)
def test_a_token_that_is_over_is_401(address: Address, fields: dict[str, object], db: None) -> None:
    token = ManagementTokenFactory(**fields).secret

    assert problem(call(address, stranger, headers={"Authorization": f"Bearer {token}"})) == (401, "invalid_token")


@every_address
def test_tokens_of_apps_open_nothing_here_and_a_management_token_nothing_there(
    address: Address, api: Developer, person
) -> None:
    there = JsonClient(Client(), prefix=API, headers=manager(person).headers)

    assert problem(call(address, JsonClient(Client(), prefix=f"{API}/manage", headers=api.headers))) == (
        401, "invalid_token",
    )  # fmt: skip
    assert problem(there.get("/scope-catalog")) == (401, "invalid_token")
    assert problem(there.get("/scope-catalog", token=there.headers["Authorization"].split()[1])) == (
        400, "invalid_request",
    )  # fmt: skip


@every_address
@pytest.mark.parametrize("header", ["Origin", "Sec-Fetch-Site"])
def test_a_call_from_a_web_page_is_refused_before_its_token_is_looked_at(address: Address, header: str, db) -> None:
    answer = call(address, stranger, headers={header: "https://app.example"})

    assert problem(answer) == (403, "browser_path_refused")
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@every_address
@pytest.mark.parametrize("permissions", [{}, {"*": []}, {"app_unknown": []}])
def test_a_token_without_the_permission_is_403(address: Address, permissions, person) -> None:
    answer = call(address, manager(person, permissions=permissions), body=b"not json", media_type="text/plain")

    assert problem(answer) == (403, "insufficient_scope")


@every_address
def test_a_token_with_the_other_permission_alone_is_403(address: Address, person) -> None:
    other = "write" if address.method == "GET" else "read"

    assert problem(call(address, manager(person, permissions={"*": [other]}))) == (403, "insufficient_scope")


@every_address
def test_what_an_address_does_not_know_is_refused(address: Address, person) -> None:
    assert problem(call(address, manager(person), suffix="?bogus=1")) == (400, "invalid_request")


def test_its_use_is_noted_at_most_once_an_hour(person) -> None:
    caller = manager(person)

    caller.get("/apps")
    first = ManagementToken.objects.get().last_used_at
    caller.get("/apps")
    again = ManagementToken.objects.get().last_used_at
    ManagementToken.objects.update(last_used_at=timezone.now() - timedelta(hours=2))
    caller.get("/apps")

    assert first == again
    assert first is not None
    assert ManagementToken.objects.get().last_used_at > first


def test_a_list_comes_in_pages_and_holds_what_the_token_may_read(person) -> None:
    members = [MemberFactory(user=person, role=role) for role in ("owner", "member", "owner")]
    MemberFactory(user=PersonFactory())
    newest_first = [member.app.app_id for member in reversed(members)]

    whole = manager(person).get("/apps").json()
    first = manager(person).get("/apps", limit="2").json()
    second = manager(person).get("/apps", limit="2", cursor=first["next_cursor"]).json()
    narrow = manager(person, permissions={newest_first[1]: ["read"], newest_first[0]: ["write"]}).get("/apps").json()

    assert [app["app_id"] for app in whole["items"]] == newest_first
    assert [app["role"] for app in whole["items"]] == ["owner", "member", "owner"]
    assert whole["next_cursor"] is None
    assert [app["app_id"] for app in first["items"] + second["items"]] == newest_first
    assert second["next_cursor"] is None
    assert [app["app_id"] for app in narrow["items"]] == [newest_first[1]]


@pytest.mark.parametrize("query", [{"cursor": "x"}, {"cursor": ""}, {"limit": "0"}, {"limit": "101"}, {"limit": "a"}])
def test_a_page_that_is_none_is_400(query: dict[str, str], person) -> None:
    assert problem(manager(person).get("/apps", **query)) == (400, "invalid_request")


@every_address
@pytest.mark.parametrize("place", PLACES)
def test_calls_are_limited_for_a_person_whichever_token_they_use(
    address: Address, place: str, person, settings
) -> None:
    settings.MANAGEMENT_CALLS_PER_HOUR = 2
    with counts_in(place):
        answers = [call(address, manager(person)) for _ in range(3)]
        unfit = call(address, manager(person), suffix="?bogus=1")
        other = call(address, manager(PersonFactory()))

    assert [answer.status_code == 429 for answer in answers] == [False, False, True]
    assert problem(answers[2]) == (429, "too_many_requests")
    assert 3590 <= int(answers[2]["Retry-After"]) <= 3600
    assert {answer["RateLimit-Policy"] for answer in answers} == {'"management-calls";q=2;w=3600'}
    assert [answer["RateLimit"].split(";t=")[0] for answer in answers] == [
        f'"management-calls";r={left}' for left in (1, 0, 0)
    ]
    assert problem(unfit) == (429, "too_many_requests")  # the limit comes before the query
    assert other["RateLimit"].startswith('"management-calls";r=1')


def test_what_is_refused_before_the_limit_says_what_is_left_and_costs_nothing(person, settings) -> None:
    settings.MANAGEMENT_CALLS_PER_HOUR = 2
    reads = manager(person, permissions={"*": ["read"]})

    refused = reads.post("/apps", {"name": "Trips"})
    nobody = stranger.get("/apps")
    let_in = reads.get("/apps")

    assert (refused.status_code, nobody.status_code, let_in.status_code) == (403, 401, 200)
    assert refused["RateLimit"].startswith('"management-calls";r=2')
    assert not nobody.has_header("RateLimit")
    assert let_in["RateLimit"].startswith('"management-calls";r=1')


def test_no_limit_where_it_is_switched_off(person, settings) -> None:
    settings.MANAGEMENT_CALLS_PER_HOUR = 0

    assert not manager(person).get("/apps").has_header("RateLimit")
