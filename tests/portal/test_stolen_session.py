"""What a stolen session must not be enough for: what lets programs or people into an app for longer than it lasts."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse

from accounts.models import SecurityChange, User
from consent.connector_keys.models import ConnectorKey
from consent_bridge.sealed import generate_connector_key, public_half
from developers.apps.models import AppStatus
from developers.members.invitations import masked
from developers.members.models import AppMember
from developers.models import App, AppAuditEntry, AppInvitation, DeveloperToken, ManagementToken
from developers.tokens.management_actions import mint_management_token
from tests import factories
from tests.accounts.test_security_mail import written
from tests.callers import API, JsonClient, manager, signed_in
from tests.factories.accounts import PASSWORD
from tests.staff import confirm, give_second_factor

pytestmark = pytest.mark.django_db
THIEFS = public_half(generate_connector_key())


@pytest.fixture
def own() -> AppMember:
    """An owner of a live app, with a token, an endpoint, a member beside them and an open invitation."""
    made = factories.MemberFactory()
    EmailAddress.objects.create(user=made.user, email=made.user.email, verified=True, primary=True)
    factories.TokenFactory(app=made.app)
    factories.WebhookEndpointFactory(app=made.app)
    factories.DestinationFactory(app=made.app)
    factories.MemberFactory(app=made.app, role="member")
    factories.AppInvitationFactory(app=made.app, invited_by=made.user)
    return made


def _prefix(page: str) -> str:
    return re.search(r'name="prefix" value="([^"]+)"', page)[1]  # type: ignore[index]  # every such page has it


Act = Callable[[AppMember, Client], tuple[str, dict[str, str]]]


def _mint(own: AppMember, page: Client) -> tuple[str, dict[str, str]]:
    at = reverse("portal:tokens", args=[own.app.app_id])
    return at, {"label": "CI", "read": "on", "days": "365", "prefix": _prefix(page.get(at).content.decode())}


def _mint_management(own: AppMember, page: Client) -> tuple[str, dict[str, str]]:
    at = reverse("portal:management-tokens")
    prefix = _prefix(page.get(at).content.decode())
    return at, {"label": "CI", "app": "*", "read": "on", "write": "on", "days": "90", "prefix": prefix}


def _leave(own: AppMember, page: Client) -> tuple[str, dict[str, str]]:
    factories.MemberFactory(app=own.app)  # who owns it then
    return reverse("portal:leave-team", args=[own.app.app_id]), {}


def _other(name: str, /, **form: str) -> Act:
    def at(own: AppMember, page: Client) -> tuple[str, dict[str, str]]:
        other = own.app.members.exclude(pk=own.pk).get()
        return reverse(name, args=[own.app.app_id, other.member_id]), form

    return at


def _of_app(name: str, /, **form: str) -> Act:
    def at(own: AppMember, page: Client) -> tuple[str, dict[str, str]]:
        filled = {key: own.app.name if value == "its name" else value for key, value in form.items()}
        return reverse(name, args=[own.app.app_id]), filled

    return at


def _of(name: str, row: Callable[[App], Any], /, **form: str) -> Act:
    return lambda own, page: (reverse(name, args=[own.app.app_id, row(own.app)]), form)


ACTS: dict[str, Act] = {
    "make a token": _mint,
    "rotate a token": _of("portal:token-rotate", lambda app: app.tokens.get().prefix, overlap="0"),
    "make a management token": _mint_management,
    "register a connector key": _of_app("portal:keys", key_id="key-2", jwk=json.dumps(THIEFS)),
    "add an endpoint": _of_app("portal:webhooks", url="https://thief.example/hook"),
    "lead an endpoint elsewhere": _of(
        "portal:webhook-change", lambda app: app.webhook_endpoints.get().pk, url="https://thief.example/hook"
    ),
    "renew an endpoint's secret": _of("portal:webhook-renew", lambda app: app.webhook_endpoints.get().pk, overlap="0"),
    "add a destination": _of_app("portal:destinations", name="Mine", url="https://thief.example/in"),
    "renew a destination's secret": _of(
        "portal:destination-renew", lambda app: app.activation_destinations.get().destination_id
    ),
    "invite somebody": _of_app("portal:invite", email="thief@example.org", role="owner"),
    "invite once more": _of("portal:resend-invitation", lambda app: app.invitations.get().pk),
    "make a member an owner": _other("portal:change-role", role="owner"),
    "hand the app over": _other("portal:transfer-app"),
    "remove somebody": _other("portal:remove-member"),
    "leave the team": _leave,
    "close the app": _of_app("portal:close", name="its name"),
}


def state() -> Any:
    """Everything that lets somebody in."""
    models = (App, AppMember, AppInvitation, ConnectorKey, DeveloperToken, ManagementToken)
    rows = [list(model.objects.order_by("pk").values()) for model in models]  # type: ignore[attr-defined]
    endpoints = [
        (list(app.webhook_endpoints.order_by("pk").values()), list(app.activation_destinations.order_by("pk").values()))
        for app in App.objects.all()
    ]
    return rows, endpoints


@pytest.mark.parametrize("what", ACTS)
def test_an_old_sign_in_lets_nobody_in(what: str, own: AppMember) -> None:
    thief = signed_in(own.user, seconds_ago=601).client
    at, form = ACTS[what](own, thief)
    before = state()
    answer = thief.post(at, form)

    assert answer.headers["Location"].startswith("/accounts/reauthenticate/?next=")
    assert (state(), SecurityChange.objects.count()) == (before, 0)
    again = thief.post(at, form, headers={"Accept": "application/json", "X-Requested-With": "XMLHttpRequest"})
    assert (again.status_code, state()) == (302, before)


@pytest.mark.parametrize("what", ACTS)
def test_a_password_is_not_enough_where_there_is_a_second_factor(what: str, own: AppMember) -> None:
    secret = give_second_factor(own.user)
    page = signed_in(own.user).client
    at, form = ACTS[what](own, page)
    before = state()
    page.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert page.post(at, form).headers["Location"].startswith("/accounts/2fa/reauthenticate/?next=")
    assert state() == before

    confirm(page, secret)
    assert page.post(at, form).status_code in (200, 302)
    assert state() != before


# a registered key has a mail of its own, to every owner (tests/consent/connector_keys/test_registering.py)
@pytest.mark.parametrize("what", [what for what in ACTS if what != "register a connector key"])
def test_what_was_done_is_told_by_mail(what: str, own: AppMember) -> None:
    page = signed_in(own.user).client
    at, form = ACTS[what](own, page)
    before = state()
    page.post(at, form)

    assert state() != before
    assert len(written()) == 1 + (what == "remove somebody")  # who was removed is told, too
    [message] = [sent for sent in mail.outbox if sent.to == [own.user.email]]
    assert ("CI" if what == "make a management token" else own.app.name) in message.subject
    assert "/developers/management-tokens/" in message.body


# --- taking access back -----------------------------------------------------------------------------------------------


def managing(own: AppMember) -> JsonClient:
    _, token = mint_management_token(label="CI", by=own.user, permissions={"*": ["read", "write"]})
    return JsonClient(Client(), prefix=f"{API}/manage", headers={"Authorization": f"Bearer {token}"})


def sign_out_everywhere(user: User) -> None:
    assert signed_in(user).client.post("/accounts/sessions/").status_code == 302


def reset(user: User) -> None:
    browser = Client()
    browser.post("/accounts/password/reset/", {"email": user.email})
    link = re.search(r"https?://[^/]+(/\S+)", str(mail.outbox[-1].body))
    form = browser.get(link[1], follow=True)  # type: ignore[index]  # the mail has it
    new = "another quiet harbour 7"
    browser.post(form.request["PATH_INFO"], {"password1": new, "password2": new})
    assert User.objects.get(pk=user.pk).check_password(new)


def end_the_account(user: User) -> None:
    from accounts.erasure.actions import erase, order_erasure

    erase(erasure_pk=order_erasure(of=user).pk)


@pytest.mark.parametrize("how", [sign_out_everywhere, reset, end_the_account])
def test_management_tokens_end_with_what_was_lost(how: Callable[[User], None], own: AppMember) -> None:
    program, other = managing(own), manager(factories.MemberFactory().user)
    assert program.get("/apps").status_code == 200
    how(own.user)

    assert program.get("/apps").status_code == 401
    assert program.post(f"/apps/{own.app.app_id}/tokens", {"label": "Stolen"}).status_code == 401
    assert other.get("/apps").status_code == 200


@pytest.mark.parametrize("how", [sign_out_everywhere, reset])
def test_what_they_invited_ends_too(how: Callable[[User], None], own: AppMember) -> None:
    thief = factories.PersonFactory()
    EmailAddress.objects.create(user=thief, email=thief.email, verified=True)
    managing(own).post(f"/apps/{own.app.app_id}/members", {"email": thief.email, "role": "owner"})
    theirs = AppInvitation.objects.filter(invited_by=own.user)
    of_another = factories.AppInvitationFactory(app=own.app)
    assert theirs.count() == 2
    how(own.user)

    assert not theirs.filter(withdrawn_at=None).exists()
    assert AppInvitation.objects.get(withdrawn_at=None) == of_another
    ended = AppAuditEntry.objects.filter(app=own.app, action="invitation.withdrawn")
    assert {entry.facts["address"] for entry in ended} == {"i…@example.org", masked(thief.email)}


def test_what_they_made_is_listed_and_can_be_revoked(own: AppMember) -> None:
    program = managing(own)
    made = program.post(f"/apps/{own.app.app_id}/tokens", {"label": "Stolen", "expires_in": 365 * 86400}).json()
    old = factories.TokenFactory(app=own.app, created_by=own.user, label="Of last month")
    DeveloperToken.objects.filter(pk=old.pk).update(created_at=old.created_at - timedelta(days=365))
    factories.TokenFactory(app=own.app, label="Of somebody else")
    sign_out_everywhere(own.user)
    assert [subject for _, subject in written()] == [
        "Something that gives access to your apps or your account was changed"
    ]
    assert "Your management tokens were revoked" in mail.outbox[0].body

    page = signed_in(own.user, seconds_ago=601).client  # whoever takes access away is not kept waiting
    shown = page.get("/developers/management-tokens/").content.decode()
    assert "Stolen" in shown
    assert "Of last month" not in shown
    assert "Of somebody else" not in shown
    revoke = reverse("portal:token-revoke", args=[own.app.app_id, made["prefix"]])
    assert f'href="{revoke}"' in shown
    assert page.post(revoke).status_code == 302
    assert DeveloperToken.objects.get(prefix=made["prefix"]).revoked_at is not None
    assert "Stolen" not in page.get("/developers/management-tokens/").content.decode()


def test_a_stolen_form_that_waited_is_sent_by_its_owner_alone(own: AppMember) -> None:
    thief = signed_in(own.user, seconds_ago=601).client
    at, form = ACTS["close the app"](own, thief)
    waits = thief.post(at, form).headers["Location"]
    for _ in range(2):
        assert thief.post(at, form).headers["Location"] == waits
    assert thief.get(at).status_code == 200
    assert App.objects.get(pk=own.app.pk).status == AppStatus.ACTIVE

    thief.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert App.objects.get(pk=own.app.pk).status == AppStatus.ACTIVE  # confirming alone does nothing
    thief.post(at, form)
    assert App.objects.get(pk=own.app.pk).status == AppStatus.CLOSED
