"""What the buttons of sign-in and account ask for. The views are allauth's: declared by the names of the addresses."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Say, Values, Words
from accounts.sign_in.confirming import signed_in_recently

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_NEXT = Field("next")
_EMAIL = Field("email", _("E-mail address"), "text", 254)
_NEW_PASSWORD = (
    Field("password1", _("New password"), "secret"),
    Field("password2", _("New password (again)"), "secret"),
)
_CODE = Field("code", _("Code"), "secret")  # good for one try within a minute, so it is never kept


def _says(asked: "StrOrPromise", button: "StrOrPromise" = "", *, danger: bool = False) -> Say:
    return lambda request, kwargs, values: Words(str(asked), str(button), danger)


def _here(name: str) -> Callable[[Kwargs, Values], str]:
    return lambda kwargs, values: reverse(name, kwargs=kwargs)


def _itself(name: str, words: Say, *fields: Field, open_to_all: bool = False) -> dict[str, PageAction]:
    """The entry of an address that is a page too, by GET, as allauth's are."""
    return {name: PageAction(page=_here(name), words=words, fields=fields, shows_itself=True, open_to_all=open_to_all)}


def _after_confirming(kwargs: Kwargs, values: Values) -> str:
    there = values.get("next", "")
    return there if url_has_allowed_host_and_scheme(there, None) else reverse("security")


def _reauthenticate(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    if signed_in_recently(request):
        return None  # signing in has just shown it
    return Words(gettext("You were asked to confirm that it is you."), gettext("Confirm"))


def _email(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
    named = {"email": values.get("email", "")}
    if "action_add" in values:
        return Words(gettext("You asked to add the e-mail address %(email)s.") % named, gettext("Add"))
    if "action_remove" in values:
        return Words(
            gettext("You asked to remove the e-mail address %(email)s.") % named, gettext("Remove"), danger=True
        )
    if "action_primary" in values:
        return Words(gettext("You asked to write to %(email)s from now on.") % named, gettext("Make primary"))
    if "action_send" in values:
        return Words(gettext("You asked for a new confirmation mail to %(email)s.") % named, gettext("Send it"))
    return None


_begin_anew = _says(_("This step cannot be kept, since it belongs to one visit. Begin it again."))
_CONFIRM_IT = (Field("password", _("Your sign-in password"), "secret"), _NEXT)

ACTIONS = {
    **_itself(
        "account_login",
        _says(_("You asked to sign in."), _("Sign in")),
        Field("login", _("E-mail address"), "text", 254),
        Field("password", _("Password"), "secret"),
        Field("remember"),
        _NEXT,
        open_to_all=True,
    ),
    **_itself(
        "account_signup",
        _says(_("You asked to create an account."), _("Create account")),
        _EMAIL,
        Field("password1", _("Password"), "secret"),
        _NEXT,
        open_to_all=True,
    ),
    **_itself(
        "sign-up-by-passkey", _says(_("You asked to create an account."), _("Go on")), _EMAIL, _NEXT, open_to_all=True
    ),
    **_itself("create-passkey", _begin_anew, open_to_all=True),
    **_itself(
        "account_logout",
        _says(_("You asked to sign out."), _("Sign out")),
        _NEXT,
        open_to_all=True,
    ),
    **_itself(
        "account_reset_password",
        _says(_("You asked for a link to set a new password."), _("Send me the link")),
        _EMAIL,
        open_to_all=True,
    ),
    **_itself(
        "account_reset_password_from_key",
        _says(_("You asked to set a new password."), _("Set the password")),
        *_NEW_PASSWORD,
        open_to_all=True,
    ),
    **_itself(
        "account_confirm_email",
        _says(_("You asked to confirm your e-mail address."), _("Confirm")),
        open_to_all=True,
    ),
    **_itself(
        "account_confirm_login_code",
        _says(_("You entered a code to sign in."), _("Sign in")),
        _CODE,
        open_to_all=True,
    ),
    "account_reauthenticate": PageAction(_after_confirming, _reauthenticate, _CONFIRM_IT, shows_itself=True),
    **_itself(
        "account_email",
        _email,
        Field("email"),
        *(Field(f"action_{name}") for name in ("add", "remove", "primary", "send")),
    ),
    **_itself(
        "account_change_password",
        _says(_("You asked to change your password."), _("Change the password")),
        Field("oldpassword", _("Current password"), "secret"),
        *_NEW_PASSWORD,
    ),
    **_itself(
        "account_set_password",
        _says(_("You asked to set a password."), _("Set the password")),
        *_NEW_PASSWORD,
    ),
    **_itself(
        "mfa_authenticate",
        _says(_("You entered a code to sign in."), _("Sign in")),
        _CODE,
        open_to_all=True,
    ),
    "mfa_reauthenticate": PageAction(_after_confirming, _reauthenticate, (_CODE, _NEXT), shows_itself=True),
    "mfa_reauthenticate_webauthn": PageAction(_after_confirming, _begin_anew, (_NEXT,), shows_itself=True),
    **_itself("mfa_activate_totp", _begin_anew),
    **_itself(
        "mfa_deactivate_totp",
        _says(_("You asked to turn off the authenticator app."), _("Turn off"), danger=True),
    ),
    **_itself(
        "mfa_generate_recovery_codes",
        _says(_("You asked for new sign-in recovery codes."), _("Make new codes")),
    ),
    **_itself("mfa_add_webauthn", _begin_anew),
    **_itself(
        "mfa_remove_webauthn",
        _says(_("You asked to remove a passkey for signing in."), _("Remove"), danger=True),
    ),
    **_itself(
        "mfa_edit_webauthn",
        _says(_("You asked to rename a passkey."), _("Save")),
        Field("name", _("Name"), "text", 100),
    ),
    "mfa_login_webauthn": PageAction(_here("account_login"), _begin_anew, (), shows_itself=False, open_to_all=True),
    **_itself(
        "signed-in",
        _says(_("You asked to end your other sessions."), _("End them"), danger=True),
    ),
}
