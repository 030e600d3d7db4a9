"""The settings of an app: its name, where it may be called from, its end; and its audit, in words."""

import pytest
from django.test import Client
from django.utils import timezone

from consent.requests.models import ConsentRequest
from developers.authentication import find_token
from developers.models import App, AppAuditEntry, AppMember
from tests.callers import sign_in
from tests.factories import (
    AppAuditEntryFactory,
    AppFactory,
    ConsentRequestFactory,
    MemberFactory,
    StaffFactory,
    TestAppFactory,
    TokenFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> AppMember:
    made: AppMember = MemberFactory(app=TestAppFactory(name="Lunch Finder"))
    sign_in(client, made.user)
    return made


def _path(app: App, rest: str = "settings/") -> str:
    return f"/developers/apps/{app.app_id}/{rest}"


def test_a_test_app_gets_another_name_and_what_waits_is_cancelled(client: Client, owner: AppMember) -> None:
    request = ConsentRequestFactory(app=owner.app)

    answer = client.post(_path(owner.app), {"name": " Supper Finder "}, follow=True)

    assert "The app has its new name." in answer.content.decode()
    assert App.objects.get(pk=owner.app.pk).name == "Supper Finder"
    assert ConsentRequest.objects.get(pk=request.pk).status == "cancelled"
    assert AppAuditEntry.objects.values_list("action", "facts", "member").get() == (
        "app.renamed", {"before": "Lunch Finder", "name": "Supper Finder"}, owner.user.pk,
    )  # fmt: skip
    client.post(_path(owner.app), {"name": "Supper Finder"})
    assert AppAuditEntry.objects.count() == 1


@pytest.mark.parametrize("name", ["", "a" * 81, "Lunch\nFinder", "Lunch\u202eFinder"])
def test_a_name_that_would_mislead_changes_nothing(client: Client, owner: AppMember, name: str) -> None:
    assert client.post(_path(owner.app), {"name": name}).status_code == 400
    assert App.objects.get(pk=owner.app.pk).name == "Lunch Finder"


def test_staff_alone_rename_a_live_app(client: Client, owner: AppMember) -> None:
    live = MemberFactory(user=owner.user, app=AppFactory(name="Trips", origins=["https://trips.example"])).app

    page = client.get(_path(live)).content.decode()
    answer = client.post(_path(live), {"name": "My Bank"})

    assert ("https://trips.example" in page, 'name="origins"' in page) == (True, False)
    assert (answer.status_code, App.objects.get(pk=live.pk).name) == (400, "Trips")


def test_a_test_app_says_where_people_go_back_to(client: Client, owner: AppMember) -> None:
    typed = "https://Lunch.example/\n http://localhost:8090\nhttps://lunch.example"

    answer = client.post(_path(owner.app), {"name": "Lunch Finder", "origins": typed}, follow=True)

    assert "The app has its new origins." in answer.content.decode()
    assert App.objects.get(pk=owner.app.pk).origins == ["https://lunch.example", "http://localhost:8090"]
    assert AppAuditEntry.objects.values_list("action", flat=True).get() == "app.origins_set"


@pytest.mark.parametrize("line", ["http://lunch.example", "https://lunch.example/path", "localhost:8090"])
def test_an_origin_that_is_none_changes_nothing(client: Client, owner: AppMember, line: str) -> None:
    assert client.post(_path(owner.app), {"name": "Lunch Finder", "origins": line}).status_code == 400
    assert App.objects.get(pk=owner.app.pk).origins == []


def test_an_owner_closes_the_app_and_its_tokens_end(client: Client, owner: AppMember) -> None:
    token, other = TokenFactory(app=owner.app), TokenFactory()
    ended = TokenFactory(app=owner.app, revoked_at=timezone.now())
    request = ConsentRequestFactory(app=owner.app)
    path = _path(owner.app, "settings/close/")
    assert "Lunch Finder" in client.get(path).content.decode()

    assert client.post(path, {"name": "Lunch"}).status_code == 400
    assert find_token(token.secret) is not None
    answer = client.post(path, {"name": "Lunch Finder"}, follow=True)

    assert "none of its tokens works" in answer.content.decode()
    assert App.objects.get(pk=owner.app.pk).status == "closed"
    assert [find_token(one.secret) is not None for one in (token, ended, other)] == [False, False, True]
    token.refresh_from_db()
    assert token.revoked_at is not None  # so that nothing lives on, were the app opened by hand
    assert ConsentRequest.objects.get(pk=request.pk).status == "cancelled"
    assert AppAuditEntry.objects.values_list("action", "facts").get() == ("app.closed", {"revoked_tokens": 1})
    client.post(path, {"name": "Lunch Finder"})
    assert AppAuditEntry.objects.count() == 1
    assert client.post(_path(owner.app), {"name": "Open"}).status_code == 400


def test_a_member_who_is_no_owner_cannot_close_it(client: Client, owner: AppMember) -> None:
    member = MemberFactory(app=owner.app, role="member")
    sign_in(client, member.user)

    assert client.post(_path(owner.app, "settings/close/"), {"name": "Lunch Finder"}).status_code == 403
    assert "Only an owner can close it" in client.get(_path(owner.app)).content.decode()
    assert App.objects.get(pk=owner.app.pk).status == "active"


def test_the_audit_tells_what_was_done_in_words_and_by_pages(client: Client, owner: AppMember) -> None:
    staff = StaffFactory()
    minted = {"label": "backend", "prefix": "abcdefgh"}
    AppAuditEntryFactory(app=owner.app, member=owner.user, action="token.minted", facts=minted)
    AppAuditEntryFactory(app=owner.app, member=None, action="token.leaked", facts=minted)
    AppAuditEntryFactory(app=owner.app, member=staff, action="app.somehow_changed", facts={"why": "<b>because</b>"})
    AppAuditEntryFactory(action="token.minted", facts={"label": "another app's"})

    page = client.get(_path(owner.app, "audit/")).content.decode().replace("<wbr>", "")

    assert page.index("app.somehow_changed") < page.index("somebody found and reported") < page.index("Made the token")
    assert "why: &lt;b&gt;because&lt;/b&gt;" in page
    assert (owner.user.email in page, staff.email in page, "another app" in page) == (True, False, False)
    AppAuditEntryFactory.create_batch(50, app=owner.app, member=owner.user, facts=minted)
    second = client.get(_path(owner.app, "audit/") + "?page=2").content.decode()
    assert second.count("<tr>") == 4
    assert client.get(_path(owner.app, "audit/") + "?page=\x00").status_code == 200
