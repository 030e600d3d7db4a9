"""Staff's lists among many rows: how far they look, and, on PostgreSQL, how many rows each reads."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts import staff_lists
from accounts.models import User
from accounts.staff_lists import BoundedList, SearchedByIndex
from bench import multitude
from tests import factories
from tests.admin.test_lists import SMALL
from tests.staff import at_the_admin

pytestmark = pytest.mark.django_db

PEOPLE, BOUND = 1500, 60
# more than a page and a bound of the largest, and far less than there are of the smallest
MOST_READ = 700
GROWING = sorted(
    (model._meta.app_label, model._meta.model_name)
    for model, registered in admin.site._registry.items()
    if isinstance(registered, SearchedByIndex) and model._meta.label not in SMALL
)


def list_of(page: Client, path: str, **query: str) -> Any:
    answer = page.get(path, query)
    assert answer.status_code == 200
    return answer.context_data["cl"]  # type: ignore[attr-defined]


def test_every_list_that_grows_with_people_shows_the_newest_rows_first_and_bounds_its_filters() -> None:
    """An index serves the primary key; any other order would sort all rows."""
    for model, registered in admin.site._registry.items():
        if (model._meta.app_label, model._meta.model_name) in GROWING:
            order = ("handled_at", "created_at") if model._meta.model_name == "appreport" else ("-id",)
            request = RequestFactory().get("/")
            assert tuple(registered.get_ordering(request)) == order, model
            assert issubclass(registered.get_changelist(request), BoundedList), model
            assert registered.date_hierarchy is None, model
            assert not registered.show_full_result_count, model


def test_a_filter_looks_among_the_newest_rows_and_says_so(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    oldest, *others = (factories.GrantFactory() for _ in range(6))
    revoked = factories.GrantFactory(status="revoked", ended_at=oldest.starts_at, ended_by="person")
    monkeypatch.setattr(staff_lists, "MOST_FILTERED", 3)
    path = "/admin/consent/grant/"

    filtered = list_of(page, path, status__exact="revoked")
    served = list_of(page, path, status__exact="active")
    searched = list_of(page, path, status__exact="active", q=oldest.grant_id)

    assert (list(filtered.result_list), filtered.only_newest) == ([revoked], 3)
    assert (len(served.result_list), served.only_newest) == (6, 0)
    assert (list(searched.result_list), searched.only_newest) == ([oldest], 0)
    shown = page.get(path, {"status__exact": "revoked"}).content.decode()
    assert "Filters look among the newest 3." in shown
    assert "Filters look" not in page.get(path).content.decode()
    assert others


def test_a_filter_of_nothing_and_of_few_rows_looks_at_all(page: Client) -> None:
    assert list_of(page, "/admin/consent/grant/", status__exact="revoked").only_newest == 0
    factories.GrantFactory()
    assert list_of(page, "/admin/consent/grant/", status__exact="revoked").only_newest == 0


def choices(registered: Any, member: User, path: str) -> list[str]:
    request = RequestFactory().get(path)
    request.user = member
    shown = registered.get_changelist_instance(request)
    return [choice["query_string"] for spec in shown.filter_specs for choice in spec.choices(shown)]


def searches(model: Any, registered: Any) -> Iterator[str]:
    for field in registered.search_fields:
        holds, names = model, field.lstrip("=^").split("__")
        for step in names[:-1]:
            holds = holds._meta.get_field(step).related_model
        yield str(holds._default_manager.order_by("-pk").values_list(names[-1], flat=True).first() or "nothing")


def rows_read(plan: dict[str, Any]) -> int:
    """The most rows that any part of this plan looked at, found or not, in all its turns."""
    own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return max([own, *map(rows_read, plan.get("Plans", ()))])


def most_read(table: str, queries: list[dict[str, str]]) -> tuple[int, str]:
    found = [(0, "")]
    with connection.cursor() as cursor:
        for query in queries:
            if query["sql"].startswith("SELECT") and f'FROM "{table}"' in query["sql"]:
                cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + query["sql"].replace("%", "%%"), [])
                told = cursor.fetchone()[0]
                plan = json.loads(told) if isinstance(told, str) else told
                found.append((rows_read(plan[0]["Plan"]), query["sql"]))
    return max(found)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="rows in such numbers are PostgreSQL's")
@pytest.mark.slow(reason="fills a database with some thousands of people and looks at every plan")
def test_no_list_filter_or_search_reads_more_rows_than_it_shows_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    multitude.fill(multitude.cast(), PEOPLE)
    monkeypatch.setattr(staff_lists, "MOST_COUNTED", BOUND)
    monkeypatch.setattr(staff_lists, "MOST_FILTERED", BOUND)
    member = factories.StaffFactory(is_superuser=True)
    page = at_the_admin(member)

    greedy = []
    for model, registered in admin.site._registry.items():
        label = (model._meta.app_label, model._meta.model_name)
        path = f"/admin/{label[0]}/{label[1]}/"
        if label not in GROWING:
            continue
        searched = [f"?q={text}" for text in searches(model, registered)]
        for query in ["", *dict.fromkeys(choices(registered, member, path)), *searched]:
            with CaptureQueriesContext(connection) as captured:
                assert page.get(path + query).status_code == 200
            read, sql = most_read(model._meta.db_table, list(captured.captured_queries))
            if read > MOST_READ:
                greedy.append((path + query, read, sql))

    assert [f"{path} reads {read} rows: {sql[:300]}" for path, read, sql in greedy] == []
