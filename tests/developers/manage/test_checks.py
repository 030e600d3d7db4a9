"""The checks of contract 1.1 at every management address, in their order."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from developers.models import ManagementToken
from tests.callers import API, Developer, JsonClient, manager, signed_in
from tests.consent.api.addresses import problem
from tests.counts import PLACES, counts_in
from tests.developers.manage.addresses import ADDRESSES, Address, name_of
from tests.factories import ManagementTokenFactory, MemberFactory, PersonFactory

every_address = pytest.mark.parametrize("address", ADDRESSES, ids=name_of)
stranger = JsonClient(Client(), prefix=f"{API}/manage")


@every_address
def test_a_management_token_gets_through_in_the_header(address: Address, person) -> None:
    assert address.call(manager(person)).status_code not in (401, 403, 405)


@every_address
def test_in_the_query_it_is_refused(address: Address, person) -> None:
    token = ManagementTokenFactory(user=person).secret

    assert problem(address.call(stranger, suffix=f"?token={token}")) == (401, "invalid_token")
    assert problem(address.call(manager(person), suffix=f"?token={token}")) == (400, "invalid_request")


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
    answer = address.call(stranger, headers=headers, body=b"not json", media_type="text/plain")

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

    assert problem(address.call(stranger, headers={"Authorization": f"Bearer {token}"})) == (401, "invalid_token")


@every_address
def test_tokens_of_apps_open_nothing_here_and_a_management_token_nothing_there(
    address: Address, api: Developer, person
) -> None:
    there = JsonClient(Client(), prefix=API, headers=manager(person).headers)

    assert problem(address.call(JsonClient(Client(), prefix=f"{API}/manage", headers=api.headers))) == (
        401, "invalid_token",
    )  # fmt: skip
    assert problem(there.get("/scope-catalog")) == (401, "invalid_token")
    assert problem(there.get("/scope-catalog", token=there.headers["Authorization"].split()[1])) == (
        400, "invalid_request",
    )  # fmt: skip


@every_address
def test_a_session_opens_nothing_here(address: Address, person) -> None:
    browser = JsonClient(signed_in(person).client, prefix=f"{API}/manage")

    assert problem(address.call(browser)) == (401, "invalid_token")


@every_address
@pytest.mark.parametrize("header", ["Origin", "Sec-Fetch-Site"])
def test_a_call_from_a_web_page_is_refused_before_its_token_is_looked_at(address: Address, header: str, db) -> None:
    answer = address.call(stranger, headers={header: "https://app.example"})

    assert problem(answer) == (403, "browser_path_refused")
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


@every_address
def test_a_method_that_it_does_not_take_is_405_for_everybody(address: Address, db: None) -> None:
    answer = address.call(stranger, method="PUT")

    assert problem(answer) == (405, "method_not_allowed")
    assert address.method in answer["Allow"]


@every_address
@pytest.mark.parametrize("permissions", [{}, {"*": []}, {"app_unknown": []}])
def test_a_token_without_the_permission_is_403(address: Address, permissions, person) -> None:
    answer = address.call(manager(person, permissions=permissions), body=b"not json", media_type="text/plain")

    assert problem(answer) == (403, "insufficient_scope")


@every_address
def test_a_token_with_the_other_permission_alone_is_403(address: Address, person) -> None:
    other = "write" if address.permission == "read" else "read"

    assert problem(address.call(manager(person, permissions={"*": [other]}))) == (403, "insufficient_scope")


@every_address
def test_what_an_address_does_not_know_is_refused(address: Address, person) -> None:
    assert problem(address.call(manager(person), suffix="?bogus=1")) == (400, "invalid_request")


@every_address
def test_fifty_calls_are_answered_alike(address: Address, person) -> None:
    caller = manager(person)

    answers = [address.call(caller).status_code for _ in range(50)]

    # nobody owns more than twenty test apps
    assert answers == ([201] * 20 + [400] * 30 if name_of(address) == "POST /apps" else [answers[0]] * 50)


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
        answers = [address.call(manager(person)) for _ in range(3)]
        unfit = address.call(manager(person), suffix="?bogus=1")
        other = address.call(manager(PersonFactory()))

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
