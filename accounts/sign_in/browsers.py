"""Where somebody is signed in: the list of their browsers, and signing out everywhere but here."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.hooks import access_taken_back
from accounts.models import User

_BROWSER = "signed_in_with"  # the session's member that says where its sign-in came from
_LONGEST_NAME = 200


@dataclass(frozen=True)
class SignedInBrowser:
    user_agent: str
    ip: str
    since: datetime
    is_current: bool


def note_browser(*, request: HttpRequest, **_: Any) -> None:
    """At a sign-in: in the session itself, where it is sealed and ends with it."""
    from allauth.account.adapter import get_adapter

    request.session[_BROWSER] = {
        "user_agent": request.META.get("HTTP_USER_AGENT", "")[:_LONGEST_NAME],
        "ip": str(get_adapter().get_client_ip(request)),
    }


def browsers_of(user: User, *, here: str | None) -> list[SignedInBrowser]:
    """Oldest first; `here` is the key of the session that asks. What a changed password ended is not among them."""
    from accounts.sign_in.sessions import SessionStore, digest, lasting

    current, hashes = digest(here or ""), [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    found = []
    for row in user.sessions.filter(lasting()).order_by("created_at"):
        kept = SessionStore().decode(row.data)
        if any(constant_time_compare(kept.get(HASH_SESSION_KEY, ""), known) for known in hashes):
            browser = kept.get(_BROWSER, {})
            found.append(
                SignedInBrowser(
                    browser.get("user_agent", ""), browser.get("ip", ""), row.created_at, row.digest == current
                )
            )
    return found


def sign_out_elsewhere(user: User, *, here: str | None) -> None:
    """End every session of theirs but the one with this key."""
    from accounts.sign_in.sessions import digest

    user.sessions.exclude(digest=digest(here or "")).delete()


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def signed_in_page(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    here = request.session.session_key
    if request.method == "POST":
        sign_out_elsewhere(user, here=here)
        access_taken_back.send(sender=type(user), user=user)
        messages.info(request, gettext("You are signed out everywhere else."))
        return redirect("signed-in")
    return render(request, "account/signed_in.html", {"browsers": browsers_of(user, here=here)})
