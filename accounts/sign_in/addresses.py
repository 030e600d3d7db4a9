"""Whose an address is: whoever confirmed it; until then whoever signed up with it, and nobody who only added it."""

from collections.abc import Callable
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.account.views import ConfirmEmailView, EmailView
from django.contrib import messages
from django.contrib.sessions.backends.base import SessionBase
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from accounts.sign_in.second_factors import mark_unproven

_MADE_HERE = "passkey_made_for"  # the session's member


def has_account(email: str) -> bool:
    """Whether somebody confirmed this address or signed up with it."""
    return User.objects.filter(email=email).exists() or EmailAddress.objects.filter(email=email, verified=True).exists()


def is_of(user: User, email: str) -> bool:
    """Whether mail to this address may open the account of this person."""
    if user.email.lower() == email.lower():
        return True
    return bool(EmailAddress.objects.filter(user_id=user.pk, email=email.lower(), verified=True).exists())


def drop_claims(email: str, *, but_of: User | None = None) -> None:
    """Others who added this address and never confirmed it lose it."""
    claims: QuerySet[EmailAddress] = EmailAddress.objects.filter(email=email.lower(), verified=False)
    if but_of is not None:
        claims = claims.exclude(user_id=but_of.pk)
    claims.exclude(user__email__iexact=email).delete()


def note_passkey_made(session: SessionBase, user: User) -> None:
    """This browser made the passkey of this account; whoever confirms the address in it has both."""
    session[_MADE_HERE] = user.public_id


def take_confirmed(request: HttpRequest, email_address: EmailAddress, **_kwargs: Any) -> None:
    """An address was confirmed: nobody else claims it, and a passkey from before it is known to be theirs or not."""
    user = email_address.user
    drop_claims(email_address.email, but_of=user)
    before = EmailAddress.objects.filter(user_id=user.pk, verified=True).exclude(pk=email_address.pk)
    made_here = request.user == user or request.session.get(_MADE_HERE) == user.public_id
    if not made_here and not before.exists():
        mark_unproven(user)


class Addresses(EmailView):  # type: ignore[misc]  # allauth has no types
    """The page of one's addresses."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        done = _unless_taken(request, lambda: super(Addresses, self).post(request, *args, **kwargs))
        return done or redirect("account_email")


class ConfirmAddress(ConfirmEmailView):  # type: ignore[misc]  # allauth has no types
    """The page that the link in the mail opens."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        done = _unless_taken(self.request, lambda: super(ConfirmAddress, self).post(*args, **kwargs))
        return done or self.respond(False)


def _unless_taken(request: HttpRequest, change: Callable[[], HttpResponse | None]) -> HttpResponse | None:
    """None where somebody else signed up with the address that would become the account's."""
    try:
        with transaction.atomic():
            return change()
    except IntegrityError:
        messages.error(request, get_adapter().error_messages["email_taken"])
        return None
