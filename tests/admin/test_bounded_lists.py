"""Staff's lists among many rows: how far they look."""

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client, RequestFactory

from accounts import staff_lists
from accounts.staff_lists import BoundedList, SearchedByIndex
from tests import factories
from tests.admin.test_lists import SMALL

pytestmark = pytest.mark.django_db

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
