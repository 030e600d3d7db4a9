"""The forms of sign-in and account, whose views are allauth's: by the names of their addresses."""

from django.utils.translation import gettext_lazy as _

from accounts.interrupted.page_forms import Field, PageForm, form_of_page

_EMAIL = Field("email", _("E-mail address"), "text", 254)
_NEW_PASSWORD = (
    Field("password1", _("New password"), "secret"),
    Field("password2", _("New password (again)"), "secret"),
)
_CODE = Field("code", _("Code"), "secret")  # good for one try within a minute, so it is never kept
_LOGIN = (
    Field("login", _("E-mail address"), "text", 254), Field("password", _("Password"), "secret"), "remember", "next",
)  # fmt: skip
_SIGN_UP = (_EMAIL, Field("password1", _("Password"), "secret"), "next")
_CONFIRM_IT = (Field("password", _("Your sign-in password"), "secret"), "next")
_CHANGE_PASSWORD = (Field("oldpassword", _("Current password"), "secret"), *_NEW_PASSWORD)
_ADDRESSES = {
    "action_add": _("Add"),
    "action_remove": _("Remove"),
    "action_primary": _("Make it the main one"),
    "action_send": _("Send the confirmation again"),
}

FORMS: dict[str, PageForm] = {
    "account_login": form_of_page(_("Sign in"), *_LOGIN, open_to_all=True),
    "account_signup": form_of_page(_("Create account"), *_SIGN_UP, open_to_all=True),
    "sign-up-by-passkey": form_of_page(_("Continue"), _EMAIL, "next", open_to_all=True),
    "create-passkey": form_of_page(open_to_all=True),
    "account_logout": form_of_page(_("Sign out"), "next", open_to_all=True),
    "account_reset_password": form_of_page(_("Send instructions"), _EMAIL, open_to_all=True),
    "account_reset_password_from_key": form_of_page(_("Save password"), *_NEW_PASSWORD, open_to_all=True),
    "account_confirm_email": form_of_page(_("Yes, confirm it"), open_to_all=True),
    "account_confirm_login_code": form_of_page(_("Sign in"), _CODE, open_to_all=True),
    "account_reauthenticate": form_of_page(_("Confirm"), *_CONFIRM_IT, is_sign_in=True),
    "account_email": form_of_page(_ADDRESSES, _EMAIL),
    "account_change_password": form_of_page(_("Save password"), *_CHANGE_PASSWORD),
    "account_set_password": form_of_page(_("Save password"), *_NEW_PASSWORD),
    "mfa_authenticate": form_of_page(_("Sign in"), _CODE, open_to_all=True),
    "mfa_reauthenticate": form_of_page(_("Confirm"), _CODE, "next", is_sign_in=True),
    "mfa_reauthenticate_webauthn": form_of_page(),
    "mfa_activate_totp": form_of_page(),
    "mfa_deactivate_totp": form_of_page(_("Turn off"), danger=True),
    "mfa_generate_recovery_codes": form_of_page(_("Make new codes")),
    "mfa_add_webauthn": form_of_page(),
    "mfa_remove_webauthn": form_of_page(_("Remove it"), danger=True),
    "mfa_edit_webauthn": form_of_page(_("Save"), Field("name", _("Name"), "text", 100)),
    "mfa_login_webauthn": form_of_page(has_page=False, open_to_all=True),
    "signed-in": form_of_page(_("Sign out everywhere else"), danger=True),
}
