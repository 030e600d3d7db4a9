"""How much an app may ask: of one person, in what waits, in a day, a week and after a denial, and of all in an hour."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from django.conf import settings

import pkm.scopes
from common import limits
from common.limits import Count, Limit
from common.problems import Problem, TooManyRequests
from consent.errors import RecentlyDenied, RequestBudgetSpent
from consent.requests.recent import DAY, WEEK, RecentRequests
from consent.schemas import RequestConsentBody
from developers.authentication import AppContext

PENDING_PER_PERSON, REQUESTS_PER_PERSON, REQUESTS_PER_HOUR = (
    "pending-per-person", "requests-per-person", "requests-per-hour",
)  # fmt: skip


def check_recent(body: RequestConsentBody, recent: RecentRequests) -> list[Count]:
    """Refuse one new request more than the person should find, or what they denied a short while ago.

    Returns the limits of one person as they stand without the new request.
    """
    pending = _check_pending(recent)
    _check_denied(body, recent, [pending])
    return [pending, _check_day(recent, [pending])]


def _check_pending(recent: RecentRequests) -> Count:
    """How many wait for the person's decision; raises `TooManyRequests` where one more is too many."""
    limit = Limit(PENDING_PER_PERSON, settings.PENDING_REQUESTS_PER_PERSON, 0)
    deadlines = [request.expires_at for request in recent.pending]
    retry_after = max(1, int((min(deadlines) - recent.now).total_seconds())) if deadlines else 0
    found = Count(limit, len(deadlines), retry_after)
    if limit.allowed and len(deadlines) >= limit.allowed:
        raise TooManyRequests(
            f"{len(deadlines)} requests of this app wait for this person's decision already.",
            headers={"Retry-After": str(retry_after)},
            limits=[found],
        )
    return found


def _check_denied(body: RequestConsentBody, recent: RecentRequests, met: list[Count]) -> None:
    """Raises `RecentlyDenied` for what overlaps a scope that was denied within the cooldown."""
    cooldown = timedelta(seconds=settings.DENIAL_COOLDOWN_SECONDS)
    wanted = pkm.scopes.parse(body.scope)
    if not cooldown or wanted is None:
        return
    for request in recent.denied:
        denied = pkm.scopes.parse(request.scope)
        if denied is None or request.decided_at is None or request.decided_at <= recent.now - cooldown:
            continue
        if denied.covers_scope(wanted) or wanted.covers_scope(denied):
            retry_after = max(1, int((request.decided_at + cooldown - recent.now).total_seconds()) + 1)
            raise RecentlyDenied(headers={"Retry-After": str(retry_after)}, limits=met)


def week_refusal(recent: RecentRequests) -> Problem | None:
    """The refusal of a second request within seven days where the person lets each app ask once in so long, else None.

    It is returned, not raised: the caller first notes which of the person's rules refuses.
    """
    last = recent.last_of_week
    if last is None or last + WEEK <= recent.now:
        return None
    return RecentlyDenied(headers={"Retry-After": str(int((last + WEEK - recent.now).total_seconds()) + 1)})


def _check_day(recent: RecentRequests, met: list[Count]) -> Count:
    """How many new requests the app made of this person in 24 hours, whatever became of them.

    Raises `RequestBudgetSpent` where one more is too many.

    The rows themselves are counted: they stay when a request is cancelled, and whoever asks holds the lock under which
    they are written.
    """
    limit = Limit(REQUESTS_PER_PERSON, settings.REQUESTS_PER_PERSON_PER_DAY, int(DAY.total_seconds()))
    first_at = recent.first_at
    retry_after = limit.seconds if first_at is None else max(1, int((first_at + DAY - recent.now).total_seconds()) + 1)
    found = Count(limit, recent.made, retry_after)
    if limit.allowed and recent.made >= limit.allowed:
        raise RequestBudgetSpent(
            f"This app may make {limit.allowed} new requests of one person in 24 hours, those that it took back too.",
            headers={"Retry-After": str(retry_after)},
            limits=[*met, found],
        )
    return found


def hourly_budget(app: AppContext) -> Limit:
    """How many new requests the app may make in an hour: its own number, else the deployment's."""
    return hourly_limit(app.request_budget)


def hourly_limit(own: int | None) -> Limit:
    """The same, of an app that has this number of its own, or none."""
    return Limit(REQUESTS_PER_HOUR, settings.REQUEST_BUDGET_PER_HOUR if own is None else own, 3600)


def peek_hourly_budget(app: AppContext) -> Count:
    """What is left of it, without spending."""
    return limits.peek(hourly_budget(app), str(app.app_pk))


@contextmanager
def spending_hourly_budget(app: AppContext) -> Iterator[Callable[[list[Count]], list[Count]]]:
    """Around a transaction that may make a new request: what to call as the last thing that may refuse it.

    It counts in the transaction that writes the request. A refusal, and whatever else fails in here, gives the count
    back; what fails later in a transaction around this does not, where Redis counts. It takes what `check_recent`
    returned, and returns all limits as they stand with the new request.
    """
    limit, has_spent = hourly_budget(app), False

    def spend(of_person: list[Count]) -> list[Count]:
        nonlocal has_spent
        found = limits.count(limit, str(app.app_pk))
        has_spent = True
        if found.exceeded:
            raise RequestBudgetSpent(
                f"This app may make {limit.allowed} new requests an hour.",
                headers=found.retry_after,
                limits=[*of_person, found],
            )
        return [*(replace(each, used=each.used + 1) for each in of_person), found]

    try:
        yield spend
    except BaseException:
        if has_spent:
            limits.undo(limit, str(app.app_pk))
        raise
