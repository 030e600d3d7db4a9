"""`GET /people`: the directory of those who let apps find them (contract 1.6)."""

from typing import Any

import pytest
from django.db import connection

from accounts.public_profile.queries import listed_profiles
from consent import shapes
from consent.discovery.models import DirectoryFind
from developers.models import App
from tests.callers import Developer
from tests.consent.api.addresses import problem
from tests.contract.test_shapes import fits
from tests.counts import forget_all
from tests.factories import (
    AppFactory,
    BlockedAppFactory,
    ListedPersonFactory,
    MemberFactory,
    PublicProfileFactory,
    SandboxPersonFactory,
    TestAppFactory,
)

pytestmark = pytest.mark.django_db


def listed(handle: str, name: str = "", **fields: Any) -> Any:
    return ListedPersonFactory(handle=handle, display_name=name, **fields)


def handles(api: Developer, **query: Any) -> list[str]:
    answer = api.get("/people", **query)
    assert answer.status_code == 200, answer.content
    return [person["handle"] for person in answer.json()["people"]]


@pytest.fixture
def test_api() -> Developer:
    return Developer.of(TestAppFactory())


def test_it_tells_what_the_person_typed_and_no_id(api: Developer) -> None:
    listed("zoe-q", "Zoë Q", headline="Plans journeys", location_hint="Turku")

    answer = api.get("/people", query="zoe")

    fits(shapes.FoundPeople, answer.content)
    assert answer.json() == {
        "people": [
            {
                "handle": "zoe-q",
                "display_name": "Zoë Q",
                "headline": "Plans journeys",
                "location_hint": "Turku",
            }
        ],
        "next_cursor": None,
    }


def test_only_those_whose_page_is_on_and_who_allow_it_are_listed(api: Developer) -> None:
    PublicProfileFactory(handle="shown-only", is_discoverable=True)
    ListedPersonFactory(handle="switched-off", is_discoverable=False)
    listed("locked-out", user__is_active=False)
    listed("found")

    assert handles(api) == ["found"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("zo", ["zoe", "anna"]),
        ("ZO", ["zoe", "anna"]),
        ("zoë m", ["anna"]),
        ("ZOË", ["anna"]),
        ("zoe\u0308", ["anna"]),
        ("strasse", ["mia"]),
        ("STRASSE", ["mia"]),
        ("ann", ["anna"]),
        ("nna", []),
        ("müller", []),
        ("%", []),
        ("_", []),
        ("z%", []),
        ("100%", ["kim"]),
        ("\\", []),
        ("'", []),
        ("🚂", ["train"]),
    ],
)
def test_a_handle_or_a_name_begins_with_what_is_looked_for(api: Developer, query: str, found: list[str]) -> None:
    listed("zoe", "Quinn")
    listed("anna", "Zoë Müller")
    listed("mia", "Straße")
    listed("kim", "100% Kim")
    listed("train", "🚂 fan")

    assert handles(api, query=query) == found


def test_pages_follow_one_another_without_a_gap_or_a_repetition(api: Developer) -> None:
    for number in range(7):
        listed(f"zoe-{number}")
    seen, cursor = [], {}
    while True:
        answer = api.get("/people", query="zoe", limit=3, **cursor).json()
        seen += [person["handle"] for person in answer["people"]]
        if answer["next_cursor"] is None:
            break
        listed(f"zoe-more-{len(seen)}")  # who comes meanwhile comes last
        cursor = {"cursor": answer["next_cursor"]}

    assert seen[:7] == [f"zoe-{number}" for number in range(7)]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0}, {"limit": 101}, {"limit": "x"}, {"query": ""}, {"query": " "}, {"query": "z" * 101},
        {"query": "z\u202e"}, {"query": "z\x00"}, {"cursor": "!"}, {"cursor": ""}, {"bogus": 1},
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(api: Developer, query: dict[str, Any]) -> None:
    assert problem(api.get("/people", **query)) == (400, "invalid_request")


@pytest.mark.usefixtures("one_day")
def test_a_find_is_kept_for_the_person_once_a_day(api: Developer) -> None:
    zoe = listed("zoe").user
    listed("kim")

    handles(api, query="zo")
    handles(api, query="zo")

    kept = DirectoryFind.objects.values_list("app__app_id", "user__public_id")
    assert list(kept) == [(api.app.app_id, zoe.public_id)]


# --- whom an app reaches ----------------------------------------------------------------------------------------------


def test_who_blocked_the_app_is_not_found_by_it_alone(api: Developer) -> None:
    made = listed("zoe")
    BlockedAppFactory(user=made.user, app=api.app)
    BlockedAppFactory(user=listed("kim").user)  # another app

    assert handles(api) == ["kim"]


def test_a_live_app_finds_no_sandbox_person(api: Developer) -> None:
    listed("played", user=SandboxPersonFactory().user)

    assert handles(api) == []


def test_to_a_test_app_there_are_its_own_people_and_the_members_who_agreed(test_api: Developer) -> None:
    app = test_api.app
    listed("stranger")
    listed("own", user=SandboxPersonFactory(app=app).user)
    listed("of-another", user=SandboxPersonFactory().user)
    agreed = MemberFactory(app=app, agreed_to_tests_at="2026-11-20T10:00:00Z").user
    MemberFactory(user=agreed, agreed_to_tests_at="2026-11-20T10:00:00Z")
    listed("agreed", user=agreed)
    listed("silent", user=MemberFactory(app=app).user)
    listed("elsewhere", user=MemberFactory(agreed_to_tests_at="2026-11-20T10:00:00Z").user)

    assert handles(test_api) == ["own", "agreed"]


# --- the limit, and the index -----------------------------------------------------------------------------------------


def test_an_app_searches_so_often_in_an_hour(api: Developer, settings: Any) -> None:
    settings.PEOPLE_SEARCHES_PER_HOUR = 2
    forget_all()
    first, _second, third = (api.get("/people") for _ in range(3))

    assert first["RateLimit-Policy"] == '"people-searches";q=2;w=3600'
    assert first["RateLimit"].startswith('"people-searches";r=1;t=')
    assert problem(third) == (429, "too_many_requests")
    assert 0 < int(third["Retry-After"]) <= 3600
    other = Developer.of(AppFactory())
    assert other.get("/people").status_code == 200


def test_a_refusal_before_the_limit_says_where_it_stands(app: App) -> None:
    answer = Developer.of(app, permissions=["read"]).get("/people")

    assert answer["RateLimit-Policy"] == '"people-searches";q=600;w=3600'


def test_a_search_uses_the_indexes_of_both_names(api: Developer) -> None:
    plan = listed_profiles("zoe")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # of a few rows PostgreSQL reads them all
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_indexscan = off")
            cursor.execute("SET LOCAL enable_nestloop = on")
        assert plan.order_by().explain().count("_like") == 2
    else:
        assert plan.explain().count("SEARCH marketplace_public_profiles USING") >= 2
