"""Somebody's own management tokens: made and shown once, for one app or all of them, revoked."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from common.identifiers import secret_digest
from common.problems import InvalidRequest
from developers.models import ManagementToken
from developers.tokens.management_actions import mint_management_token, revoke_management_token
from developers.tokens.queries import live_management_tokens
from tests.callers import sign_in
from tests.factories import AppFactory, ManagementTokenFactory, MemberFactory, PersonFactory

pytestmark = pytest.mark.django_db
PATH = "/developers/management-tokens/"
FORM = {"label": "ci", "app": "*", "read": "on", "days": "30"}


@pytest.fixture
def developer(client: Client) -> User:
    person: User = PersonFactory()
    sign_in(client, person)
    return person


def _form(client: Client, **changes: str) -> dict[str, str]:
    found = re.search(r'name="prefix" value="([^"]+)"', client.get(PATH).content.decode())
    assert found
    return {**FORM, "prefix": found[1], **changes}


def test_a_management_token_is_shown_once(client: Client, developer: User) -> None:
    assert "No management token yet" in client.get(PATH).content.decode()

    answer = client.post(PATH, _form(client))

    token = answer.context["token"]
    row = ManagementToken.objects.get()
    assert re.fullmatch(r"cr_mgmt_\w{8}_[\w-]{43}", token)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert (row.user, row.digest, row.permissions) == (developer, secret_digest(token), {"*": ["read"]})
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    page = client.get(PATH).content.decode()
    assert (row.prefix in page, "Every app: Read" in page, token in page) == (True, True, False)


def test_it_can_be_for_one_app_of_theirs(client: Client, developer: User) -> None:
    app = MemberFactory(user=developer, role="member").app

    client.post(PATH, _form(client, app=app.app_id, write="on"))

    assert ManagementToken.objects.get().permissions == {app.app_id: ["read", "write"]}


def test_what_is_sent_twice_makes_one(client: Client, developer: User) -> None:
    sent = _form(client)
    answers = [client.post(PATH, sent, follow=True).content.decode() for _ in range(2)]

    assert ManagementToken.objects.count() == 1
    assert "This form was sent before" in answers[1]


@pytest.mark.parametrize(
    "unfit",
    [{"label": ""}, {"days": "91"}, {"days": "0"}, {"read": ""}, {"app": "app_x"}, {"app": ""}, {"prefix": "x"}],
)
def test_what_does_not_fit_makes_nothing(client: Client, developer: User, unfit: dict[str, str]) -> None:
    assert client.post(PATH, _form(client, **unfit)).status_code == 400
    assert not ManagementToken.objects.exists()


def test_an_app_of_others_cannot_be_named(client: Client, developer: User) -> None:
    other = AppFactory()

    assert client.post(PATH, _form(client, app=other.app_id)).status_code == 400
    with pytest.raises(InvalidRequest):
        mint_management_token(label="ci", by=developer, permissions={other.app_id: ["read"]})
    for permissions in ({}, {"*": []}, {"*": ["everything"]}):
        with pytest.raises(InvalidRequest):
            mint_management_token(label="ci", by=developer, permissions=permissions)
    with pytest.raises(InvalidRequest):
        mint_management_token(label="ci", by=developer, permissions={"*": ["read"]}, lifetime=timedelta(days=91))


def test_nobody_has_more_than_twenty_at_one_time(developer: User) -> None:
    first, *_ = [mint_management_token(label="ci", by=developer, permissions={"*": ["read"]}) for _ in range(20)]
    with pytest.raises(InvalidRequest):
        mint_management_token(label="ci", by=developer, permissions={"*": ["read"]})

    assert revoke_management_token(token=first[0], by=developer) is True
    mint_management_token(label="ci", by=developer, permissions={"*": ["read"]})


def test_it_is_revoked_after_a_confirmation(client: Client, developer: User) -> None:
    token = ManagementTokenFactory(user=developer)
    path = f"{PATH}{token.prefix}/revoke/"
    assert "Revoke it" in client.get(path).content.decode()
    assert live_management_tokens(developer).get() == token

    assert "The token is revoked" in client.post(path, follow=True).content.decode()

    assert not live_management_tokens(developer).exists()
    assert "had ended already" in client.post(path, follow=True).content.decode()


def test_a_token_of_others_is_not_revoked(developer: User) -> None:
    assert revoke_management_token(token=ManagementTokenFactory(), by=developer) is False
