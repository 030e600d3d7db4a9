"""The operator's commands: an app, a token printed once, and its end."""

import pytest
from django.core.management import CommandError, call_command

from developers.authentication import find_token
from developers.models import App, DeveloperToken
from tests.factories import AppFactory, MemberFactory

ARGUMENTS = {
    "name": "Trip Planner",
    "legal_name": "Trips GmbH",
    "website": "https://trips.example",
    "privacy_policy": "https://trips.example/privacy",
    "contact": "privacy@trips.example",
}


def test_make_app_prints_its_id(person, capsys):
    call_command("make_app", owner=person.email.upper(), verified=True, **ARGUMENTS)
    app = App.objects.get()
    assert capsys.readouterr().out == f"{app.app_id}\n"
    assert (app.name, app.verified, app.application.applicant) == ("Trip Planner", True, person)


@pytest.mark.parametrize("change", [{"owner": "nobody@example.org"}, {"website": "http://trips.example"}])
def test_make_app_that_cannot_be(person, change):
    with pytest.raises(CommandError):
        call_command("make_app", **({"owner": person.email, **ARGUMENTS} | change))
    assert not App.objects.exists()


@pytest.fixture
def owned_app(app):
    MemberFactory(app=app, user=app.application.applicant)
    return app


def test_make_token_prints_it_once(owned_app, capsys):
    call_command("make_token", owned_app.app_id, label="backend", permissions="read, request", days=1, header_only=True)
    token = capsys.readouterr().out.strip()
    found = find_token(token)
    assert (found.app_id, found.permissions, found.header_only) == (owned_app.app_id, {"request", "read"}, True)
    row = DeveloperToken.objects.get()
    assert (row.label, row.created_by) == ("backend", owned_app.application.applicant)


@pytest.mark.parametrize("options", [{"days": 366}, {"days": 0}, {"permissions": "approve"}, {"permissions": ""}])
def test_make_token_that_may_not_be(owned_app, options):
    with pytest.raises(CommandError):
        call_command("make_token", owned_app.app_id, **options)
    assert not DeveloperToken.objects.exists()


def test_make_token_needs_an_app(db):
    with pytest.raises(CommandError):
        call_command("make_token", "app_unknown")


def test_revoke_token(owned_app, capsys):
    call_command("make_token", owned_app.app_id)
    token = capsys.readouterr().out.strip()
    prefix = DeveloperToken.objects.get().prefix
    call_command("revoke_token", prefix)
    assert capsys.readouterr().out == f"cr_live_{prefix}_… is revoked.\n"
    assert find_token(token) is None
    call_command("revoke_token", prefix)
    assert capsys.readouterr().out == f"cr_live_{prefix}_… had ended already.\n"


@pytest.mark.parametrize("most", [16, 200])
def test_revoke_token_as_it_leaked(owned_app, capsys, most):
    call_command("make_token", owned_app.app_id)
    token = capsys.readouterr().out.strip()

    call_command("revoke_token", token[:most])

    assert find_token(token) is None
    assert token not in capsys.readouterr().out


def test_revoke_unknown_token(db):
    AppFactory()
    with pytest.raises(CommandError):
        call_command("revoke_token", "abcdefgh")
