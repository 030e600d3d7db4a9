"""Blocking, reporting and the switch of refreshes by forms that work without a script."""

import pytest
from django.db import connection

from common.limits import Limit
from consent.decisions.models import AppReport, BlockedApp
from consent.grants.models import Grant
from consent.ledger import entry_limit
from consent.requests.models import ConsentRequest
from pkm.segments.actions import delete_segment
from tests.factories import (
    BlockedAppFactory,
    DiscoveryFactory,
    ExportFactory,
    GrantFactory,
    give_vault,
)


@pytest.fixture
def here(consent_request):
    """The page of the app that asks."""
    return f"/consent/apps/{consent_request.app.app_id}/"


def shown(answer):
    assert answer.status_code == 200
    return answer.content.decode()


def test_page_says_what_blocking_does_before_it_is_done(
    owner, person, consent_request, here, django_assert_max_num_queries
):
    GrantFactory(request__user=person, request__app=consent_request.app)
    # PostgreSQL is asked what time it is
    with django_assert_max_num_queries(32 + (connection.vendor == "postgresql")):
        page = shown(owner.get(here))
    for words in (
        "cannot ask you for anything any more",
        "1 approval",
        "1 request",
        "Also stop what it can read now: 1 approval",
    ):
        assert words in page
    assert not BlockedApp.objects.exists()


def test_blocking_ends_what_waits_and_can_be_undone(owner, consent_request, here):
    done = owner.client.post(f"{here}block/", follow=True)
    assert done.redirect_chain == [(here, 302)]
    assert "1 waiting request ended" in shown(done)
    assert "This app is blocked" in shown(done)
    assert ConsentRequest.objects.get(pk=consent_request.pk).status == "cancelled"
    assert "ended when you blocked the app" in shown(owner.get(f"/consent/requests/{consent_request.request_id}/"))
    assert consent_request.app.name in shown(owner.get("/consent/apps/", show="blocked"))

    assert "It can ask you again" in shown(owner.client.post(f"{here}unblock/", follow=True))
    assert not BlockedApp.objects.exists()
    assert consent_request.app.name not in shown(owner.get("/consent/apps/", show="blocked"))
    history = shown(owner.get("/consent/history/"))
    assert f"You blocked {consent_request.app.name}" in history
    assert f"You let {consent_request.app.name} ask again" in history


def two_grants(person, app):
    return [
        ExportFactory(grant=GrantFactory(request__user=person, request__app=app, request__scope=scope)).grant
        for scope in ("attr.contact.*", "attr.lifestyle.fitness.*")
    ]


def test_blocking_offers_to_stop_what_is_read_and_the_box_is_ticked(owner, person, consent_request, here):
    grants = two_grants(person, consent_request.app)
    page = shown(owner.get(here))
    assert '<input type="checkbox" name="stop" value="yes" checked>' in page
    assert "Also stop everything that it can read now: 2 approvals" in page

    done = shown(owner.client.post(f"{here}block/", {"stop": "yes"}, follow=True))

    for words in ("Blocked.", "1 waiting request ended", "2 approvals ended, and nothing more can be read"):
        assert words in done
    assert {Grant.objects.get(pk=grant.pk).status for grant in grants} == {"revoked"}
    assert "Also stop" not in shown(owner.get(here))


def test_blocking_without_the_tick_leaves_what_is_shared(owner, person, consent_request, here):
    grants = two_grants(person, consent_request.app)
    done = shown(owner.client.post(f"{here}block/", follow=True))
    assert "approvals ended" not in done
    assert {Grant.objects.get(pk=grant.pk).status for grant in grants} == {"active"}


def test_everything_of_one_app_stops_with_two_clicks(owner, person, consent_request, here):
    """From any list of apps its page is one; the button is the other."""
    grants = two_grants(person, consent_request.app)
    assert f'href="{here}"' in shown(owner.get("/consent/apps/"))
    assert f'action="{here}stop/"' in shown(owner.get(here))

    done = owner.client.post(f"{here}stop/", follow=True)

    assert done.redirect_chain == [(here, 302)]
    assert "2 approvals ended, and nothing more can be read" in shown(done)
    assert {Grant.objects.get(pk=grant.pk).status for grant in grants} == {"revoked"}
    assert ConsentRequest.objects.get(pk=consent_request.pk).status == "pending"
    assert "You share nothing with this app" in shown(owner.client.post(f"{here}stop/", follow=True))
    assert owner.get(f"{here}stop/").status_code == 405


def test_apps_lists_those_that_this_person_blocked_and_no_others(owner, person):
    mine, _other = BlockedAppFactory(user=person), BlockedAppFactory()
    answer = owner.get("/consent/apps/", show="blocked")
    assert [row.name for row in answer.context["rows"]] == [mine.app.name]
    assert "This app is blocked" in shown(answer)


def test_report_reaches_staff(owner, consent_request, here):
    answer = owner.client.post(f"{here}report/", {"text": "It pretends to be my bank."}, follow=True)
    assert "Our staff will look at it" in shown(answer)
    assert AppReport.objects.values_list("app__app_id", "text").get() == (
        consent_request.app.app_id,
        "It pretends to be my bank.",
    )
    assert f"You reported {consent_request.app.name}" in shown(owner.get("/consent/history/"))


@pytest.mark.parametrize(
    ("text", "message"), [("", "in a few words"), ("   ", "in a few words"), ("x" * 2001, "too long")]
)
def test_report_that_does_not_fit_says_why_and_keeps_the_words(owner, here, text, message):
    answer = owner.client.post(f"{here}report/", {"text": text})
    assert (answer.status_code, message in answer.content.decode()) == (400, True)
    assert text.strip() in answer.content.decode()
    assert not AppReport.objects.exists()


def test_app_that_only_looked_can_be_blocked(owner, person):
    looked = DiscoveryFactory(user=person)
    assert f"/consent/apps/{looked.app.app_id}/" in shown(owner.get("/consent/history/"))
    owner.client.post(f"/consent/apps/{looked.app.app_id}/block/")
    assert BlockedApp.objects.get().app_id == looked.app_id


@pytest.mark.parametrize(
    "page", ["/consent/requests/{}/", "/consent/apps/", "/consent/", "/consent/history/?app={app}"]
)
def test_app_is_one_click_away_from_where_it_is_met(owner, person, consent_request, here, page):
    ExportFactory(grant=GrantFactory(request__user=person, request__app=consent_request.app))
    assert here in shown(owner.client.get(page.format(consent_request.request_id, app=consent_request.app.app_id)))


def test_what_comes_too_often_is_refused_on_a_page(owner, consent_request, here, monkeypatch):
    monkeypatch.setattr(entry_limit, "_REPORTS", Limit("reports", 1, 3600, in_database=True))
    owner.client.post(f"{here}report/", {"text": "It pretends to be my bank."})

    answer = owner.client.post(f"{here}report/", {"text": "It still does."})

    assert (answer.status_code, "Try again in 60 minutes." in answer.content.decode()) == (429, True)
    assert "has signed in to your account before" not in answer.content.decode()
    assert 3500 < int(answer["Retry-After"]) <= 3600
    assert AppReport.objects.count() == 1
    program = owner.client.post(f"{here}report/", {"text": "It still does."}, headers={"Accept": "application/json"})
    assert (program.status_code, program.json()["code"]) == (429, "too_many_requests")


# --- refreshing -------------------------------------------------------------------------------------------------------


@pytest.fixture
def continuous(person):
    return ExportFactory(grant__request__user=person, grant__request__refresh_policy="continuous").grant


def test_refresh_is_switched_off_and_on_again(owner, continuous):
    switch = f"/consent/grants/{continuous.grant_id}/keep/"
    assert "Stop updates" in shown(owner.get("/consent/apps/"))

    off = shown(owner.client.post(switch, {"kept": "no"}, follow=True))
    assert "updates: off" in off
    assert "Update again" in off
    assert Grant.objects.get(pk=continuous.pk).kept_current is False
    on = shown(owner.client.post(switch, {"kept": "yes"}, follow=True))
    assert "updates: on" in on
    assert Grant.objects.get(pk=continuous.pk).kept_current is True

    history = shown(owner.get("/consent/history/", kind="decisions"))
    app = continuous.request.app_name
    assert f"You keep newer values of “Food and drink” from {app}" in history
    assert f"You let {app} have newer values of “Food and drink”" in history


@pytest.mark.parametrize("kept", ["", "maybe", "YES"])
def test_switch_that_says_neither_changes_nothing(owner, continuous, kept):
    answer = owner.client.post(f"/consent/grants/{continuous.grant_id}/keep/", {"kept": kept}, follow=True)
    assert "Nothing was changed" in shown(answer)
    assert Grant.objects.get(pk=continuous.pk).kept_current is True


def test_copy_whose_source_was_deleted_says_so(owner, person, continuous):
    gone = "You deleted all of this"
    vault = give_vault(person)
    assert gone not in shown(owner.get("/consent/apps/"))

    (kept,) = vault.segments
    delete_segment(by=person, domain=kept[0], segment_id=kept[1], base_content_revision=1)
    assert gone in shown(owner.get("/consent/apps/"))

    Grant.objects.filter(pk=continuous.pk).update(kept_current=False)  # "updates: off" says it all
    assert gone not in shown(owner.get("/consent/apps/"))


def test_snapshot_has_no_switch(owner, person):
    grant = ExportFactory(grant__request__user=person).grant
    page = shown(owner.get("/consent/apps/"))
    assert "updates: o" not in page
    assert "Stop updates" not in page
    assert "You deleted" not in page  # it is as it was approved, whatever became of the data
    answer = owner.client.post(f"/consent/grants/{grant.grant_id}/keep/", {"kept": "no"}, follow=True)
    assert "had ended already" in shown(answer)
