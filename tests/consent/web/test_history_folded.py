"""What an app asked and took back itself is one line a day: nobody's history is flooded by somebody else."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from common.clock import database_now
from consent.decisions import actions as decision_actions
from consent.ledger import audit, verifying
from consent.ledger.models import AuditEntry
from consent.requests import actions as request_actions
from pkm.history.events import record
from pkm.history.models import EventKind
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    ExportFactory,
    GrantFactory,
    ReadFactory,
    StaffFactory,
    give_vault,
)

pytestmark = pytest.mark.usefixtures("one_day")


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

    inbox = owner.get("/consent/inbox/").content.decode()

    assert denied.request_id in inbox
    assert "Nagging App" not in inbox


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
    request_actions.cancel_requests_of_app(app_pk=app.pk, by=StaffFactory())

    assert len(titles(owner)) == 3


def test_days_are_folded_by_themselves_and_pages_go_on(owner, person, app):
    """Thirty days of two pairs each: thirty lines on two pages."""
    chain = audit.person_chain(person.public_id)
    request = ConsentRequestFactory(user=person, app=app)
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    for number in range(60):
        audit.append(
            chain=chain, kind="cancelled", actor="app", at=noon + timedelta(days=number // 2),
            facts={"request_id": request.request_id, "app_id": app.app_id, "grant_id": None},
        )  # fmt: skip

    newest, older = page_of(owner)
    oldest, end = page_of(owner, older=older)
    pages = [newest, oldest]

    assert ([len(page) for page in pages], end) == ([25, 5], "")
    assert {line for page in pages for line in page} == {
        f"{request.app_name} asked you and took it back, 2 times that day"
    }
    assert AuditEntry.objects.count() == 60


# --- reads and own changes --------------------------------------------------------------------------------------------

FOOD = ["lifestyle.food.favourite_cuisine", "lifestyle.food.diet"]


def lines_of(owner, **query):
    return owner.get("/consent/history/", **query).context["page"].lines


def read_at(grant, *times, **of):
    export = ExportFactory(grant=grant, **of)
    for at in times:
        ReadFactory(export=export, at=at)


def test_reads_of_one_day_are_one_line_with_their_count_and_the_names_of_what_was_read(owner, person, app):
    noon = datetime(2026, 1, 10, 12, tzinfo=UTC)
    grant = GrantFactory(request__user=person, request__app=app, approved_attributes=FOOD)
    read_at(grant, *(noon + timedelta(minutes=number) for number in range(14)), noon - timedelta(days=1))

    today, yesterday = lines_of(owner, kind="reads")
    page = re.sub(r"<[^>]+>", "", owner.get("/consent/history/", kind="reads").content.decode())

    assert (today.times, today.at, today.last_at) == (14, noon, noon + timedelta(minutes=13))
    assert (yesterday.times, yesterday.names) == (1, today.names)
    assert f"{grant.request.app_name} read “Food and drink” · 14 times" in page
    assert ", ".join(today.names) in page
    assert len(today.names) == 2


def test_names_are_of_what_the_revision_held(owner, person, app):
    grant = GrantFactory(request__user=person, request__app=app, approved_attributes=FOOD)
    read_at(grant, datetime(2026, 1, 10, 12, tzinfo=UTC), approved_attributes=FOOD[:1])

    assert len(lines_of(owner, kind="reads")[0].names) == 1


def test_days_are_those_of_where_the_browser_is(owner, person, app):
    """Nine and eleven in Greenwich are two days in Auckland."""
    grant = GrantFactory(request__user=person, request__app=app)
    read_at(grant, *(datetime(2026, 1, 10, hour, tzinfo=UTC) for hour in (9, 11)))

    in_greenwich = lines_of(owner, kind="reads")
    owner.client.cookies["zone"] = "Pacific/Auckland"
    answer = owner.get("/consent/history/", kind="reads")

    assert [line.times for line in in_greenwich] == [2]
    days = [day.isoformat() for day, _ in answer.context["page"].days]
    assert days == ["2026-01-11", "2026-01-10"]
    assert [line.times for line in lines_of(owner, kind="reads", since="2026-01-11")] == [1]
    assert answer.context["chosen"].zone == ZoneInfo("Pacific/Auckland")


@pytest.mark.parametrize("zone", ["", "x", "../../etc/passwd", "Europe/Nowhere", "A" * 4000, "\u00e4", "posixrules"])
def test_a_zone_that_is_none_is_greenwich(owner, person, app, zone):
    owner.client.cookies["zone"] = zone
    read_at(GrantFactory(request__user=person, request__app=app), datetime(2026, 1, 10, 23, tzinfo=UTC))

    assert [day.isoformat() for day, _ in owner.get("/consent/history/").context["page"].days] == ["2026-01-10"]


def test_a_day_with_more_reads_than_are_looked_at_once_is_counted_whole(owner, person, app, monkeypatch):
    monkeypatch.setattr("consent.web.history_sources._AT_ONCE", 7)
    noon = datetime(2026, 1, 10, 12, tzinfo=UTC)
    for days in range(30):  # of two approvals
        for _ in range(2):
            times = [noon - timedelta(days=days, minutes=number) for number in range(5)]
            read_at(GrantFactory(request__user=person), *times)

    newest = owner.get("/consent/history/", kind="reads").context["page"]
    older = lines_of(owner, kind="reads", older=newest.older)

    assert [line.times for line in newest.lines] == [5] * 25
    assert [line.at for line in newest.lines + older] == sorted(
        (line.at for line in newest.lines + older), reverse=True
    )
    assert len({(line.at, line.request_id) for line in newest.lines + older}) == 50


def test_own_changes_are_in_words_and_folded(owner, person):
    give_vault(person)
    place = {"domain": "lifestyle", "segment_id": "food"}
    for revision in range(3):
        record(person, EventKind.SEGMENT_WRITTEN, **place, content_revision=revision + 2, size_bytes=0)
    record(person, EventKind.SCOPE_HIDDEN, scope="attr.lifestyle.*")
    record(person, EventKind.WRAPPER_ADDED, wrapper_id="wrp_a", kind="passkey")

    changes = lines_of(owner, kind="changes")
    security = lines_of(owner, kind="security")

    assert [(line.title, line.times) for line in changes] == [
        ("Hidden from apps: Lifestyle: everything", 1), ("Saved: Food and drink", 4),
    ]  # fmt: skip
    assert [(line.title, line.detail) for line in security] == [
        ("A way to unlock was added", "Passkey"), ("Your vault was set up", ""),
    ]  # fmt: skip
    kept = owner.get("/consent/history/file/", format="csv", kind="changes").getvalue().decode()
    assert kept.count("Saved: Food and drink") == 4
    assert "Saved" not in str([line.title for line in lines_of(owner, kind="reads")])


# --- days and words ---------------------------------------------------------------------------------------------------


def test_days_bound_every_source(owner, person, app):
    inside, outside = datetime(2026, 1, 10, 12, tzinfo=UTC), datetime(2026, 1, 12, 0, tzinfo=UTC)
    grant = GrantFactory(request__user=person, request__app=app)
    read_at(grant, inside, outside)
    facts = {"request_id": grant.request.request_id, "app_id": app.app_id, "grant_id": None}
    for at in (inside, outside):
        audit.append(chain=audit.person_chain(person.public_id), kind="denied", actor="person", at=at, facts=facts)

    for query in ({"since": "2026-01-10", "until": "2026-01-11"}, {"until": "2026-01-10", "since": "2026-01-11"}):
        assert {line.at for line in lines_of(owner, **query)} == {inside}
        assert len(lines_of(owner, **query)) == 2
    assert {line.at for line in lines_of(owner, since="2026-01-12")} == {outside}
    file = owner.get("/consent/history/file/", format="json", until="2026-01-11").getvalue()
    assert file.count(b'"at":') == 2


@pytest.mark.parametrize("day", ["x", "0001-01-01", "9999-12-31", "10.01.2026", "\x00", "2026-02-30"])
def test_a_day_that_is_none_bounds_nothing(owner, person, app, day):
    read_at(GrantFactory(request__user=person, request__app=app), datetime(2026, 1, 10, 12, tzinfo=UTC))

    assert len(lines_of(owner, since=day, until=day)) == 1


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("nagging", {"read", "denied", "app_blocked"}),
        ("NAGGING denied", {"denied"}),
        ("food", {"read", "denied", "changed"}),
        ("cuisine", {"read"}),
        ("blocked", {"app_blocked"}),
        ("saved", {"changed"}),
        ("unlock added", {"unlocking_changed"}),
        ("nothing like that", set()),
        ("100%", set()),
    ],
)
def test_words_are_found_in_apps_data_and_what_happened(owner, person, app, words, found):
    vault = give_vault(person)
    record(vault.user, EventKind.WRAPPER_ADDED, wrapper_id="wrp_a", kind="passkey")
    read_at(GrantFactory(request__user=person, request__app=app, approved_attributes=FOOD), database_now())
    denied = ConsentRequestFactory(user=person, app=app)
    decision_actions.deny(request_id=denied.request_id, by=person)
    facts = {"app_id": app.app_id}
    chain = audit.person_chain(person.public_id)
    audit.append(chain=chain, kind="app_blocked", actor="person", at=database_now(), facts=facts)
    decision_actions.deny(request_id=ConsentRequestFactory(user=person, scope="attr.contact.*").request_id, by=person)

    assert {line.kind.value for line in lines_of(owner, q=words)} == found


def test_who_read_what_last_week_is_one_link(owner, person, app, monkeypatch):
    today = database_now()
    monkeypatch.setattr("consent.web.views.database_now", lambda: today)  # a week may end while this runs
    last_week = today - timedelta(days=today.weekday() + 3)
    read_at(GrantFactory(request__user=person, request__app=app), last_week, last_week - timedelta(days=7), today)

    answer = owner.get("/consent/history/")
    _, query = re.search(r'<a href="(\?[^"]+)">Who read what last week', answer.content.decode()).group(1).split("?")
    shown = owner.client.get("/consent/history/?" + query.replace("&amp;", "&"))

    assert "1 app read your data 1 time last week." in answer.content.decode()
    assert [line.at for line in shown.context["page"].lines] == [last_week]
    assert [link.label for link in shown.context["presets"] if link.current] == ["Last week"]
