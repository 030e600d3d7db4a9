"""The overview and the list of apps: one row for each, a page at a time, and nothing of anybody else's."""

import re
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ActorProfile, User
from common.clock import database_now
from consent.decisions import unused
from consent.exports.models import Read
from consent.grants.models import Grant
from tests.callers import JsonClient
from tests.factories import (
    AppFactory,
    BlockedAppFactory,
    ConsentRequestFactory,
    ExportFactory,
    GrantFactory,
    PersonFactory,
    ReadFactory,
    give_vault,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def shared(person: User, *, reads: int = 0, days_ago: float = 0, **fields: Any) -> Grant:
    """What a person shares, read so many times, that many days ago."""
    grant: Grant = GrantFactory(request__user=person, reads=reads, **fields)
    if reads:
        export = ExportFactory(grant=grant)
        for _ in range(reads):
            ReadFactory(export=export, at=database_now() - days_ago * DAY)
    return grant


def text(answer: Any) -> str:
    assert answer.status_code == 200
    return str(answer.content.decode())


def names(answer: Any) -> list[str]:
    return [row.name for row in answer.context["rows"]]


# --- the overview -----------------------------------------------------------------------------------------------------


def test_the_overview_says_in_one_sentence_who_can_read_what(owner: JsonClient, person: User) -> None:
    first = shared(person, approved_attributes=["lifestyle.food.cuisine", "lifestyle.food.diet_preference"])
    shared(person, request__app=first.app, scope="attr.x.*", approved_attributes=["lifestyle.food.cuisine"])
    shared(person, approved_attributes=["contact.email.address"])
    shared(person, status="paused", approved_attributes=["contact.phone.number"])
    shared(PersonFactory(), approved_attributes=["location.home.city"])

    page = text(owner.get("/consent/"))

    assert "2 apps can read 3 things of yours" in page
    assert "1 approval is paused" in page
    assert 'href="/consent/pause/"' in page


def test_somebody_new_is_told_how_to_begin(owner: JsonClient) -> None:
    page = text(owner.get("/consent/"))

    for words in ("No app can read anything of yours", "Set it up", "Find your sharing ID", "Nobody read anything"):
        assert words in page
    assert 'href="/consent/pause/"' not in page


@pytest.mark.usefixtures("one_day")
def test_reads_of_the_week_are_drawn_with_their_table(owner: JsonClient, person: User) -> None:
    often, seldom = shared(person, reads=6, days_ago=0), shared(person, reads=3, days_ago=2)
    shared(person, reads=2, days_ago=9)
    shared(PersonFactory(), reads=5)

    answer = owner.get("/consent/")

    week = answer.context["week"]
    assert [bar.value for bar in week.chart.bars] == [0, 0, 0, 0, 3, 0, 6]
    assert [bar.height for bar in week.chart.bars] == [4, 4, 4, 4, 50, 4, 100]
    assert [(app.pk, count) for app, count in week.apps] == [(often.app_id, 6), (seldom.app_id, 3)]
    page = text(answer)
    assert "9 reads by 2 apps; in the week before: " in page
    assert page.count("<rect") == 7
    assert re.findall(r'<td class="end num">(\d)</td>', page) == ["6", "0", "3", "0", "0", "0", "0"]
    assert "style=" not in page


def test_what_ends_soon_can_be_kept_or_extended(owner: JsonClient, person: User) -> None:
    now = database_now()
    far = shared(person, expires_at=now + 300 * DAY)
    by_time = shared(person, expires_at=now + 3 * DAY)
    announced = {"unused_ends_at": now + 5 * DAY, "starts_at": now - 90 * DAY, "expires_at": now + 90 * DAY}
    idle, read_since = shared(person, **announced), shared(person, reads=1, **announced)
    request = ConsentRequestFactory(user=person, app=by_time.app, scope=by_time.scope)

    answer = owner.get("/consent/")

    assert [(one.grant.pk, one.unused) for one in answer.context["ending"]] == [(by_time.pk, False), (idle.pk, True)]
    page = text(answer)
    assert re.search(rf'href="/consent/requests/{request.request_id}/">Extend', page)
    kept = f"/consent/grants/{idle.grant_id}/keep-unused/"
    assert f'action="{kept}"' in page
    for other in (far, read_since):
        assert f"/consent/grants/{other.grant_id}/keep-unused/" not in page
    assert "Kept." in text(owner.client.post(kept, follow=True))
    assert Grant.objects.get(pk=idle.pk).unused_ends_at is None


def test_nobody_keeps_what_is_anothers(owner: JsonClient) -> None:
    theirs = shared(PersonFactory(), unused_ends_at=database_now() + DAY)

    assert owner.client.post(f"/consent/grants/{theirs.grant_id}/keep-unused/").status_code == 404
    assert Grant.objects.get(pk=theirs.pk).unused_ends_at


def test_changes_are_those_since_the_last_visit(owner: JsonClient, person: User) -> None:
    before, after = ConsentRequestFactory(user=person), ConsentRequestFactory(user=person)
    owner.client.post(f"/consent/requests/{before.request_id}/deny/")
    owner.get("/consent/")
    here = ActorProfile.objects.filter(user=person)
    assert len(owner.get("/consent/").context["changes"]) == 1  # the same visit still shows it
    here.update(visited_at=database_now() - timedelta(hours=2))
    owner.client.post(f"/consent/requests/{after.request_id}/deny/")

    shown = owner.get("/consent/").context

    assert shown["since"] == here.get().visited_before_at
    assert [line.request_id for line in shown["changes"]][:1] == [after.request_id]


def test_the_vault_says_how_it_is_opened(owner: JsonClient, person: User) -> None:
    give_vault(person)

    page = text(owner.get("/consent/"))

    assert "ways in:" in page or "way in:" in page
    assert re.search(r"\d+ entr(y|ies) in \d+ areas?", page)


@pytest.mark.parametrize("times", [2, 40])
def test_the_overview_takes_as_many_queries_however_much_there_is(
    owner: JsonClient, person: User, times: int, django_assert_max_num_queries: Any
) -> None:
    give_vault(person)
    for number in range(times):
        shared(person, reads=2, days_ago=number % 14, expires_at=database_now() + (number + 1) * DAY)
        ConsentRequestFactory(user=person)
    owner.get("/consent/")

    with django_assert_max_num_queries(27):
        text(owner.get("/consent/"))


# --- apps -------------------------------------------------------------------------------------------------------------


def test_each_app_is_one_row_of_its_list(owner: JsonClient, person: User) -> None:
    live = shared(person, reads=3, days_ago=1)
    shared(person, request__app=live.app, scope="attr.x.*")
    over = shared(person, status="revoked", ended_at=database_now(), ended_by="person", reads=2)
    shared(person, request__app=live.app, scope="attr.y.*", status="released", ended_at=database_now(), ended_by="app")
    blocked = BlockedAppFactory(user=person)
    shared(PersonFactory())

    answer = owner.get("/consent/apps/")

    assert names(answer) == [live.app.name]
    assert [(value, count) for value, _, count in answer.context["chips"]] == [
        ("live", 1),
        ("ended", 1),
        ("connected", 2),
        ("blocked", 1),
    ]
    assert "3 reads in 30 days" in text(answer)
    assert names(owner.get("/consent/apps/", show="ended")) == [over.app.name]
    assert names(owner.get("/consent/apps/", show="connected")) == [over.app.name, live.app.name]
    assert names(owner.get("/consent/apps/", show="blocked")) == [blocked.app.name]
    assert names(owner.get("/consent/apps/", show="everything")) == [live.app.name]


def test_apps_are_found_by_name_and_by_what_they_read(owner: JsonClient, person: User) -> None:
    shared(person, request__app=AppFactory(name="Plate & Table"), approved_attributes=["contact.email.address"])
    shared(person, request__app=AppFactory(name="Other"), approved_attributes=["lifestyle.food.diet_preference"])

    assert names(owner.get("/consent/apps/", q="plate  &")) == ["Plate & Table"]
    assert names(owner.get("/consent/apps/", q="CONTACT")) == ["Plate & Table"]
    assert names(owner.get("/consent/apps/", q="o'; --")) == []
    assert "Nothing found" in text(owner.get("/consent/apps/", q="nothing like it"))


def test_never_read_first(owner: JsonClient, person: User) -> None:
    times = {"starts_at": database_now() - 9 * DAY, "expires_at": database_now() + 9 * DAY}
    never = shared(person, request__app=AppFactory(name="Never"), **times)
    shared(person, request__app=AppFactory(name="Often"), reads=3)

    assert names(owner.get("/consent/apps/")) == ["Often", "Never"]
    assert names(owner.get("/consent/apps/", order="unread")) == [never.app.name, "Often"]


def test_many_apps_are_on_pages_in_as_many_queries(
    owner: JsonClient, person: User, django_assert_max_num_queries: Any
) -> None:
    grants = [shared(person, reads=number % 3) for number in range(70)]

    seen: list[str] = []
    for page in (1, 2, 3):
        with django_assert_max_num_queries(44):
            seen += names(owner.get("/consent/apps/", page=page))

    assert sorted(seen) == sorted(grant.app.name for grant in grants)
    assert names(owner.get("/consent/apps/", page="x")) == seen[:30]
    assert names(owner.get("/consent/apps/", page="99")) == seen[60:]


def test_an_apps_page_tells_what_it_can_read_and_has_read(owner: JsonClient, person: User) -> None:
    grant = shared(person, reads=2, approved_attributes=["lifestyle.food.cuisine", "lifestyle.food.diet_preference"])

    page = text(owner.get(f"/consent/apps/{grant.app.app_id}/"))

    for words in ("2 things", "2 reads in 30 days", grant.request.purpose, "Stop everything", "Block this app"):
        assert words in page
    assert grant.request.connector_thumbprint in page
    assert page.count("<h1") == 1
    assert "style=" not in page


def test_an_app_that_was_never_met_is_not_there(owner: JsonClient) -> None:
    theirs = shared(PersonFactory())

    for path in ("", "pause/", "stop/"):
        answer = owner.client.post if path else owner.client.get
        assert answer(f"/consent/apps/{theirs.app.app_id}/{path}").status_code == 404
    assert Grant.objects.get(pk=theirs.pk).status == "active"


# --- pausing and what nobody uses -------------------------------------------------------------------------------------


def test_everything_pauses_with_two_clicks(owner: JsonClient, person: User) -> None:
    grants = [shared(person) for _ in range(3)]
    theirs = shared(PersonFactory())
    question = text(owner.get("/consent/pause/"))
    assert "3 approvals are paused at once" in question
    assert theirs.app.name not in question

    done = owner.client.post("/consent/pause/", follow=True)

    assert done.redirect_chain == [("/consent/", 302)]
    assert "Everything is paused: 3 approvals." in text(done)
    assert {Grant.objects.get(pk=grant.pk).status for grant in grants} == {"paused"}
    assert Grant.objects.get(pk=theirs.pk).status == "active"
    after = text(owner.get("/consent/pause/"))
    assert all(grant.grant_id in after for grant in grants)  # for the script that resumes them
    assert "Nothing was left to pause" in text(owner.client.post("/consent/pause/", follow=True))


def test_an_app_pauses_with_one_click(owner: JsonClient, person: User) -> None:
    grant, other = shared(person), shared(person)
    here = f"/consent/apps/{grant.app.app_id}/"

    done = owner.client.post(f"{here}pause/", follow=True)

    assert done.redirect_chain == [(here, 302)]
    assert f'data-resume-all="{grant.grant_id} "' in text(done)
    assert [Grant.objects.get(pk=one.pk).status for one in (grant, other)] == ["paused", "active"]
    assert "Nothing was left to pause" in text(owner.client.post(f"{here}pause/", follow=True))


@pytest.mark.parametrize(
    ("days", "kept", "message"), [("30", 30, "Saved."), ("0", 0, "Saved."), ("7", 60, "Nothing was")]
)
def test_a_person_says_after_how_long_unused_access_ends(
    owner: JsonClient, person: User, days: str, kept: int, message: str
) -> None:
    answer = owner.client.post("/consent/apps/unused/", {"days": days}, follow=True)

    assert message in text(answer)
    assert ActorProfile.objects.filter(user=person).values_list("unused_days", flat=True).first() in (kept, None)
    assert f'<option value="{kept}" selected>' in text(answer)


def test_what_ended_unused_says_so(owner: JsonClient, person: User) -> None:
    grant = shared(person, starts_at=database_now() - 90 * DAY, expires_at=database_now() + 90 * DAY)
    unused.end_unused()
    past = database_now() - timedelta(seconds=1)
    Grant.objects.filter(pk=grant.pk).update(unused_look_at=past, unused_ends_at=past)
    unused.end_unused()

    assert "Nobody used it" in text(owner.get(f"/consent/apps/{grant.app.app_id}/"))
    assert "ended by itself: nobody used it" in text(owner.get("/consent/history/"))
    assert Read.objects.count() == 0
