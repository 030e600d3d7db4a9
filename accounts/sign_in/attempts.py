"""Limits on attempts at passwords and codes: nobody can guess one, and nobody can lock somebody else out.

A network that tried too often at one account is refused there for a while, and one that tried at very many is refused
at all of them. What all networks together did to one account, or to the service, only makes the next attempt wait a
moment: it never refuses, or whoever has enough addresses could close an account. A browser that signed in to the
account before is counted by itself and waits for nobody.

Everything is counted before the password is looked at and the same for accounts that do not exist, so an answer tells
nothing about either. Counts belong to whatever all processes share (common/limits.py).
"""

import logging
import math
import threading
import time
from dataclasses import dataclass

from allauth.account.utils import filter_users_by_email
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.db import connection
from django.http import HttpRequest
from django.shortcuts import render

from accounts.models import User
from accounts.sign_in import known_browsers
from common import limits
from common.limits import Count, Limit
from common.network import client_address, network_of

_log = logging.getLogger(__name__)
PASSWORD, CODE = "password", "code"
_WINDOW = 15 * 60  # seconds
_ACCOUNT_LIMIT = Limit("tries-account", 20, _WINDOW)  # wrong ones, everywhere; beyond, each attempt waits
_TOTAL_LIMIT = Limit("tries-all", 600, 60)  # wrong ones, of all accounts
# A code is short, and whoever tries one has the password already: what many networks try together ends here, until
# that password is replaced. Known browsers go on as ever.
_CODE_LIMIT = Limit("tries-codes", 100, 24 * 3600)
_MAX_WAIT = 2.0  # seconds that an attempt waits
_DEFERRED = Limit("tries-waited", 1, 60)  # since when an attempt was sent away to wait
_MAX_WAITING = 4  # attempts that wait inside one process: each keeps a thread


class TooManyAttempts(ImmediateHttpResponse):  # type: ignore[misc]  # allauth has no types; it answers with the page
    """Refused for now: a page that says when to try again, wherever in allauth it is raised."""

    def __init__(self, request: HttpRequest, seconds: int) -> None:
        minutes = math.ceil(seconds / 60) if seconds > 90 else 0
        _log.warning("An attempt was refused for %d s", seconds)
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
        """Forget the failures of this account and network; those at other accounts stay counted."""
        _log.info("A %s was right: %s", self.kind, self.log_name)
        limits.forget(_failure_limit(self.kind), self.key)

    def failed(self) -> None:
        """Count what makes others wait; the attempt itself was counted before it was made."""
        _log.warning("A %s was wrong: %s", self.kind, self.log_name)
        if self.browser:
            return
        limits.count(_ACCOUNT_LIMIT, self.account)
        limits.count(_TOTAL_LIMIT, "")
        if self.network:
            limits.count(_network_limit(), self.network)
        if self.kind == CODE:
            limits.count(_CODE_LIMIT, self.account)

    @property
    def log_name(self) -> str:
        """Whose it was, for the log: an account's identifier, never an address that somebody typed."""
        return self.account.removeprefix("user ") if self.account.startswith("user ") else "no account"

    @property
    def key(self) -> str:
        return f"{self.account} {self.browser or self.network}"


def begin(request: HttpRequest, kind: str, *, user: User | None = None, email: str = "") -> Attempt:
    """An attempt at the account of `user`, or of an address as it was typed; raises `TooManyAttempts`."""
    users = [user] if user is not None else filter_users_by_email(email, prefer_verified=True)
    browser = next(filter(None, (known_browsers.browser_of(request, found.public_id) for found in users)), "")
    network = network_of(client_address(request))
    attempt = Attempt(kind, _account(users, email), network, browser)
    if not browser:
        _refuse_early(request, attempt)
        _wait(request, attempt)
    if browser or network:  # a socket without an address tells nobody apart: then there is only waiting
        _refuse_beyond(request, limits.count(_failure_limit(kind), attempt.key))
    return attempt


def forget_failures(user: User) -> None:
    """After the owner replaced the password, attempts made with the old one no longer count."""
    limits.forget(_CODE_LIMIT, _account([user], ""))
    limits.forget(_ACCOUNT_LIMIT, _account([user], ""))


def count_of_network(request: HttpRequest, limit: Limit, account: str = "") -> None:
    """Count one for the caller's network, and `account` where one is named; raises `TooManyAttempts`."""
    network = network_of(client_address(request))
    if network:
        _refuse_beyond(request, limits.count(limit, f"{account} {network}".strip()))


def _account(users: list[User], email: str) -> str:
    """What is counted as one account, whichever of its addresses was typed and whether there is one or not."""
    return f"user {users[0].public_id}" if len(users) == 1 else f"email {email.strip().lower()}"


def _failure_limit(kind: str) -> Limit:
    return Limit(f"tries-{kind}", settings.SIGN_IN_FAILURES, _WINDOW)


def _network_limit() -> Limit:
    return Limit("tries-network", settings.SIGN_IN_FAILURES_PER_NETWORK, _WINDOW)


def _refuse_beyond(request: HttpRequest, counted: Count) -> None:
    if counted.exceeded:
        raise TooManyAttempts(request, counted.resets_in)


def _refuse_used_up(request: HttpRequest, counted: Count) -> None:
    if counted.limit.allowed and counted.used >= counted.limit.allowed:
        raise TooManyAttempts(request, counted.resets_in)


def _refuse_early(request: HttpRequest, attempt: Attempt) -> None:
    """Refuse at once what would be refused after the wait."""
    if attempt.network:
        _refuse_used_up(request, limits.peek(_failure_limit(attempt.kind), attempt.key))
        _refuse_used_up(request, limits.peek(_network_limit(), attempt.network))
    if attempt.kind == CODE:
        _refuse_used_up(request, limits.peek(_CODE_LIMIT, attempt.account))


_waiting: set[str] = set()  # the networks of those that wait inside this process
_lock = threading.Lock()


def _wait(request: HttpRequest, attempt: Attempt) -> None:
    """Wait where the account or the service is being tried from everywhere.

    A few wait inside the process, one of each network, since each holds a thread. The others are refused meanwhile and
    let through when they come back after it, so that a crowd never keeps anybody out for good.
    """
    seconds = _seconds_to_wait(attempt.account)
    if not seconds:
        return
    deferred = limits.peek(_DEFERRED, attempt.key)
    if deferred.used and _DEFERRED.seconds - deferred.resets_in >= seconds:
        limits.forget(_DEFERRED, attempt.key)
        return
    with _lock:
        inside = len(_waiting) < _MAX_WAITING and attempt.network not in _waiting
        if inside:
            _waiting.add(attempt.network)
    if not inside:
        if not deferred.used:
            limits.count(_DEFERRED, attempt.key)
        raise TooManyAttempts(request, math.ceil(seconds))
    try:
        if not connection.in_atomic_block:
            connection.close()  # back to the pool meanwhile
        time.sleep(seconds)
    finally:
        with _lock:
            _waiting.discard(attempt.network)


def _seconds_to_wait(account: str) -> float:
    """How long an attempt waits: from a quarter of a second, twice as long with every ten more wrong ones."""
    beyond = limits.peek(_ACCOUNT_LIMIT, account).used - _ACCOUNT_LIMIT.allowed
    for_account = min(_MAX_WAIT, 0.25 * 2 ** min(beyond // 10, 10)) if beyond >= 0 else 0.0
    for_all = 1.0 if limits.peek(_TOTAL_LIMIT, "").used >= _TOTAL_LIMIT.allowed else 0.0
    return max(for_account, for_all)
