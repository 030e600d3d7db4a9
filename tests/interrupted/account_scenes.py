"""The same for the pages of sign-in and account, whose views are allauth's."""

from collections.abc import Callable
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.core import mail

from accounts.erasure.actions import request_erasure
from accounts.models import ActorProfile, Erasure, MarketplacePublicProfile, Session, User, UserPhoto
from accounts.sign_in.sessions import SessionStore
from common.identifiers import secret_digest
from tests.factories.accounts import PASSWORD, ErasureFactory, PublicProfileFactory, UserPhotoFactory
from tests.interrupted.plain_browser import Browser
from tests.interrupted.scenes import Make, Scene, Stage

NEW = "another-password-of-tests"


def _again(stage: Stage) -> User:
    return User.objects.get(pk=stage.person.pk)


def add_address(stage: Stage) -> Scene:
    new = "zoe.new@example.org"
    here = "/accounts/email/"
    done = EmailAddress.objects.filter(user=stage.person, email=new).exists
    title = "Add"
    return Scene(here, here, title, done, {"email": new, "action_add": ""})


def change_password(stage: Stage) -> Scene:
    here = "/accounts/password/change/"
    typed = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    return Scene(here, here, "Save password", lambda: _again(stage).check_password(NEW), typed)


def set_password(stage: Stage) -> Scene:
    _app(stage)  # a passkey it would be, which no test client shows
    stage.person.set_unusable_password()
    stage.person.save()
    here, typed = "/accounts/password/set/", {"password1": NEW, "password2": NEW}
    return Scene(here, here, "Save password", lambda: _again(stage).check_password(NEW), typed)


def _app(stage: Stage) -> None:
    """An authenticator app; its recovery codes are what confirms that it is them (`Browser.confirm_it_is_me`)."""
    TOTP.activate(stage.person, generate_totp_secret())
    RecoveryCodes.activate(stage.person)


def _key(stage: Stage) -> Authenticator:
    _app(stage)
    made: Authenticator = Authenticator.objects.create(
        user=stage.person, type="webauthn", data={"name": "Blue key", "credential": {}}
    )
    return made


def remove_key(stage: Stage) -> Scene:
    here = f"/accounts/2fa/webauthn/keys/{_key(stage).pk}/remove/"
    title = "Remove it: Blue key"
    return Scene(here, here, title, lambda: not Authenticator.objects.filter(type="webauthn").exists())


def rename_key(stage: Stage) -> Scene:
    here = f"/accounts/2fa/webauthn/keys/{_key(stage).pk}/edit/"

    def done() -> bool:
        return bool(Authenticator.objects.get(type="webauthn").data["name"] == "Red key")

    return Scene(here, here, "Save", done, {"name": "Red key"}, "Red key")


def deactivate_totp(stage: Stage) -> Scene:
    _app(stage)
    here, title = "/accounts/2fa/totp/deactivate/", "Turn off"
    return Scene(here, here, title, lambda: not Authenticator.objects.filter(type="totp").exists())


def new_codes(stage: Stage) -> Scene:
    _app(stage)
    before = Authenticator.objects.get(type="recovery_codes").wrap().generate_codes()

    def done() -> bool:
        return bool(Authenticator.objects.get(type="recovery_codes").wrap().generate_codes() != before)

    here, title = "/accounts/2fa/recovery-codes/generate/", "Make new codes"
    return Scene(here, here, title, done)


def end_sessions(stage: Stage) -> Scene:
    other = Browser()
    other.sign_in(stage.person)

    def done() -> bool:
        return other.open("/account/security/").wsgi_request.path == "/accounts/login/"

    here = "/accounts/sessions/"
    return Scene(here, here, "Sign out everywhere else", done)


_PROFILE = "/account/public-profile/"
_TYPED = {"handle": "zoe", "display_name": "Zoe", "headline": "Likes trains", "location_hint": "Near Turku"}


def _profile(stage: Stage) -> MarketplacePublicProfile | None:
    return MarketplacePublicProfile.objects.filter(user=stage.person).first()


def save_public_profile(stage: Stage) -> Scene:
    title = "Save"
    return Scene(_PROFILE, _PROFILE, title, lambda: _profile(stage) is not None, _TYPED, "Likes trains")


def switch_public_profile(stage: Stage) -> Scene:
    made = PublicProfileFactory(user=stage.person)
    typed = {"shown": "yes", "seen": made.updated_at.isoformat()}
    done = MarketplacePublicProfile.objects.filter(user=stage.person, is_discoverable=True).exists
    title = "Switch on"
    return Scene(f"{_PROFILE}switch/", f"{_PROFILE}preview/", title, done, typed)


def list_public_profile(stage: Stage) -> Scene:
    PublicProfileFactory(user=stage.person, is_discoverable=True)
    done = ActorProfile.objects.filter(user=stage.person, discoverable=True).exists
    title = "Let apps find me"
    return Scene(f"{_PROFILE}directory/", _PROFILE, title, done, {"listed": "yes"})


def remove_public_profile(stage: Stage) -> Scene:
    PublicProfileFactory(user=stage.person)
    title = "Remove the public profile"
    return Scene(f"{_PROFILE}remove/", _PROFILE, title, lambda: _profile(stage) is None)


def save_name(stage: Stage) -> Scene:
    done = User.objects.filter(pk=stage.person.pk, display_name="Zoe Quinn").exists
    here = "/account/name/"
    return Scene(here, _PROFILE, "Save", done, {"display_name": "Zoe Quinn"}, "Zoe Quinn")


def remove_photo(stage: Stage) -> Scene:
    UserPhotoFactory(user=stage.person)
    User.objects.filter(pk=stage.person.pk).update(photo_digest="0" * 64)

    def done() -> bool:
        return not UserPhoto.objects.filter(user=stage.person).exists()

    return Scene("/account/name/photo/remove/", _PROFILE, "Remove the photo", done)


# after signing in it waits; some of these ask for the password once more before they are done
def delete_account(stage: Stage) -> Scene:
    done = Erasure.objects.filter(user=stage.person).exists
    here, typed = "/account/delete/", {"address": stage.person.email}
    return Scene(here, here, "Delete the account", done, typed)


def keep_account(stage: Stage) -> Scene:
    erasure = request_erasure(by=stage.person)
    done = Erasure.objects.filter(pk=erasure.pk, cancelled_at__isnull=False).exists
    return Scene("/account/delete/keep/", "/account/delete/", "Keep my account", done)


SCENES: dict[str, Make] = {
    "account_email": add_address,
    "account_change_password": change_password,
    "account_set_password": set_password,
    "mfa_remove_webauthn": remove_key,
    "mfa_edit_webauthn": rename_key,
    "mfa_deactivate_totp": deactivate_totp,
    "mfa_generate_recovery_codes": new_codes,
    "signed-in": end_sessions,
    "account-delete": delete_account,
    "account-keep": keep_account,
    "name-and-photo": save_name,
    "own-photo-remove": remove_photo,
    "public-profile": save_public_profile,
    "public-profile-switch": switch_public_profile,
    "public-profile-directory": list_public_profile,
    "public-profile-remove": remove_public_profile,
}


# --- what needs no session: with a stale token it is shown at once ----------------------------------------------------


def sign_in(stage: Stage) -> Scene:
    here, typed = "/accounts/login/", {"login": stage.person.email, "password": PASSWORD}
    return Scene(here, here, "Sign in", lambda: _again(stage).last_login, typed, stage.person.email)


def sign_up(stage: Stage) -> Scene:
    here, new = "/accounts/signup/", "kim@example.org"
    typed = {"email": new, "password1": NEW}
    done = User.objects.filter(email=new).exists
    return Scene(here, here, "Create account", done, typed, new)


def sign_up_by_passkey(stage: Stage) -> Scene:
    """It leads to the second page, which nobody gets to without an address."""
    here, new = "/accounts/signup/passkey/", "kim@example.org"

    def waits_for_its_passkey() -> bool:
        kept = [SessionStore().decode(row.data).get("passkey_sign_up") for row in Session.objects.all()]
        return any(waiting["email"] == new for waiting in kept if waiting)

    return Scene(here, here, "Continue", waits_for_its_passkey, {"email": new}, new)


def reset(stage: Stage) -> Scene:
    here, typed = "/accounts/password/reset/", {"email": stage.person.email}
    title = "Send instructions"
    return Scene(here, here, title, lambda: len(mail.outbox) == 1, typed, stage.person.email)


def language(stage: Stage) -> Scene:
    return Scene("/language/", "/", "Deutsch", lambda: True, {"language": "de"})


def keep_by_mail(stage: Stage) -> Scene:
    erasure = ErasureFactory(user=stage.person, undo_digest=secret_digest("secret-of-the-mail"))
    here = "/account/delete/undo/"
    done = Erasure.objects.filter(pk=erasure.pk, cancelled_at__isnull=False).exists
    return Scene(here, here, "Keep my account", done, {"code": "secret-of-the-mail"})


AT_ONCE: dict[str, Make] = {
    "account-keep-by-mail": keep_by_mail,
    "account_login": sign_in,
    "account_signup": sign_up,
    "sign-up-by-passkey": sign_up_by_passkey,
    "account_reset_password": reset,
    "set-language": language,
}

# Each with the reason why nothing of it can wait. What is sent there lands on a page that says how to begin again.
BOUND_TO_A_VISIT: dict[str, str] = {
    "account_logout": "there is nothing to sign out of any more",
    "account_reauthenticate": "signing in has just shown who it is",
    "mfa_reauthenticate": "signing in has just shown who it is",
    "mfa_reauthenticate_webauthn": "signing in has just shown who it is; the passkey's answer is for one challenge",
    "mfa_activate_totp": "the secret that was scanned belongs to the session that is over",
    "create-passkey": "the passkey's answer is for one challenge of the session that is over",
    "mfa_add_webauthn": "the passkey's answer is for one challenge of the session that is over",
    "mfa_login_webauthn": "the passkey's answer is for one challenge of the session that is over",
    "mfa_authenticate": "the first step of the sign-in is over with its session",
    "account_confirm_login_code": "the code belongs to the session that is over",
    "account_confirm_email": "the key in the address does it, whoever follows it",
    "account_reset_password_from_key": "the key was taken into the session that is over",
    "consent:authorize": "the program that asks is answered once, and asks anew",
    "interrupted-leave": "it drops what waits",
}

Done = Callable[[], Any]
