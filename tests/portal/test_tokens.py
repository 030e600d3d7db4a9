"""The pages of an app's tokens: made and shown once, rotated, revoked; nothing of a token is kept or told again."""

import json
import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from developers.authentication import find_token
from developers.models import App, AppAuditEntry, AppMember, DeveloperToken
from tests.callers import sign_in
from tests.factories import AppFactory, MemberFactory, PersonFactory, TestAppFactory, TokenFactory

pytestmark = pytest.mark.django_db
FORM = {"label": "backend", "discover": "on", "read": "on", "days": "30", "header_only": "on"}


@pytest.fixture
def member(client: Client) -> AppMember:
    made: AppMember = MemberFactory(app=TestAppFactory(), role="member")
    sign_in(client, made.user)
    return made


def _path(app: App, rest: str = "") -> str:
    return f"/developers/apps/{app.app_id}/tokens/{rest}"


def _form(client: Client, app: App, **changes: str) -> dict[str, str]:
    page = client.get(_path(app)).content.decode()
    found = re.search(r'name="prefix" value="([^"]+)"', page)
    assert found
    return {**FORM, "prefix": found[1], **changes}


def _token_in(text: str) -> str:
    return str(re.findall(r"cr_(?:test|live)_\w{8}_[\w-]{43}", text)[0])


def test_what_became_of_a_token_is_no_part_of_a_country(client: Client, member: AppMember) -> None:
    TokenFactory(app=member.app)
    client.cookies["django_language"] = "de"
    page = client.get(_path(member.app)).content.decode()
    assert 'data-label="Berechtigungen"' in page
    assert "Bundesland" not in page


def test_a_token_is_shown_once_and_works(client: Client, member: AppMember) -> None:
    assert "No token yet" in client.get(_path(member.app)).content.decode()

    answer = client.post(_path(member.app), _form(client, member.app))

    token = _token_in(answer.content.decode())
    row = DeveloperToken.objects.get()
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert (row.label, row.permissions, row.header_only) == ("backend", ["discover", "read"], True)
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    app = find_token(token)
    assert app is not None
    assert (app.app_id, app.permissions) == (member.app.app_id, {"discover", "read"})
    again = client.get(_path(member.app)).content.decode()
    assert (row.prefix in again, token in again) == (True, False)
    audit = AppAuditEntry.objects.get()
    assert (audit.action, audit.member, audit.facts["prefix"]) == ("token.minted", member.user, row.prefix)


@pytest.mark.parametrize("in_query", [True, False])
def test_a_host_is_configured_by_the_address_alone_where_the_token_may_stand_in_it(
    in_query: bool, client: Client, member: AppMember, settings: Any
) -> None:
    form = _form(client, member.app, **({"header_only": ""} if in_query else {}))

    answer = client.post(_path(member.app), form)

    token = _token_in(answer.content.decode())
    shown = {snippet.name: snippet.text for snippet in answer.context["snippets"]}
    server = {"url": f"{settings.BASE_URL}/mcp", "headers": {"Authorization": f"Bearer {token}"}}
    assert json.loads(shown["mcp"]) == {"mcpServers": {"consent": server}}
    if in_query:
        address = f"{settings.BASE_URL}/mcp?token={token}"
        assert json.loads(shown["mcp-address"]) == {"mcpServers": {"consent": {"url": address}}}
    assert ("mcp-address" in shown) is in_query is ("Some hosts log addresses" in answer.content.decode())


def test_nothing_that_is_kept_or_logged_holds_the_token(
    client: Client, member: AppMember, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        token = _token_in(client.post(_path(member.app), _form(client, member.app)).content.decode())

    secret = token.split("_", 3)[3]
    assert secret not in caplog.text
    assert secret not in json.dumps(list(AppAuditEntry.objects.values_list("facts", flat=True)))
    assert secret not in json.dumps(dict(client.session))
    assert not any(secret in str(cookie.value) for cookie in client.cookies.values())


def test_what_is_sent_twice_makes_one_token(client: Client, member: AppMember) -> None:
    sent = _form(client, member.app)
    first, second = (client.post(_path(member.app), sent, follow=True) for _ in range(2))

    assert DeveloperToken.objects.count() == 1
    assert _token_in(first.content.decode())
    assert not re.search(r"cr_test_\w{8}_[\w-]{43}", second.content.decode())
    assert "This form was sent before" in second.content.decode()


def test_a_form_of_another_app_makes_nothing(client: Client, member: AppMember) -> None:
    other = MemberFactory(user=member.user)

    answer = client.post(_path(member.app), _form(client, other.app))

    assert (answer.status_code, DeveloperToken.objects.count()) == (400, 0)


@pytest.mark.parametrize(
    "unfit",
    [
        {"label": ""}, {"label": "a" * 81}, {"label": "back\u202eend"}, {"label": "a\nb"},
        {"days": "0"}, {"days": "366"}, {"days": "soon"}, {"days": ""},
        {"discover": "", "read": ""}, {"prefix": ""}, {"prefix": "AAAAAAAA"}, {"prefix": "\x00"},
    ],
)  # fmt: skip
def test_what_does_not_fit_makes_nothing_and_loses_nothing(
    client: Client, member: AppMember, unfit: dict[str, str]
) -> None:
    answer = client.post(_path(member.app), _form(client, member.app, **unfit))

    assert (answer.status_code, DeveloperToken.objects.count()) == (400, 0)
    if "label" not in unfit:
        assert 'value="backend"' in answer.content.decode()


def test_a_closed_app_gets_no_token(client: Client, member: AppMember) -> None:
    sent = _form(client, member.app)
    App.objects.update(status="closed")

    assert client.post(_path(member.app), sent).status_code == 400
    assert "Make the token" not in client.get(_path(member.app)).content.decode()
    assert not DeveloperToken.objects.exists()


def test_the_list_says_how_each_token_stands(client: Client, member: AppMember) -> None:
    now = timezone.now()
    TokenFactory(app=member.app, label="works")
    TokenFactory(app=member.app, label="soon", expires_at=now + timedelta(days=3))
    TokenFactory(app=member.app, label="rotated", revoked_at=now + timedelta(hours=3))
    TokenFactory(app=member.app, label="revoked", revoked_at=now - timedelta(hours=3))
    TokenFactory(app=member.app, label="expired", expires_at=now - timedelta(hours=3))
    TokenFactory(app=member.app, label="leaked", revoked_at=now, leaked_at=now)
    TokenFactory(label="another app's")

    page = client.get(_path(member.app)).content.decode()

    stands = re.findall(r"<strong>(\w+)</strong>.*?badge b-\w+\">([\w ]+)<", page, re.DOTALL)
    assert stands == [
        ("leaked", "Reported as leaked"), ("expired", "Expired"), ("revoked", "Revoked"), ("rotated", "Rotated"),
        ("soon", "Ends soon"), ("works", "Works"),
    ]  # fmt: skip
    assert "another app" not in page


@pytest.mark.parametrize(("overlap", "lives"), [("0", False), ("86400", True)])
def test_a_rotated_token_goes_on_for_as_long_as_was_chosen(
    client: Client, member: AppMember, overlap: str, lives: bool
) -> None:
    old = TokenFactory(app=member.app, permissions=["read"], header_only=True)
    path = _path(member.app, f"{old.prefix}/rotate/")
    assert "Rotate it" in client.get(path).content.decode()

    answer = client.post(path, {"overlap": overlap})

    fresh = find_token(_token_in(answer.content.decode()))
    assert fresh is not None
    assert (fresh.permissions, fresh.header_only, answer["Cache-Control"]) == ({"read"}, True, "no-store")
    assert (find_token(old.secret) is not None) is lives
    assert list(AppAuditEntry.objects.values_list("action", flat=True)) == ["token.rotated"]
    again = client.post(path, {"overlap": overlap}, follow=True)  # a reload makes no third one
    assert DeveloperToken.objects.count() == 2
    assert "Only a live token" in again.content.decode()


@pytest.mark.parametrize("overlap", ["", "-1", "5", "9999999999999", "day"])
def test_an_overlap_that_is_not_offered_changes_nothing(client: Client, member: AppMember, overlap: str) -> None:
    old = TokenFactory(app=member.app)

    assert client.post(_path(member.app, f"{old.prefix}/rotate/"), {"overlap": overlap}).status_code == 400
    assert DeveloperToken.objects.get().revoked_at is None


def test_a_revoked_token_lets_nobody_in_any_more(client: Client, member: AppMember) -> None:
    token = TokenFactory(app=member.app)
    path = _path(member.app, f"{token.prefix}/revoke/")
    assert find_token(token.secret) is not None
    assert "Revoke it" in client.get(path).content.decode()
    assert find_token(token.secret) is not None

    answer = client.post(path, follow=True)

    assert "The token is revoked" in answer.content.decode()
    assert find_token(token.secret) is None
    client.post(path)
    assert list(AppAuditEntry.objects.values_list("action", "member")) == [("token.revoked", member.user.pk)]


@pytest.mark.parametrize("act", ["rotate", "revoke"])
def test_a_token_of_others_is_not_under_an_app_of_ones_own(client: Client, member: AppMember, act: str) -> None:
    other = TokenFactory(app=AppFactory())
    path = _path(member.app, f"{other.prefix}/{act}/")
    assert [client.get(path).status_code, client.post(path, {"overlap": "0"}).status_code] == [404, 404]
    assert find_token(other.secret) is not None


def test_a_list_of_many_costs_as_many_queries_as_one_of_few(client: Client, member: AppMember) -> None:
    TokenFactory(app=member.app, created_by=member.user)
    client.get(_path(member.app))
    few = _queries(client, _path(member.app))
    TokenFactory.create_batch(20, app=member.app, created_by=PersonFactory())
    assert _queries(client, _path(member.app)) == few


def _queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as counted:
        client.get(path)
    return len(counted)


def test_the_snippets_hold_the_apps_own_values(client: Client, member: AppMember, settings: Any) -> None:
    page = client.post(_path(member.app), _form(client, member.app))

    token, texts = page.context["token"], {one.name: one.text for one in page.context["snippets"]}
    assert set(texts) == {"curl", "python", "node", "mcp", "vscode", "desktop", "stdio"}
    assert all(token in text and settings.BASE_URL in text for text in texts.values())
    assert json.loads(texts["mcp"]) == {
        "mcpServers": {"consent": {"url": f"{settings.BASE_URL}/mcp", "headers": {"Authorization": f"Bearer {token}"}}}
    }
    assert json.loads(texts["vscode"])["servers"]["consent"]["type"] == "http"
    assert json.loads(texts["desktop"])["mcpServers"]["consent"]["args"] == ["serve"]
