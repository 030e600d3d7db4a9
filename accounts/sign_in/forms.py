"""allauth's forms where a guess could be made, counted; and what they must not tell."""

import re
from typing import Any
from urllib.parse import urlsplit

from allauth.account.forms import ChangePasswordForm, ResetPasswordForm, SetPasswordForm, SignupForm
from allauth.account.utils import get_next_redirect_url
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import validate_totp_code
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils.http import urlencode

from accounts.sign_in import attempts
from accounts.sign_in.addresses import drop_claims, has_account, is_of
from accounts.sign_in.confirming import signed_in_recently, where_to_confirm
from accounts.sign_in.second_factors import has_second_factor, take_code
from common.limits import Limit
from common.mail import mailbox

# what SECURITY.md lists; the labels of the service's own host come on top
WORDS = ("runtime", "consent", "vault", "einwilligung", "passwort", "password", "admin")
ENOUGH = 6  # characters beside these words and beside digits and signs
SIGN_UP_LEADS_TO = "sign_up_leads_to"  # the session's member
_HOUR = 3600
_RESETS_OF_ACCOUNT = Limit("resets", 5, _HOUR)


class CommonOrOfThisService(CommonPasswordValidator):
    """Refuses common passwords, and those that are little more than words of this service: `ConsentRuntime2026!`."""

    def validate(self, password: str, user: object = None) -> None:
        super().validate(password, user)  # type: ignore[arg-type]  # only its text is looked at
        rest = re.sub("|".join(map(re.escape, _words())), "", password.lower())
        if rest != password.lower() and len(re.sub(r"[\W\d_]", "", rest)) < ENOUGH:
            raise ValidationError(self.get_error_message(), code="password_too_common")


def _words() -> list[str]:
    """Longest first, so that none is left over of a longer one."""
    labels = (urlsplit(settings.BASE_URL).hostname or "").lower().split(".")
    return sorted({*WORDS, *(label for label in labels if len(label) > 3)}, key=len, reverse=True)


class SignUp(SignupForm):  # type: ignore[misc]  # allauth has no types
    """Takes as long for an address that has an account as for one that has none.

    `user_id` is the identifier that a passkey holds already (accounts/sign_in/passkeys.py), or None: one is made.
    `leads_to` is where the sign-up goes on, or "": where this very form says. The session keeps it for whoever has to
    confirm the address first.
    """

    user_id: str | None = None
    leads_to = ""

    def try_save(self, request: HttpRequest) -> Any:
        request.session[SIGN_UP_LEADS_TO] = self.leads_to or get_next_redirect_url(request) or ""
        if self.account_already_exists:
            if not self.by_passkey:
                make_password(self.cleaned_data["password1"])  # what a new account's own password takes
            return super().try_save(request)
        with transaction.atomic():
            drop_claims(self.cleaned_data["email"])  # beside one of them allauth would not keep the new account's
            return super().try_save(request)

    def validate_unique_email(self, value: str) -> str:
        """Whoever only added the address to their account does not keep its owner from signing up."""
        unique: str = super().validate_unique_email(value) if has_account(value) else value
        return unique


def _confirm_first(user: Any) -> None:
    """Lead to the page that asks for it. A password that was typed already is not kept meanwhile."""
    if not signed_in_recently(context.request):
        back = urlencode({"next": context.request.path})
        raise ImmediateHttpResponse(redirect(f"{where_to_confirm(user)}?{back}"))


class ChangePassword(ChangePasswordForm):  # type: ignore[misc]  # allauth has no types
    """Asks for the password that is to be replaced, which a stolen session could guess at; and for the second factor,
    since that password is what an account with one does not trust by itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if has_second_factor(self.user):
            _confirm_first(self.user)

    def clean_oldpassword(self) -> str:
        attempt = attempts.begin(context.request, attempts.PASSWORD, user=self.user)
        try:
            password: str = super().clean_oldpassword()
        except ValidationError:
            attempt.failed()
            raise
        attempt.succeeded()
        return password


class SetPassword(SetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """A first password, of somebody who signs in without one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _confirm_first(self.user)


class ResetPassword(ResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """A network may ask for a few resets, of one account and of all; mail to one address has a limit of its own."""

    users: list[Any]

    def clean_email(self) -> str:
        email = self.cleaned_data["email"] = mailbox(self.cleaned_data["email"])
        of_all = Limit("resets-network", settings.PASSWORD_RESETS_PER_NETWORK, _HOUR)
        attempts.count_of_network(context.request, of_all)
        attempts.count_of_network(context.request, _RESETS_OF_ACCOUNT, email)
        cleaned: str = super().clean_email()
        self.users = [user for user in self.users if is_of(user, email)]  # allauth's are also those who only added it
        return cleaned


class _Counted:
    """A code of six digits, which could be guessed."""

    user: Any
    cleaned_data: dict[str, Any]

    def clean_code(self) -> str:
        attempt = attempts.begin(context.request, attempts.CODE, user=self.user)
        try:
            self._take_of_app()  # first: allauth would note one that comes too early as used
            code: str = super().clean_code()  # type: ignore[misc]  # of the form that it is mixed into
        except ValidationError:
            attempt.failed()
            raise
        attempt.succeeded()
        return code

    def _take_of_app(self) -> None:
        """Recovery codes are typed into the same field, and are left to allauth."""
        for app in Authenticator.objects.filter(user=self.user, type="totp"):
            secret, code = get_adapter().decrypt(app.data["secret"]), self.cleaned_data["code"]
            if validate_totp_code(secret, code):
                _take(self.user, secret, code)


def _take(user: Any, secret: str, code: str) -> None:
    if not take_code(user, secret, code):
        raise get_adapter().validation_error("incorrect_code")


class TurnOnApp(ActivateTOTPForm):  # type: ignore[misc]  # allauth has no types
    """The code that turns an authenticator app on is spent: it signs nobody in."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        _take(self.user, self.secret, code)
        return code


class SecondStep(_Counted, AuthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The code after the password."""


class ConfirmWithCode(_Counted, ReauthenticateForm):  # type: ignore[misc]  # allauth has no types
    """The code of somebody who is signed in and confirms that it is them."""
