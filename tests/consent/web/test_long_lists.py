"""Lists that have grown long: as many queries as short ones, and each entry once, whatever happens meanwhile."""

import re
from datetime import datetime, timedelta

import orjson
import pytest
from django.db import connection
from django.urls import reverse

from consent.ledger import audit
from consent.ledger.models import AuditEntry
from tests.factories import (
    AppFactory,
    ConsentRequestFactory,
    DirectoryFindFactory,
    DiscoveryFactory,
    ExportFactory,
    GrantFactory,
    ReadFactory,
    StaffFactory,
)
from tests.factories.consent_requests import now

INBOX = reverse("consent:inbox")


def yesterday():
    """Its last minute: like lines of one day are one, so how many there are may not depend on the hour of the day."""
    return now().replace(hour=0, minute=0, second=0) - timedelta(minutes=1)


def happens(person, app, times, *, before=timedelta()):
    """Each kind of line of the history so many times, an hour apart, with times that are alike among them."""
    newest = yesterday() - before
    request = ConsentRequestFactory(user=person, app=app, status="denied")
    grants = [GrantFactory(request__user=person, request__app=app, scope=f"attr.food{n}.*") for n in range(2)]
    exports = [ExportFactory(grant=grant) for grant in grants]
    chain, staff = audit.person_chain(person.public_id), StaffFactory()
    facts = {"request_id": request.request_id, "app_id": app.app_id, "grant_id": None}
    looked = {"by": staff.public_id, "what": "grant", "page": "/"}
    new = []
    for number in reversed(range(times)):
        at = newest - timedelta(hours=number)
        for export in exports:
            ReadFactory(export=export, at=at)
        new += [
            audit.NewEntry(chain=chain, kind="denied", actor="person", at=at, facts=facts),
            audit.NewEntry(chain=chain, kind="app_blocked", actor="person", at=at, facts={"app_id": app.app_id}),
            audit.NewEntry(chain=chain, kind="cancelled", actor="app", at=at, facts=facts),
            audit.NewEntry(chain=chain, kind="staff_viewed", actor="staff", at=at, facts=looked),
        ]
    audit.append_all(new)
    for number in range(min(times, 60)):
        at = newest - timedelta(days=number)
        DiscoveryFactory(user=person, app=app, day=at.date(), first_at=at, last_at=at)
        DirectoryFindFactory(user=person, app=app, day=at.date(), at=at)


def walked(owner, **query):
    """The lines of all pages, newest first."""
    lines, older = [], ""
    while True:
        page = owner.get("/consent/history/", older=older, **query).context["page"]
        lines += page.lines
        if not page.older:
            return lines
        older = page.older


def clock_queries(times):
    """How many queries it takes to ask the database's clock so many times: SQLite's is that of this process."""
    return times if connection.vendor == "postgresql" else 0


def in_file(owner, **query):
    answer = owner.get("/consent/history/file/", format="json", **query)
    return orjson.loads(b"".join(answer.streaming_content))["history"]


@pytest.mark.parametrize("times", [30, 200])
def test_pages_take_as_many_queries_however_long_the_history_is(owner, person, app, times, django_assert_num_queries):
    happens(person, app, times)
    older = owner.get("/consent/history/").context["page"].older  # of thirty there are two full pages, too

    for query, expected in (({}, 23), ({"older": older}, 23), ({"kind": "reads"}, 16), ({"app": app.app_id}, 20)):
        with django_assert_num_queries(expected + clock_queries(1)):
            assert owner.get("/consent/history/", **query).context["page"].lines


@pytest.mark.parametrize("kind", ["", "decisions", "reads", "discoveries", "ends"])
def test_walking_tells_each_line_once_and_in_order(owner, person, app, kind):
    happens(person, app, 30)
    other = ExportFactory(grant=GrantFactory(request__user=person))
    for number in range(40):
        ReadFactory(export=other, at=now() - timedelta(minutes=50 * number))

    lines = walked(owner, kind=kind)

    newest_first = sorted((line.at for line in lines), reverse=True)
    assert [line.at for line in lines] == newest_first
    in_one = {(line["at"], line["what"], line["request_id"]) for line in in_file(owner, kind=kind)}
    folded = [line for line in lines if "took it back" in line.title]
    others = [line for line in lines if line not in folded]
    assert {(line.title, line.request_id) for line in others} <= {(what, request) for _, what, request in in_one}
    if kind in ("reads", "discoveries"):
        assert sum(line.times for line in lines) == len(in_file(owner, kind=kind))
    if kind == "reads":
        assert sum(line.times for line in lines if line.kind == "read") == 100  # two of each hour and those forty


def test_what_happens_while_somebody_turns_pages_moves_nothing(owner, person, app):
    happens(person, app, 30)
    expected = walked(owner)

    lines, older = [], ""
    while True:
        page = owner.get("/consent/history/", older=older).context["page"]
        lines += page.lines
        if not page.older:
            break
        older = page.older
        happens(person, AppFactory(), 1, before=-timedelta(seconds=len(lines)))

    assert lines == expected


@pytest.mark.usefixtures("one_day")
def test_a_day_that_goes_on_keeps_its_place(owner, person, app):
    """What adds up over a day grows where it stands."""
    happens(person, app, 3)
    request = ConsentRequestFactory(user=person, app=app, status="denied")
    before = [line.kind for line in walked(owner)]

    audit.append(
        chain=audit.person_chain(person.public_id), kind="cancelled", actor="app", at=yesterday() - timedelta(hours=1),
        facts={"request_id": request.request_id, "app_id": app.app_id, "grant_id": None},
    )  # fmt: skip

    assert [line.kind for line in walked(owner)] == before


def test_the_file_has_every_entry_of_a_long_history_once(owner, person, app):
    happens(person, app, 260)  # more of a source than are read at once

    lines = in_file(owner)

    expected = AuditEntry.objects.of(audit.person_chain(person.public_id)).exclude(kind="staff_viewed").count()
    chained = [line for line in lines if line["kind"] in ("denied", "app_blocked", "cancelled")]
    assert (len(chained), len([line for line in lines if line["kind"] == "read"])) == (expected, 520)
    times = [datetime.fromisoformat(line["at"]) for line in lines]
    assert times == sorted(times, reverse=True)


# --- sharing and the inbox --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [25, 100])
def test_an_app_takes_as_many_queries_however_much_it_can_read(owner, person, app, times, django_assert_num_queries):
    for number in range(times):
        made = GrantFactory(request__user=person, request__app=app, scope=f"attr.lifestyle.food{number}.*")
        ExportFactory(grant=made)

    with django_assert_num_queries(32 + clock_queries(1)):
        assert owner.get(f"/consent/apps/{app.app_id}/").status_code == 200


def walked_ids(owner, path, pattern, key="older_url"):
    found, query = [], ""
    while True:
        answer = owner.client.get(path + query)
        found.append(re.findall(pattern, answer.content.decode()))
        query = answer.context[key]
        if not query:
            return found


def of_one_app(person, app, times):
    return [GrantFactory(request__user=person, request__app=app, scope=f"attr.food{n}.*") for n in range(times)]


def test_each_approval_is_on_one_page_and_a_link_finds_it(owner, person, app):
    grants, here = of_one_app(person, app, 18), f"/consent/apps/{app.app_id}/"

    pages = walked_ids(owner, here, r'<article class="approval" id="(grt_\w+)"')

    assert [len(page) for page in pages] == [8, 8, 2]
    assert [one for page in pages for one in page] == [grant.grant_id for grant in reversed(grants)]
    led = owner.client.get("/consent/grants/", {"grant": grants[0].grant_id})
    assert led["Location"] == f"{here}?grant={grants[0].grant_id}#{grants[0].grant_id}"
    assert [shared.grant for shared in owner.client.get(led["Location"]).context["live"]] == grants[:1]
    newest = owner.get(here, grant=grants[-1].grant_id)
    assert (newest.context["newest_url"], newest.context["live"][0].grant) == ("", grants[-1])


@pytest.mark.parametrize("query", [{"older": "x"}, {"older": "0-0"}, {"grant": "grt_nobody"}, {"older": "1-1"}])
def test_an_app_from_a_strange_place_shows_the_newest(owner, person, query):
    mine, theirs = GrantFactory(request__user=person), GrantFactory()

    for parameters in (query, {"grant": theirs.grant_id}):
        shown = owner.get(f"/consent/apps/{mine.app.app_id}/", **parameters)
        assert (shown.context["live"][0].grant, shown.context["newest_url"]) == (mine, "")
        assert owner.client.get("/consent/grants/", parameters)["Location"] == "/consent/apps/"


def test_each_request_that_waits_is_on_one_page_of_the_inbox(owner, person):
    requests = [ConsentRequestFactory(user=person) for _ in range(45)]

    pages = walked_ids(owner, INBOX, r'class="stretched only-narrow" href="/consent/requests/(req_\w+)/"')

    assert [len(page) for page in pages] == [20, 20, 5]
    assert [one for page in pages for one in page] == [request.request_id for request in reversed(requests)]
    assert "45</span>" in owner.get(INBOX).content.decode()


@pytest.mark.parametrize("older", ["x", "1-1", "\x00", "9" * 30])
def test_the_inbox_from_a_strange_place_shows_the_newest(owner, person, older):
    request = ConsentRequestFactory(user=person)

    shown = owner.get(INBOX, older=older)

    assert (shown.context["pending"], shown.context["newest_url"]) == ([request], "")


@pytest.mark.parametrize("microseconds", [253_402_300_799_999_999, 253_370_764_799_999_999])
def test_a_place_at_the_end_of_time_is_a_page(owner, microseconds):
    assert owner.get("/consent/history/", older=f"{microseconds}-1").status_code == 200
