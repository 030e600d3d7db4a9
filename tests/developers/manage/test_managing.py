"""What the management addresses do, and for whom: owner, member, stranger, and a token with less."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail

from accounts.models import Erasure, User
from developers.authentication import find_token
from developers.members.actions import change_role, remove_member, transfer_ownership
from developers.members.invitations import accept_invitation
from developers.models import AppAuditEntry, AppMember, DeveloperToken
from tests.callers import manager, signed_in
from tests.consent.api.addresses import problem
from tests.factories import AppFactory, MemberFactory, TestAppFactory, TokenFactory
from tests.outbox import send_mails


@pytest.fixture
def owner(db) -> AppMember:
    return MemberFactory(app=TestAppFactory())


@pytest.fixture
def member(owner) -> AppMember:
    return MemberFactory(app=owner.app, role="member")


def test_a_test_app_is_made_looked_at_and_renamed(person):
    program = manager(person)

    made = program.post("/apps", {"name": "Lunch Finder"})
    app = made.json()
    changed = program.patch(f"/apps/{app['app_id']}", {"name": "Dinner Finder"})

    assert made.status_code == 201
    assert {**app, "app_id": "", "created_at": ""} == {
        "app_id": "", "mode": "test", "name": "Lunch Finder", "status": "active", "verified": False,
        "proved_domain": None, "origins": [], "return_addresses": [], "role": "owner", "created_at": "",
    }  # fmt: skip
    assert changed.json() == {**app, "name": "Dinner Finder"}
    assert program.get(f"/apps/{app['app_id']}").json() == changed.json()
    assert list(AppAuditEntry.objects.order_by("pk").values_list("action", "member")) == [
        ("app.made", person.pk), ("app.renamed", person.pk),
    ]  # fmt: skip


def test_a_live_app_keeps_its_name(person):
    live = MemberFactory(app=AppFactory(), user=person)

    assert problem(manager(person).patch(f"/apps/{live.app.app_id}", {"name": "Other"})) == (400, "invalid_request")


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": 1}, {"name": "a" * 81}, {"name": "a\u202eb"}, {"nam": "a"}]
)
def test_a_name_that_does_not_fit_is_400(owner, body):
    program = manager(owner.user)

    assert problem(program.post("/apps", body)) == (400, "invalid_request")
    assert problem(program.patch(f"/apps/{owner.app.app_id}", body)) == (400, "invalid_request")


def test_a_token_is_made_shown_once_rotated_and_revoked(owner):
    program, here = manager(owner.user), f"/apps/{owner.app.app_id}/tokens"

    made = program.post(here, {"label": "CI", "permissions": ["read"], "expires_in": 3600, "header_only": True})
    first = made.json()
    assert made.status_code == 201
    assert find_token(first["token"]).app_id == owner.app.app_id
    assert (first["permissions"], first["header_only"]) == (["read"], True)
    rotated = program.post(f"/tokens/{first['prefix']}/rotate", {"overlap": 60})
    second = rotated.json()
    assert rotated.status_code == 201
    assert find_token(first["token"]) is not None
    assert find_token(second["token"]) is not None
    assert problem(program.post(f"/tokens/{first['prefix']}/rotate", {"overlap": 60})) == (400, "invalid_request")
    gone = [program.post(f"/tokens/{second['prefix']}/revoke") for _ in range(50)]
    assert {(answer.status_code, answer.content) for answer in gone} == {(200, gone[0].content)}
    assert find_token(second["token"]) is None
    listed = program.get(here)
    assert [token["prefix"] for token in listed.json()["items"]] == [second["prefix"], first["prefix"]]
    assert first["token"] not in listed.content.decode()
    assert second["token"] not in listed.content.decode()


@pytest.mark.parametrize(
    "body",
    [
        {}, {"label": ""}, {"label": "a", "permissions": []}, {"label": "a", "permissions": ["write"]},
        {"label": "a", "permissions": ["read", "read"]}, {"label": "a", "expires_in": 59},
        {"label": "a", "expires_in": 365 * 86400 + 1}, {"label": "a", "expires_in": "60"}, {"label": "a", "more": 1},
    ],
)  # fmt: skip
def test_a_token_that_does_not_fit_is_not_made(owner, body):
    assert problem(manager(owner.user).post(f"/apps/{owner.app.app_id}/tokens", body)) == (400, "invalid_request")
    assert not DeveloperToken.objects.exists()


@pytest.mark.parametrize("overlap", [-1, 30 * 86400 + 1, "60", None, 1.5])
def test_an_overlap_that_does_not_fit_is_400(owner, overlap):
    token = TokenFactory(app=owner.app)

    answer = manager(owner.user).post(f"/tokens/{token.prefix}/rotate", {"overlap": overlap})

    assert problem(answer) == (400, "invalid_request")


def test_a_member_manages_tokens_and_not_the_team(member):
    program, here = manager(member.user), f"/apps/{member.app.app_id}"
    owner = member.app.members.get(role="owner")

    assert program.post(f"{here}/tokens", {"label": "CI"}).status_code == 201
    assert problem(program.post(f"{here}/members", {"email": "new@example.org"})) == (403, "owner_required")
    assert problem(program.delete(f"{here}/members/{owner.member_id}")) == (403, "owner_required")
    assert program.delete(f"{here}/members/{member.member_id}").status_code == 204
    assert problem(program.get(here)) == (404, "not_found")


def test_a_token_reaches_the_apps_that_it_names_and_no_others(owner):
    other = MemberFactory(app=TestAppFactory(), user=owner.user)
    theirs = TokenFactory(app=other.app)
    program = manager(owner.user, permissions={owner.app.app_id: ["read", "write"], other.app.app_id: ["read"]})

    assert program.get(f"/apps/{other.app.app_id}").status_code == 200
    assert problem(program.patch(f"/apps/{other.app.app_id}", {"name": "Mine"})) == (403, "insufficient_scope")
    assert problem(program.post(f"/tokens/{theirs.prefix}/revoke")) == (404, "not_found")
    assert problem(program.post("/apps", {"name": "Another"})) == (403, "insufficient_scope")
    assert program.patch(f"/apps/{owner.app.app_id}", {"name": "Mine"}).status_code == 200


def accepted_by(person: User) -> None:
    send_mails()
    secret = re.search(r"/developers/invitations/([^/]+)/", mail.outbox[-1].body)
    accept_invitation(secret=secret[1], by=person)


def test_people_are_asked_by_address_and_go_by_their_id_in_the_team(owner, person):
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True})
    program, here = manager(owner.user), f"/apps/{owner.app.app_id}/members"

    made = program.post(here, {"email": person.email})
    assert made.status_code == 201
    assert set(made.json()) == {"email", "role", "created_at", "expires_at"}
    assert (made.json()["email"], made.json()["role"]) == (person.email, "member")
    assert [one["member_id"] for one in program.get(here).json()["items"]] == [owner.member_id]
    assert problem(program.post(here, {"email": person.email})) == (409, "already_invited")
    accepted_by(person)
    theirs = AppMember.objects.get(user=person).member_id
    listed = program.get(here)

    assert [one["member_id"] for one in listed.json()["items"]] == [theirs, owner.member_id]
    assert person.email not in listed.content.decode()
    assert problem(program.post(here, {"email": person.email})) == (409, "already_member")
    assert problem(program.post(here, {"email": "nobody"})) == (400, "invalid_request")
    assert problem(program.delete(f"{here}/{owner.member_id}")) == (409, "last_owner")
    gone = program.delete(f"{here}/{theirs}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert problem(program.delete(f"{here}/{theirs}")) == (404, "not_found")


def by_program(stranger: AppMember, person: User) -> None:
    body = {"email": person.email, "role": "owner"}
    assert manager(stranger.user).post(f"/apps/{stranger.app.app_id}/members", body).status_code == 201


def by_role(stranger: AppMember, person: User) -> None:
    them = MemberFactory(app=stranger.app, user=person, role="member")
    change_role(member=them, role="owner", by=stranger.user)


def by_transfer(stranger: AppMember, person: User) -> None:
    them = MemberFactory(app=stranger.app, user=person, role="member")
    transfer_ownership(to=them, by=stranger.user)


def by_older_row(stranger: AppMember, person: User) -> None:
    """As it stands in the database of a deployment that had people made owners."""
    MemberFactory(app=stranger.app, user=person)


@pytest.mark.parametrize("way", [by_program, by_role, by_transfer, by_older_row])
def test_a_stranger_stands_in_nobodys_way(owner, person, way):
    EmailAddress.objects.update_or_create(user=person, email=person.email, defaults={"verified": True})
    way(owner, person)
    if way is by_older_row:
        remove_member(member=owner, by=owner.user)
    else:
        assert not AppMember.objects.filter(user=person, role="owner").exists()

    page = signed_in(person).client
    assert "Before that" not in page.get("/account/delete/").content.decode()
    page.post("/account/delete/", {"address": person.email})
    assert Erasure.objects.filter(user=person).exists()


def test_who_was_made_an_owner_closes_the_app_and_leaves(owner, person):
    by_older_row(owner, person)
    remove_member(member=owner, by=owner.user)
    page, here = signed_in(person).client, f"/developers/apps/{owner.app.app_id}"

    assert page.post(f"{here}/settings/close/", {"name": owner.app.name}).status_code == 302
    assert page.post(f"{here}/members/leave/").headers["Location"] == "/developers/"
    assert not AppMember.objects.filter(user=person).exists()


@pytest.mark.parametrize("body", [{}, {"email": 1}, {"email": ""}, {"email": "a@example.org", "role": "king"}])
def test_a_member_that_does_not_fit_is_400(owner, body):
    assert problem(manager(owner.user).post(f"/apps/{owner.app.app_id}/members", body)) == (400, "invalid_request")
