"""Browsers that signed in to an account before: what strangers try elsewhere does not hinder them.

A sign-in sets a signed cookie that says so, for at most five accounts. It names nobody: whether it speaks of an
account can only be asked. It opens nothing either, wrong passwords from such a browser are only counted apart. Nobody
gets one without signing in.
"""

import secrets
import time
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

_ACCOUNTS = 5
_LASTS = 180 * 24 * 3600  # seconds since the last sign-in


def browser_of(request: HttpRequest, public_id: str) -> str:
    """The name of this browser where it signed in to that account before, else ""; each account gave it another."""
    return next((name for name, issued, mac in _entries(request) if _speaks_of(public_id, name, issued, mac)), "")


def remember(request: HttpRequest, response: HttpResponse, public_id: str) -> None:
    kept = [entry for entry in _entries(request) if not _speaks_of(public_id, *entry)]
    name, issued = secrets.token_urlsafe(12), str(int(time.time()))
    entries = [*kept, (name, issued, _mac(public_id, name, issued))][-_ACCOUNTS:]
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE,
        "~".join(".".join(entry) for entry in entries),
        max_age=_LASTS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _entries(request: HttpRequest) -> Iterator[tuple[str, str, str]]:
    written = request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE, "")
    for part in written.split("~")[:_ACCOUNTS]:
        match part.split("."):
            case [name, issued, mac] if name and issued.isdecimal() and len(part) < 200:
                yield name, issued, mac


def _speaks_of(public_id: str, name: str, issued: str, mac: str) -> bool:
    return constant_time_compare(mac, _mac(public_id, name, issued)) and int(issued) > time.time() - _LASTS


def _mac(public_id: str, name: str, issued: str) -> str:
    return salted_hmac("accounts.known-browser", f"{public_id}\x00{name}\x00{issued}", algorithm="sha256").hexdigest()
