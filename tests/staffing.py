"""Second factors for people of the factories, and staff who are signed in with theirs."""

import base64
import secrets

from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts.models import User
from tests.callers import signed_in
from tests.visitor import totp_code


def give_second_factor(user: User) -> str:
    """An authenticator app for `user`, as if they had set one up; its secret."""
    secret = base64.b32encode(secrets.token_bytes(20)).decode()
    TOTP.activate(user, secret)
    return secret


def at_the_admin(user: User) -> Client:
    """The browser of a member of staff who signed in and just confirmed with the code of their app."""
    secret, page = give_second_factor(user), signed_in(user).client
    confirmed = page.post("/accounts/2fa/reauthenticate/", {"code": totp_code(secret), "next": "/admin/"})
    assert confirmed.headers["Location"] == "/admin/", confirmed.content
    return page
