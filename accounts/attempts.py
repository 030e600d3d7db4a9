"""How often somebody may try a password or a code, so that nobody guesses one and nobody is kept out.

A network that tried too often at one account is refused there for a while, and one that tried at very many is refused
at all of them. What all networks together did to one account, or to the service, only makes the next attempt wait a
moment: it never refuses, or whoever has enough addresses could close an account. A browser that signed in to the
account before is counted by itself and waits for nobody.

Everything is counted before the password is looked at and the same for accounts that do not exist, so an answer tells
nothing about either. Counts belong to whatever all processes share (common/limits.py).
"""

import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from allauth.account.utils import filter_users_by_email
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.shortcuts import render

from accounts import known_browsers
from common import limits
from common.limits import Count, Limit
from common.network import client_address, network_of

if TYPE_CHECKING:
    from accounts.models import User

PASSWORD, CODE = "password", "code"
_WINDOW = 15 * 60  # seconds
_OF_ACCOUNT = Limit("tries-account", 20, _WINDOW)  # wrong ones, everywhere; beyond, each attempt waits
_OF_ALL = Limit("tries-all", 600, 60)  # wrong ones, of all accounts
# A code is short, and whoever tries one has the password already: what many networks try together ends here, until
# that password is replaced. Known browsers go on as ever.
_CODES = Limit("tries-codes", 100, 24 * 3600)
_LONGEST = 2.0  # seconds that an attempt waits
_WAITED = Limit("tries-waited", 1, 60)  # since when an attempt was sent away to wait
_AT_ONCE = 4  # attempts that wait inside one process: each keeps a thread


class TooManyAttempts(ImmediateHttpResponse):  # type: ignore[misc]  # allauth has no types; it answers with the page
    """Refused for now: a page that says when to try again, wherever in allauth it is raised."""

    def __init__(self, request: HttpRequest, seconds: int) -> None:
        minutes = math.ceil(seconds / 60) if seconds > 90 else 0
        page = render(request, "429.html", {"seconds": seconds, "minutes": minutes}, status=429)
        page["Retry-After"] = str(seconds)
        super().__init__(page)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt that may be made. Say how it ended: `succeeded()` or `failed()`."""

    kind: str
    account: str
    network: str
    browser: str  # the name of a known browser, else ""

    def succeeded(self) -> None:
        """Whoever knows the secret may begin anew; what its network tried at others stays counted."""
        limits.forget(_own(self.kind), self.key)

    def failed(self) -> None:
        """It was counted before it was made; here only what makes others wait."""
        if self.browser:
            return
        limits.count(_OF_ACCOUNT, self.account)
        limits.count(_OF_ALL, "")
        if self.network:
            limits.count(_of_network(), self.network)
        if self.kind == CODE:
            limits.count(_CODES, self.account)

    @property
    def key(self) -> str:
        return f"{self.account} {self.browser or self.network}"


def begin(request: HttpRequest, kind: str, *, user: "User | None" = None, email: str = "") -> Attempt:
    """An attempt at the account of `user`, or of an address as it was typed; raises `TooManyAttempts`."""
    users = [user] if user is not None else filter_users_by_email(email, prefer_verified=True)
    browser = next(filter(None, (known_browsers.browser_of(request, found.public_id) for found in users)), "")
    network = network_of(client_address(request))
    attempt = Attempt(kind, _account(users, email), network, browser)
    if not browser:
        _look(request, attempt)
        _wait(request, attempt)
    if browser or network:  # a socket without an address tells nobody apart: then there is only waiting
        _refuse_beyond(request, limits.count(_own(kind), attempt.key))
    return attempt


def begin_anew(user: "User") -> None:
    """A password was replaced by whoever owns the account: what was tried with the old one is void."""
    limits.forget(_CODES, _account([user], ""))
    limits.forget(_OF_ACCOUNT, _account([user], ""))


def count_of_network(request: HttpRequest, limit: Limit, account: str = "") -> None:
    """Count one for the caller's network, and `account` where one is named; raises `TooManyAttempts`."""
    network = network_of(client_address(request))
    if network:
        _refuse_beyond(request, limits.count(limit, f"{account} {network}".strip()))


def _account(users: "list[User]", email: str) -> str:
    """What is counted as one account, whichever of its addresses was typed and whether there is one or not."""
    return f"user {users[0].public_id}" if len(users) == 1 else f"email {email.strip().lower()}"


def _own(kind: str) -> Limit:
    return Limit(f"tries-{kind}", settings.SIGN_IN_FAILURES, _WINDOW)


def _of_network() -> Limit:
    return Limit("tries-network", settings.SIGN_IN_FAILURES_PER_NETWORK, _WINDOW)


def _refuse_beyond(request: HttpRequest, counted: Count) -> None:
    if counted.exceeded:
        raise TooManyAttempts(request, counted.resets_in)


def _refuse_used_up(request: HttpRequest, counted: Count) -> None:
    if counted.limit.allowed and counted.used >= counted.limit.allowed:
        raise TooManyAttempts(request, counted.resets_in)


def _look(request: HttpRequest, attempt: Attempt) -> None:
    """Refuse what would be refused anyway before it waits."""
    if attempt.network:
        _refuse_used_up(request, limits.look(_own(attempt.kind), attempt.key))
        _refuse_used_up(request, limits.look(_of_network(), attempt.network))
    if attempt.kind == CODE:
        _refuse_used_up(request, limits.look(_CODES, attempt.account))


_waiting: set[str] = set()  # the networks of those that wait inside this process
_lock = threading.Lock()


def _wait(request: HttpRequest, attempt: Attempt) -> None:
    """Wait where the account or the service is being tried from everywhere.

    A few wait inside, one of a network, since each keeps a thread. The others are sent away for as long; whoever comes
    back no sooner is let through, so that a crowd never keeps anybody out for good.
    """
    seconds = _seconds(attempt.account)
    if not seconds:
        return
    sent_away = limits.look(_WAITED, attempt.key)
    if sent_away.used and _WAITED.seconds - sent_away.resets_in >= seconds:
        limits.forget(_WAITED, attempt.key)
        return
    with _lock:
        inside = len(_waiting) < _AT_ONCE and attempt.network not in _waiting
        if inside:
            _waiting.add(attempt.network)
    if not inside:
        if not sent_away.used:
            limits.count(_WAITED, attempt.key)
        raise TooManyAttempts(request, math.ceil(seconds))
    try:
        if not connection.in_atomic_block:
            connection.close()  # back to the pool meanwhile
        time.sleep(seconds)
    finally:
        with _lock:
            _waiting.discard(attempt.network)


def _seconds(account: str) -> float:
    """How long an attempt waits: from a quarter of a second, twice as long with every ten more wrong ones."""
    beyond = limits.look(_OF_ACCOUNT, account).used - _OF_ACCOUNT.allowed
    for_account = min(_LONGEST, 0.25 * 2 ** min(beyond // 10, 10)) if beyond >= 0 else 0.0
    for_all = 1.0 if limits.look(_OF_ALL, "").used >= _OF_ALL.allowed else 0.0
    return max(for_account, for_all)
