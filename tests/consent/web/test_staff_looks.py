"""Staff's looks in a person's history: one line for each member and day, while the chain keeps every one of them."""

from datetime import timedelta

import orjson
import pytest
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from common.clock import database_now
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry
from tests.factories import ConsentRequestFactory, StaffFactory
from tests.staff import at_the_admin

LINE = "A member of our staff looked at records about you"


def looks(person, staff, *kinds, days_ago=0, later=0):
    noon = database_now().replace(hour=12) - timedelta(days=days_ago, seconds=-later)
    for place, kind in enumerate(kinds):
        audit.append(
            chain=audit.person_chain(person.public_id), kind="staff_viewed", actor="staff",
            at=noon + timedelta(seconds=place), facts={"by": staff.public_id, "what": kind, "page": "/admin/"},
        )  # fmt: skip


@pytest.fixture
def lines(owner):
    """Asks for the history's file: (title, detail) of each line, newest first."""

    def ask(**query):
        answer = owner.get("/consent/history/file/", format="json", **query)
        found = orjson.loads(b"".join(answer.streaming_content))
        return [(line["what"], line["detail"]) for line in found["history"]]

    return ask


def test_a_list_of_many_people_is_noted_in_as_many_statements_as_one_of_few(db):
    page, counts = at_the_admin(StaffFactory()), []
    for more in (2, 20):
        ConsentRequestFactory.create_batch(more)
        page.get("/admin/consent/consentrequest/")  # names the chains of those who have none
        with CaptureQueriesContext(connection) as made:
            page.get("/admin/consent/consentrequest/")
        counts.append(len(made))

    assert counts[0] == counts[1]
    chains = AuditEntry.objects.filter(kind="staff_viewed").values("chain").annotate(times=Count("pk"))
    assert sorted(one["times"] for one in chains) == [2] * 20 + [4] * 2
    assert list(verifying.verify()) == []


@pytest.mark.usefixtures("one_day")
def test_pages_that_a_member_of_staff_opened_are_one_line(person, lines):
    request, member = ConsentRequestFactory(user=person), StaffFactory()
    page = at_the_admin(member)
    for _ in range(3):
        assert page.get("/admin/consent/consentrequest/").status_code == 200
    assert page.get(f"/admin/consent/consentrequest/{request.pk}/change/").status_code == 200
    assert page.get(f"/admin/accounts/user/{person.pk}/change/").status_code == 200

    assert lines(kind="reads") == [(LINE, "Consent requests, your account. 5 looks that day.")]
    assert AuditEntry.objects.of(audit.person_chain(person.public_id)).filter(kind="staff_viewed").count() == 5
    assert list(verifying.verify()) == []


def test_each_member_and_each_day_has_a_line_of_its_own(person, lines):
    one, other = StaffFactory(), StaffFactory()
    looks(person, one, "grant", days_ago=1)
    looks(person, one, *["grant"] * 40, "a_kind_of_another_version")
    looks(person, other, "receipt", "user", later=60)

    assert [detail for _, detail in lines()] == [
        "Receipts, your account. 2 looks that day.",
        "Grants, other records. 41 looks that day.",
        "Grants. 1 look that day.",
    ]


def test_looks_neither_hide_what_happened_nor_fill_its_pages(person, owner, lines):
    looks(person, StaffFactory(), *["grant"] * 200)
    shown = owner.get("/consent/history/").content.decode()
    assert shown.count(LINE) == 1
    assert "200 looks that day." in shown
    assert lines(kind="decisions") == []
    assert lines(kind="ends") == []


def test_looks_are_of_no_app(person, owner, lines):
    looks(person, StaffFactory(), "grant")
    request = ConsentRequestFactory(user=person)
    assert lines(app=request.app.app_id) == []
