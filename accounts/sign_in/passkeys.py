"""Signing up with a passkey alone, and signing in with one: no password is ever made.

allauth's own sign-up by passkey needs addresses that are confirmed by a code, which a deployment without mail cannot
send. Here the address and the identifier that the passkey holds wait in the session, so that whoever breaks off leaves
no account behind, and the account and its passkey are kept in one transaction.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from allauth.account.forms import SignupForm
from allauth.account.models import Login
from allauth.account.signals import user_signed_up
from allauth.account.views import SignupView
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import get_adapter
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal import auth, flows
from allauth.mfa.webauthn.views import RemoveWebAuthnView
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from fido2.utils import websafe_decode, websafe_encode

from accounts.identifiers import new_user_id
from accounts.models import User
from accounts.sign_in.addresses import note_passkey_made
from accounts.sign_in.forms import SignUp

_WAITING = "passkey_sign_up"  # the session's member
_SIGN_UP_LIFETIME = 1800  # seconds between the address and its passkey


@dataclass(frozen=True)
class _Waiting:
    """A sign-up that has an address and no passkey yet; `leads_to` is where it goes on, or nothing."""

    email: str
    user_id: str
    leads_to: str

    @property
    def begun_at(self) -> str:
        """The first page, from which it goes on to the same place."""
        query = f"?{urlencode({REDIRECT_FIELD_NAME: self.leads_to})}" if self.leads_to else ""
        return reverse("sign-up-by-passkey") + query


class SignUpByPasskey(SignupView):  # type: ignore[misc]  # allauth has no types
    """The first page: the address. Nothing is made yet."""

    http_method_names = ["get", "head", "post", "options"]  # Django's own attribute
    template_name = "account/signup_by_passkey.html"

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "by_passkey": True}

    def form_valid(self, form: SignupForm) -> HttpResponse:
        self.request.session[_WAITING] = {
            "email": form.cleaned_data["email"],
            "user_id": new_user_id(),
            "leads_to": self.get_next_url() or "",
            "until": time.time() + _SIGN_UP_LIFETIME,
        }
        return redirect("create-passkey")


class _Answer(forms.JSONField):
    """What a browser's authenticator answered. allauth's reader falls over members that are missing or no objects."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        super().__init__(widget=forms.HiddenInput)
        self._read = read

    def bound_data(self, data: Any, initial: Any) -> Any:
        """A form that is shown again shows no old answer; Django would parse it once more."""
        return initial

    def clean(self, value: Any) -> dict[str, Any]:
        try:
            answer = super().clean(value)
            self._read(answer)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):  # nested too deep, as JSON or CBOR
            raise get_adapter().validation_error("incorrect_code") from None
        return cast("dict[str, Any]", answer)


class NewPasskey(forms.Form):
    """What the browser made, checked against the challenge that the page gave."""

    credential = _Answer(auth.parse_registration_response)

    def clean_credential(self) -> dict[str, Any]:
        credential: dict[str, Any] = self.cleaned_data["credential"]
        auth.complete_registration(credential)  # it asked for a check of the person, and refuses what lacks it
        return credential


class AddPasskey(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """For an account that is there."""

    credential = _Answer(auth.parse_registration_response)


class ConfirmWithPasskey(ReauthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """Of somebody who is signed in and confirms that it is them."""

    credential = _Answer(auth.parse_authentication_response)


class RemovePasskey(RemoveWebAuthnView):  # type: ignore[misc]  # allauth has no types
    """Asks, as allauth does for an authenticator app alone, whether it may go."""

    http_method_names = ["get", "head", "post", "options"]  # by DELETE the row alone would go

    def form_valid(self, form: forms.Form) -> HttpResponse:
        with transaction.atomic():
            # of two that go at once, one stays
            User.objects.select_for_update(no_key=True).get(pk=self.request.user.pk)
            if get_adapter().can_delete_authenticator(self.object):
                return cast("HttpResponse", super().form_valid(form))
        form.add_error(None, get_adapter().validation_error("cannot_delete_authenticator"))
        return cast("HttpResponse", self.form_invalid(form))


class SecondStepByPasskey(AuthenticateWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """After the password."""

    credential = _Answer(auth.parse_authentication_response)


class LoginWithPasskey(LoginWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A passkey names its account by its own ID, where allauth's name the row's number."""

    credential = _Answer(auth.parse_authentication_response)

    def clean_credential(self) -> Any:
        self.user = _named_in(self.cleaned_data["credential"])
        if self.user is not None:  # one for the data names nobody
            with suppress(forms.ValidationError):
                return super().clean_credential()
        raise forms.ValidationError(
            gettext(
                "This passkey does not sign you in here. If your device has another one for this site, choose that."
            )
        )


def _named_in(credential: Mapping[str, Any]) -> User | None:
    try:
        handle = websafe_decode(credential["response"]["userHandle"]).decode()
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return User.objects.filter(public_id=handle).first()


def ids_of_passkeys(user: User) -> list[str]:
    """The credential IDs of the passkeys that sign this person in, in base64url."""
    return [websafe_encode(made.credential_id) for made in auth.get_credentials(user)]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def create_passkey(request: HttpRequest) -> HttpResponseBase:
    """The second page: the passkey, and with it the account."""
    waiting = _waiting(request)
    if request.user.is_authenticated or waiting is None:
        return redirect("sign-up-by-passkey")  # which sends on whoever is signed in
    form = NewPasskey(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _sign_up(request, waiting, form.cleaned_data["credential"])
    options = auth.begin_registration(User(public_id=waiting.user_id, email=waiting.email), passwordless=True)
    js_data = {"creation_options": options}
    shown = {"form": form, "email": waiting.email, "js_data": js_data, "back": waiting.begun_at}
    return render(request, "account/create_passkey.html", shown)


def _waiting(request: HttpRequest) -> _Waiting | None:
    kept = request.session.get(_WAITING)
    if kept is None or kept["until"] < time.time():
        return None
    return _Waiting(kept["email"], kept["user_id"], kept["leads_to"])


def _sign_up(request: HttpRequest, waiting: _Waiting, credential: dict[str, Any]) -> HttpResponseBase:
    """Where addresses are confirmed, an address that has an account gets the same answer, and a mail that says so."""
    form = SignUp({"email": waiting.email}, by_passkey=True)
    form.user_id, form.leads_to = waiting.user_id, waiting.leads_to
    authenticator = None
    try:
        with transaction.atomic():
            user, answer = form.try_save(request) if form.is_valid() else (None, None)
            if user is not None:
                authenticator = flows.signup_authenticator(request, user, gettext("Passkey"), credential)
    except IntegrityError:  # somebody took the address in this moment
        answer = None
    if answer is None and authenticator is None:
        messages.error(request, gettext("That address cannot be used. Your passkey was not kept."))
        return redirect(waiting.begun_at)
    del request.session[_WAITING]
    if authenticator is None:
        return cast("HttpResponse", answer)
    note_passkey_made(request.session, authenticator.user)
    user_signed_up.send(sender=User, request=request, user=user)
    login = Login(user=user, signup=True, redirect_url=waiting.leads_to or settings.ACCOUNT_SIGNUP_REDIRECT_URL)
    try:
        return cast("HttpResponse", flows.perform_passwordless_login(request, authenticator, login))
    except ImmediateHttpResponse as instead:
        return cast("HttpResponse", instead.response)
