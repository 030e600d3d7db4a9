"""The same for the forms of the developer portal."""

import json

from allauth.account.models import EmailAddress

from consent.connector_keys.models import ConnectorKey
from consent.sandbox.models import SandboxPerson
from consent_bridge.sealed import generate_connector_key, public_half
from developers.members.models import AppInvitation, AppMember
from developers.models import App
from developers.tokens.models import DeveloperToken, ManagementToken
from tests.factories import (
    AppInvitationFactory,
    ConsentRequestFactory,
    ManagementTokenFactory,
    MemberFactory,
    SandboxPersonFactory,
    TestAppFactory,
    TokenFactory,
)
from tests.interrupted.scenes import Make, Scene, Stage
from tests.vouched import registered


def make_test_app(stage: Stage) -> Scene:
    done = App.objects.filter(name="Lunch Finder", members__user=stage.person).exists
    title, typed = "Make the test app", {"name": "Lunch Finder"}
    return Scene("/developers/apps/", "/developers/", title, done, typed, "Lunch Finder")


def _own_app(stage: Stage) -> App:
    app: App = MemberFactory(user=stage.person, app=TestAppFactory(name="Lunch Finder")).app
    return app


def mint_token(stage: Stage) -> Scene:
    app = _own_app(stage)
    here = f"/developers/apps/{app.app_id}/tokens/"
    done = DeveloperToken.objects.filter(app=app, label="backend", header_only=True).exists
    typed = {"label": "backend", "header_only": "on"}
    return Scene(here, here, "Make the token: Lunch Finder", done, typed, "backend")


def rotate_token(stage: Stage) -> Scene:
    token = TokenFactory(app=_own_app(stage), label="backend")
    here = f"/developers/apps/{token.app.app_id}/tokens/{token.prefix}/rotate/"

    def done() -> bool:
        return DeveloperToken.objects.count() == 2

    return Scene(here, here, "Rotate it: backend", done, {"overlap": "3600"})


def revoke_token(stage: Stage) -> Scene:
    token = TokenFactory(app=_own_app(stage), label="backend")
    here = f"/developers/apps/{token.app.app_id}/tokens/{token.prefix}/revoke/"
    done = DeveloperToken.objects.filter(revoked_at__isnull=False).exists
    return Scene(here, here, "Revoke it: backend", done)


def mint_management_token(stage: Stage) -> Scene:
    here, title = "/developers/management-tokens/", "Make the token"
    return Scene(here, here, title, ManagementToken.objects.exists, {"label": "ci"}, "ci")


def revoke_management_token(stage: Stage) -> Scene:
    token = ManagementTokenFactory(user=stage.person, label="ci")
    here = f"/developers/management-tokens/{token.prefix}/revoke/"
    done = ManagementToken.objects.filter(revoked_at__isnull=False).exists
    return Scene(here, here, "Revoke it: ci", done)


def rename_app(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/settings/"
    done = App.objects.filter(name="Supper Finder").exists
    return Scene(here, here, "Save: Lunch Finder", done, {"name": "Supper Finder"}, "Supper Finder")


def close_app(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/settings/close/"
    title, typed = "Close the app: Lunch Finder", {"name": "Lunch Finder"}
    return Scene(here, here, title, lambda: App.objects.get().status == "closed", typed, "Lunch Finder")


def make_sandbox_person(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/sandbox/"
    done = SandboxPerson.objects.filter(label="Says yes").exists
    title = "Make the person: Lunch Finder"
    return Scene(f"{here}new/", here, title, done, {"label": "Says yes"}, "Says yes")


def _played(stage: Stage) -> tuple[SandboxPerson, str]:
    played = SandboxPersonFactory(app=_own_app(stage), user__display_name="Ada")
    return played, f"/developers/apps/{played.app.app_id}/sandbox/{played.user.public_id}/"


def move_clock(stage: Stage) -> Scene:
    played, here = _played(stage)
    consent_request = ConsentRequestFactory(user=played.user, app=played.app)

    def done() -> bool:
        consent_request.refresh_from_db()
        return consent_request.status == "expired"

    days = {"seconds": str(30 * 86400)}
    return Scene(f"{here}clock/", here, "Let it expire: Ada", done, days)


def delete_sandbox_person(stage: Stage) -> Scene:
    _, here = _played(stage)
    title = "Delete this person: Ada"
    return Scene(f"{here}delete/", here, title, lambda: not SandboxPerson.objects.exists())


def call_from_console(stage: Stage) -> Scene:
    app = _own_app(stage)
    here = f"/developers/apps/{app.app_id}/try/?operation=makeSandboxPerson"
    done = SandboxPerson.objects.filter(label="Says yes", app=app).exists
    title, typed = "Call it: makeSandboxPerson, Lunch Finder", {"body": '{"label": "Says yes"}'}
    return Scene(here, here, title, done, typed, "Lunch Finder")


def _team(stage: Stage, role: str = "owner") -> tuple[AppMember, AppMember, str]:
    """The person's membership, an owner beside them, and the page of their team."""
    own = MemberFactory(app=TestAppFactory(name="Lunch Finder"), user=stage.person, role=role)
    return own, MemberFactory(app=own.app), f"/developers/apps/{own.app.app_id}/members/"


def invite(stage: Stage) -> Scene:
    page = _team(stage)[2]
    title, typed = "Invite: Lunch Finder", {"email": "new@example.org"}
    done = AppInvitation.objects.filter(email="new@example.org").exists
    return Scene(f"{page}invite/", page, title, done, {**typed, "role": "member"}, "new@example.org")


def of_invitation(act: str, title: str) -> Make:
    def make(stage: Stage) -> Scene:
        own, _, page = _team(stage)
        made = AppInvitationFactory(app=own.app, email="new@example.org", invited_by=own.user)

        def done() -> bool:
            after = AppInvitation.objects.get(pk=made.pk)
            return after.withdrawn_at is not None if act == "withdraw" else after.digest != made.digest

        return Scene(f"/developers/apps/{own.app.app_id}/invitations/{made.pk}/{act}/", page, title, done)

    return make


def of_member(act: str, title: str, becomes: str, **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        _, other, page = _team(stage)
        AppMember.objects.filter(pk=other.pk).update(role="owner" if act != "transfer" else "member")

        def done() -> bool:
            if becomes == "asked":
                return AppInvitation.objects.filter(person=other.user, hands_over=True).exists()
            found = AppMember.objects.filter(pk=other.pk).first()
            return (found.role if found else "") == becomes

        full_title = title % {"who": other.user.email}
        return Scene(f"{page}{other.member_id}/{act}/", page, full_title, done, typed)

    return make


def leave_team(stage: Stage) -> Scene:
    own, _, page = _team(stage)

    def done() -> bool:
        return not AppMember.objects.filter(pk=own.pk).exists()

    return Scene(f"{page}leave/", page, "Leave the team: Lunch Finder", done)


def agree_to_tests(stage: Stage) -> Scene:
    own, _, page = _team(stage)
    done = AppMember.objects.filter(pk=own.pk, agreed_to_tests_at__isnull=False).exists
    title = "Let this app ask me: Lunch Finder"
    return Scene(f"{page}tests/", page, title, done, {"agreed": "yes"})


def accept_invitation(stage: Stage) -> Scene:
    EmailAddress.objects.update_or_create(
        user=stage.person, email=stage.person.email, defaults={"verified": True, "primary": True}
    )
    made = AppInvitationFactory(app=TestAppFactory(name="Lunch Finder"), email=stage.person.email)
    done = AppMember.objects.filter(app=made.app, user=stage.person).exists
    path = f"/developers/invitations/{made.secret}/"
    return Scene(path, path, "Join the team: Lunch Finder", done)


def register_key(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/keys/"
    key = json.dumps(public_half(generate_connector_key()))
    done = ConnectorKey.objects.filter(key_id="backend-1", registered_at__isnull=False).exists
    return Scene(here, here, "Register it: Lunch Finder", done, {"key_id": "backend-1", "jwk": key}, "backend-1")


def remove_key(stage: Stage) -> Scene:
    key = registered(_own_app(stage))
    here = f"/developers/apps/{key.app.app_id}/keys/{key.thumbprint}/remove/"
    done = ConnectorKey.objects.filter(removed_at__isnull=False).exists
    return Scene(here, here, f"Remove it: {key.key_id}", done)


SCENES: dict[str, Make] = {
    "portal:keys": register_key,
    "portal:key-remove": remove_key,
    "portal:make-sandbox-person": make_sandbox_person,
    "portal:sandbox-clock": move_clock,
    "portal:delete-sandbox-person": delete_sandbox_person,
    "portal:try": call_from_console,
    "portal:make-test-app": make_test_app,
    "portal:tokens": mint_token,
    "portal:token-rotate": rotate_token,
    "portal:token-revoke": revoke_token,
    "portal:management-tokens": mint_management_token,
    "portal:management-token-revoke": revoke_management_token,
    "portal:settings": rename_app,
    "portal:close": close_app,
    "portal:invite": invite,
    "portal:resend-invitation": of_invitation("send", "Send it again: new@example.org"),
    "portal:withdraw-invitation": of_invitation("withdraw", "Withdraw: new@example.org"),
    "portal:change-role": of_member("role", "Make a member: %(who)s", "member", role="member"),
    "portal:transfer-app": of_member("transfer", "Hand the app over: %(who)s", "asked"),
    "portal:remove-member": of_member("remove", "Remove: %(who)s", ""),
    "portal:leave-team": leave_team,
    "portal:agree-to-tests": agree_to_tests,
    "portal:invitation": accept_invitation,
}
