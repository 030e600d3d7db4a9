"""The inbox: by app, searched, several denied at once, what replaced what, and what an open one hears."""

from datetime import timedelta

import pytest
from django.urls import reverse

from consent.decisions import actions as decision_actions
from consent.requests.models import ConsentRequest
from tests.factories import AppFactory, ConsentRequestFactory
from tests.factories.consent_requests import now

INBOX = reverse("consent:inbox")
DENY = "/consent/inbox/deny/"
NEWS = "/consent/inbox/news"


def statuses(*requests):
    return [ConsentRequest.objects.get(pk=one.pk).status for one in requests]


@pytest.fixture
def app(db):
    return AppFactory(name="Lunch Finder")


def test_requests_stand_by_app_in_the_order_of_asking(owner, person, app):
    other = AppFactory(name="Trip Planner")
    oldest = ConsentRequestFactory(user=person, app=app, created_at=now() - timedelta(hours=2))
    between = ConsentRequestFactory(user=person, app=other, created_at=now() - timedelta(hours=1))
    newest = ConsentRequestFactory(user=person, app=app, scope="attr.contact.*")

    groups = owner.get(INBOX).context["groups"]

    assert [(group.name, group.requests) for group in groups] == [
        (newest.app_name, [newest, oldest]), (between.app_name, [between]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("lunch", {"food"}),
        ("FOOD lunch", {"food"}),
        ("contact", {"contact"}),
        ("suggest", {"contact"}),
        ("100%", set()),
    ],
)
def test_the_inbox_is_searched_by_app_data_and_purpose(owner, person, app, words, found):
    ConsentRequestFactory(user=person, app=app, app_name="Lunch Finder", purpose="To order for you")
    ConsentRequestFactory(user=person, app_name="Mailer", scope="attr.contact.*", purpose="To suggest friends")

    shown = owner.get(INBOX, q=words)

    assert {request.scope.split(".")[-2] for request in shown.context["pending"]} == found
    assert ("Nothing that waits has these words" in shown.content.decode()) == (not found)


def test_older_pages_of_a_search_keep_its_words(owner, person, app):
    ConsentRequestFactory.create_batch(21, user=person, app_name="Lunch & Co", purpose="x")

    assert owner.get(INBOX, q="lunch &").context["older_url"].startswith("?q=lunch+%26&older=")


def test_several_are_denied_after_one_question(owner, person, app):
    requests = [
        ConsentRequestFactory(user=person, app=app, scope=scope) for scope in ("attr.contact.*", "attr.brands.*")
    ]
    kept = ConsentRequestFactory(user=person)
    theirs = ConsentRequestFactory()
    ids = [one.request_id for one in (*requests, theirs)]

    question = owner.get(DENY, request=ids)
    page = question.content.decode()

    assert question.context["ids"].split() == [one.request_id for one in reversed(requests)]
    assert statuses(*requests, kept, theirs) == ["pending"] * 4
    assert "Deny these 2 requests?" in page
    answer = owner.client.post(DENY, {"requests": question.context["ids"]}, follow=True)
    assert "2 requests denied. Nothing was shared." in answer.content.decode()
    assert statuses(*requests, kept, theirs) == ["denied", "denied", "pending", "pending"]
    again = owner.client.post(DENY, {"requests": " ".join(ids)}, follow=True)
    assert "None of them waits any more." in again.content.decode()
    assert statuses(theirs) == ["pending"]
    assert all(one.receipts.count() == 1 for one in requests)


@pytest.mark.parametrize("ids", [[], ["req_x"], ["\x00"], ["x" * 3000]])
def test_denying_none_leads_back(owner, person, ids):
    assert owner.get(DENY, request=ids).headers["Location"] == INBOX
    assert owner.client.post(DENY, {"requests": " ".join(ids)}).headers["Location"] == INBOX


def test_an_open_inbox_hears_of_what_came_and_went(owner, person):
    assert owner.get(NEWS).json() == {"waiting": 0, "newest": ""}
    first, second = ConsentRequestFactory(user=person), ConsentRequestFactory(user=person)
    ConsentRequestFactory()
    assert owner.get(NEWS).json() == {"waiting": 2, "newest": second.request_id}
    decision_actions.deny(request_id=second.request_id, by=person)
    assert owner.get(NEWS).json() == {"waiting": 1, "newest": first.request_id}
    page = owner.get(INBOX).content.decode()
    assert f'data-waiting="1" data-newest="{first.request_id}"' in page
    assert "<title>(1) Inbox" in page


def test_hearing_takes_few_queries(owner, person, django_assert_max_num_queries):
    ConsentRequestFactory.create_batch(3, user=person)

    with django_assert_max_num_queries(5):  # session, person, newest, count; PostgreSQL's clock
        owner.get(NEWS)


def test_a_request_that_replaced_another_says_so_everywhere(owner, person, app):
    older = ConsentRequestFactory(user=person, app=app, created_at=now() - timedelta(hours=2))
    decision_actions.end_consent(app_pk=app.pk, request_id=older.request_id)
    newer = ConsentRequestFactory(user=person, app=app)

    inbox, sheet = owner.get(INBOX).content.decode(), owner.get(f"/consent/requests/{newer.request_id}/")
    gone = owner.get(f"/consent/requests/{older.request_id}/").content.decode()

    assert inbox.count("Replaces an older request") == 1
    assert "took that back. This is the newer request" in sheet.content.decode()
    assert "A newer request replaced this one" in gone
    assert f"/consent/requests/{newer.request_id}/" in gone


def test_what_replaced_nothing_says_nothing(owner, person, app):
    denied = ConsentRequestFactory(user=person, app=app)
    decision_actions.deny(request_id=denied.request_id, by=person)
    taken_back = ConsentRequestFactory(user=person, app=app, scope="attr.contact.*")
    decision_actions.end_consent(app_pk=app.pk, request_id=taken_back.request_id)
    request = ConsentRequestFactory(user=person, app=app)

    assert "Replaces an older" not in owner.get(INBOX).content.decode()
    assert "newer request" not in owner.get(f"/consent/requests/{request.request_id}/").content.decode()
    assert "A newer request" not in owner.get(f"/consent/requests/{taken_back.request_id}/").content.decode()


def test_the_chosen_request_is_shown_by_name_beside_the_list(owner, person, app):
    first, second = (
        ConsentRequestFactory(user=person, scope=scope) for scope in ("attr.contact.*", "attr.lifestyle.food.*")
    )
    theirs = ConsentRequestFactory()

    assert owner.get(INBOX).context["chosen"] == second
    assert owner.get(INBOX, request=first.request_id).context["chosen"] == first
    assert owner.get(INBOX, request=theirs.request_id).context["chosen"] == second
    assert "Favourite cuisine" in owner.get(INBOX).content.decode()
