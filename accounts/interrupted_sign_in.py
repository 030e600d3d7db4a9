"""What the buttons of sign-in and account ask for. The views are allauth's: declared by the names of the addresses."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import signed_in_recently
from accounts.page_actions import Field, PageAction, Values, Words

Kwargs = dict[str, Any]
Say = Callable[[HttpRequest, Kwargs, Values], Words | None]
_NEXT = Field("next")
_EMAIL = Field("email", _("E-mail address"), "text", 254)
_NEW_PASSWORD = (
    Field("password1", _("New password"), "secret"),
    Field("password2", _("New password (again)"), "secret"),
)
_CODE = Field("code", _("Code"), "secret")  # good for one try within a minute, so it is never kept


def _says(asked: Callable[[], str], button: Callable[[], str] = str, *, danger: bool = False) -> Say:
    return lambda request, kwargs, values: Words(asked(), button(), danger)


def _here(name: str) -> Callable[[Kwargs, Values], str]:
    return lambda kwargs, values: reverse(name, kwargs=kwargs)


def _itself(name: str, words: Say, *fields: Field, open_to_all: bool = False) -> PageAction:
    """allauth's addresses are pages too, by GET."""
    return PageAction(page=_here(name), words=words, fields=fields, shows_itself=True, open_to_all=open_to_all)


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


_begin_anew = _says(lambda: gettext("This step cannot be kept, since it belongs to one visit. Begin it again."))
_CONFIRM_IT = (Field("password", _("Your sign-in password"), "secret"), _NEXT)

ACTIONS = {
    "account_login": _itself(
        "account_login",
        _says(lambda: gettext("You asked to sign in."), lambda: gettext("Sign in")),
        Field("login", _("E-mail address"), "text", 254),
        Field("password", _("Password"), "secret"),
        Field("remember"),
        _NEXT,
        open_to_all=True,
    ),
    "account_signup": _itself(
        "account_signup",
        _says(lambda: gettext("You asked to create an account."), lambda: gettext("Create account")),
        _EMAIL,
        Field("password1", _("Password"), "secret"),
        _NEXT,
        open_to_all=True,
    ),
    "account_logout": _itself(
        "account_logout",
        _says(lambda: gettext("You asked to sign out."), lambda: gettext("Sign out")),
        _NEXT,
        open_to_all=True,
    ),
    "account_reset_password": _itself(
        "account_reset_password",
        _says(lambda: gettext("You asked for a link to set a new password."), lambda: gettext("Send me the link")),
        _EMAIL,
        open_to_all=True,
    ),
    "account_reset_password_from_key": _itself(
        "account_reset_password_from_key",
        _says(lambda: gettext("You asked to set a new password."), lambda: gettext("Set the password")),
        *_NEW_PASSWORD,
        open_to_all=True,
    ),
    "account_confirm_email": _itself(
        "account_confirm_email",
        _says(lambda: gettext("You asked to confirm your e-mail address."), lambda: gettext("Confirm")),
        open_to_all=True,
    ),
    "account_confirm_login_code": _itself(
        "account_confirm_login_code",
        _says(lambda: gettext("You entered a code to sign in."), lambda: gettext("Sign in")),
        _CODE,
        open_to_all=True,
    ),
    "account_reauthenticate": PageAction(_after_confirming, _reauthenticate, _CONFIRM_IT, shows_itself=True),
    "account_email": _itself(
        "account_email",
        _email,
        Field("email"),
        *(Field(f"action_{name}") for name in ("add", "remove", "primary", "send")),
    ),
    "account_change_password": _itself(
        "account_change_password",
        _says(lambda: gettext("You asked to change your password."), lambda: gettext("Change the password")),
        Field("oldpassword", _("Current password"), "secret"),
        *_NEW_PASSWORD,
    ),
    "account_set_password": _itself(
        "account_set_password",
        _says(lambda: gettext("You asked to set a password."), lambda: gettext("Set the password")),
        *_NEW_PASSWORD,
    ),
    "mfa_authenticate": _itself(
        "mfa_authenticate",
        _says(lambda: gettext("You entered a code to sign in."), lambda: gettext("Sign in")),
        _CODE,
        open_to_all=True,
    ),
    "mfa_reauthenticate": PageAction(_after_confirming, _reauthenticate, (_CODE, _NEXT), shows_itself=True),
    "mfa_reauthenticate_webauthn": PageAction(_after_confirming, _begin_anew, (_NEXT,), shows_itself=True),
    "mfa_activate_totp": _itself("mfa_activate_totp", _begin_anew),
    "mfa_deactivate_totp": _itself(
        "mfa_deactivate_totp",
        _says(
            lambda: gettext("You asked to turn off the authenticator app."), lambda: gettext("Turn off"), danger=True
        ),
    ),
    "mfa_generate_recovery_codes": _itself(
        "mfa_generate_recovery_codes",
        _says(lambda: gettext("You asked for new sign-in recovery codes."), lambda: gettext("Make new codes")),
    ),
    "mfa_add_webauthn": _itself("mfa_add_webauthn", _begin_anew),
    "mfa_remove_webauthn": _itself(
        "mfa_remove_webauthn",
        _says(lambda: gettext("You asked to remove a passkey for signing in."), lambda: gettext("Remove"), danger=True),
    ),
    "mfa_edit_webauthn": _itself(
        "mfa_edit_webauthn",
        _says(lambda: gettext("You asked to rename a passkey."), lambda: gettext("Save")),
        Field("name", _("Name"), "text", 100),
    ),
    "mfa_login_webauthn": PageAction(_here("account_login"), _begin_anew, (), shows_itself=False, open_to_all=True),
    "signed-in": _itself(
        "signed-in",
        _says(lambda: gettext("You asked to end your other sessions."), lambda: gettext("End them"), danger=True),
    ),
}
