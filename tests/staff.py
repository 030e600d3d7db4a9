"""Second factors for people of the factories, and staff who are signed in with theirs."""

import base64
import secrets

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core.cache import cache
from django.test import Client

from accounts.models import User
from tests.callers import signed_in
from tests.totp import codes, totp_code


def give_second_factor(user: User) -> str:
    """A new authenticator app for `user`, as if they had set one up; its secret. An older one is replaced."""
    Authenticator.objects.filter(user=user, type="totp").delete()
    secret = base64.b32encode(secrets.token_bytes(20)).decode()
    while cache.get(f"totp-taken:{user.pk}:{totp_code(secret)}"):  # the very code that an older app has just shown
        secret = base64.b32encode(secrets.token_bytes(20)).decode()
    TOTP.activate(user, secret)
    return secret


def at_the_admin(user: User, *, seconds_ago: int = 0) -> Client:
    """The browser of a member of staff who signed in, with the code of their app, so many seconds ago."""
    secret, page = give_second_factor(user), signed_in(user).client
    confirm(page, secret)
    if seconds_ago:
        session = page.session
        records = session["account_authentication_methods"]
        session["account_authentication_methods"] = [{**one, "at": one["at"] - seconds_ago} for one in records]
        session.save()
    return page


def confirm(page: Client, secret: str, *, back_to: str = "/admin/") -> None:
    """Type the code of this moment into the page that asks for it."""
    for code in codes(secret):
        answer = page.post("/accounts/2fa/reauthenticate/", {"code": code, "next": back_to})
        if answer.headers.get("Location") == back_to:
            return
    raise AssertionError("no code was taken")
