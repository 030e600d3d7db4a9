"""What an app asked and took back itself is one line a day: nobody's history is flooded by somebody else."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from consent.decisions import actions as decision_actions
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry
from consent.requests import actions as request_actions
from tests.factories import AppFactory, ConsentRequestFactory, StaffFactory


def taken_back(person, app, count):
    for _ in range(count):
        request = ConsentRequestFactory(user=person, app=app)
        decision_actions.end_consent(app_pk=app.pk, request_id=request.request_id)


def titles(owner, **query):
    return page_of(owner, **query)[0]


def page_of(owner, **query):
    """The titles of a page, and where the next one goes on."""
    answer = owner.get("/consent/history/", **query)
    assert answer.status_code == 200
    found = re.findall(r'<p class="event-title">(.*?)</p>', answer.content.decode())
    return [re.sub(r"<[^>]+>", "", title) for title in found], answer.context["page"].older


@pytest.fixture
def app(db):
    return AppFactory(name="Nagging App")


def test_a_hundred_pairs_are_one_line(owner, person, app):
    denied = ConsentRequestFactory(user=person)
    decision_actions.deny(request_id=denied.request_id, by=person)
    taken_back(person, app, 100)

    shown = titles(owner)

    assert shown == [
        "Nagging App asked you and took it back, 100 times that day",
        f"You denied “Food and drink” to {denied.app.name}",
    ]
    assert shown == titles(owner, kind="decisions")
    assert titles(owner, app=app.app_id) == shown[:1]
    assert page_of(owner) == (shown, "")
    assert owner.get("/consent/history/").content.decode().count(f"/consent/apps/{app.app_id}/") == 1
    assert len(owner.get("/consent/history/file/", format="json").getvalue().splitlines()) > 100  # a file keeps all
    assert list(verifying.verify()) == []


def test_what_was_taken_back_pushes_no_decision_out_of_the_inbox(owner, person, app):
    denied = ConsentRequestFactory(user=person)
    decision_actions.deny(request_id=denied.request_id, by=person)
    taken_back(person, app, 10)

    said = owner.get("/consent/").content.decode()

    assert denied.request_id in said
    assert "Nagging App" not in said


def test_apps_that_take_turns_are_folded_and_what_is_one_stays_as_it_is(owner, person, app):
    other = AppFactory(name="Another App")
    for _ in range(3):
        taken_back(person, app, 1)
        taken_back(person, other, 1)
    taken_back(person, AppFactory(name="Once"), 1)

    assert titles(owner) == [
        "Once's request for “Food and drink” was cancelled".replace("'", "&#x27;"),
        "Another App asked you and took it back, 3 times that day",
        "Nagging App asked you and took it back, 3 times that day",
    ]


def test_what_blocking_or_staff_cancelled_is_told_one_by_one(owner, person, app):
    taken_back(person, app, 2)
    ConsentRequestFactory.create_batch(2, user=person, app=app)
    request_actions.cancel_requests_of(app_pk=app.pk, by=StaffFactory())

    assert len(titles(owner)) == 3


def test_days_are_folded_by_themselves_and_pages_go_on(owner, person, app):
    """Forty-five days of two pairs each: forty-five lines on two pages."""
    chain = audit.person_chain(person.public_id)
    request = ConsentRequestFactory(user=person, app=app)
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for number in range(90):
        audit.append(
            chain=chain, kind="cancelled", actor="app", at=noon + timedelta(days=number // 2),
            facts={"request_id": request.request_id, "app_id": app.app_id, "grant_id": None},
        )  # fmt: skip

    newest, older = page_of(owner)
    oldest, end = page_of(owner, older=older)
    pages = [newest, oldest]

    assert ([len(page) for page in pages], end) == ([40, 5], "")
    assert {line for page in pages for line in page} == {
        f"{request.app_name} asked you and took it back, 2 times that day"
    }
    assert AuditEntry.objects.count() == 90
