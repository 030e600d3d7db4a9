"""What an app may ask: within the scope, within its template, within what one person should find waiting."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from django.conf import settings

import pkm.scopes
from common import limits
from common.limits import Count, Limit
from common.problems import FieldError, InvalidRequest, TooManyRequests
from consent.errors import RecentlyDenied, RequestBudgetSpent
from consent.requests.draft import answers_named
from consent.requests.models import ScopeTemplate
from consent.requests.recent import DAY, WEEK, RecentRequests
from consent.schemas import RequestConsentBody
from developers.authentication import AppContext
from pkm.registry.copy import Entry
from pkm.registry.derived import is_timed

PENDING_PER_PERSON, REQUESTS_PER_PERSON, REQUESTS_PER_HOUR = (
    "pending-per-person", "requests-per-person", "requests-per-hour",
)  # fmt: skip


def check_terms(*, body: RequestConsentBody, entry: Entry) -> None:
    """What depends on the scope: its attributes and its longest access."""
    errors: list[FieldError] = []
    if body.access_duration > entry.max_access_duration:
        longest = f"this scope allows at most {entry.max_access_duration} seconds"
        errors.append(_error("access_duration", "less_than_equal", longest))
    required, optional = body.required_attributes or [], body.optional_attributes or []
    for field, paths in (("required_attributes", required), ("optional_attributes", optional)):
        known = {*entry.attributes, *filter(entry.parsed.covers, entry.answers)}
        if outside := [path for path in paths if path not in known]:
            errors.append(_error(field, "outside_scope", f"not in this scope: {', '.join(outside[:5])}"))
    if set(required) & set(optional):
        errors.append(_error("optional_attributes", "repeated", "an attribute is either required or optional"))
    if not required and not optional:  # a list that is given and empty asks for nothing, which nobody can approve
        given = {"required_attributes": body.required_attributes, "optional_attributes": body.optional_attributes}
        reason = "name at least one attribute, or leave it out"
        errors.extend(_error(field, "too_short", reason) for field, paths in given.items() if paths is not None)
    errors.extend(_unfit_answers(body, entry))
    if body.refresh_policy == "continuous" and any(map(is_timed, answers_named(body, entry).values())):
        errors.append(
            _error(
                "refresh_policy",
                "snapshot_only",
                "an answer about an age is given once: a later one would tell the birthday",
            )
        )
    if body.template_id is not None:
        errors.extend(_beyond_template(body))
    if errors:
        raise InvalidRequest("These members do not fit the scope.", errors=errors)


def _unfit_answers(body: RequestConsentBody, entry: Entry) -> Iterator[FieldError]:
    """What of `accepts` is of no value that is asked for, is none of its answers, or is asked for itself."""
    named = [*(body.required_attributes or []), *(body.optional_attributes or [])] or entry.attributes
    for source, paths in (body.accepts or {}).items():
        if source not in named:
            yield _error("accepts", "outside_scope", f"not asked for: {source[:200]}")
        elif others := [path for path in paths if entry.answers.get(path, {}).get("from") != source]:
            yield _error("accepts", "no_answer", f"no answer in place of {source}: {', '.join(others[:5])}")
        elif twice := [path for path in paths if path in named]:
            yield _error("accepts", "repeated", f"asked for already: {', '.join(twice[:5])}")


def _beyond_template(body: RequestConsentBody) -> list[FieldError]:
    """Where the request exceeds the template that it names: its scope, wording, duration or number of reads."""
    template = ScopeTemplate.objects.filter(template_id=body.template_id, active=True).first()
    if template is None:
        return [_error("template_id", "unknown", "there is no such active template")]
    allowed, wanted = pkm.scopes.parse(template.scope), pkm.scopes.parse(body.scope)
    errors = []
    if allowed is None or wanted is None or not allowed.covers_scope(wanted):
        errors.append(_error("scope", "beyond_template", f"the template covers {template.scope}"))
    if body.purpose != template.purpose:
        errors.append(_error("purpose", "beyond_template", "use the template's own words"))
    if body.required_because is not None:
        errors.append(_error("required_because", "beyond_template", "the template has no such words"))
    if body.access_duration > template.max_access_duration:
        longest = f"the template allows at most {template.max_access_duration} seconds"
        errors.append(_error("access_duration", "beyond_template", longest))
    if template.max_reads is not None and (body.max_reads or template.max_reads + 1) > template.max_reads:
        errors.append(_error("max_reads", "beyond_template", f"the template allows at most {template.max_reads} reads"))
    return errors


def _error(field: str, code: str, message: str) -> FieldError:
    return {"field": field, "code": code, "message": message}


def check_recent(body: RequestConsentBody, recent: RecentRequests) -> list[Count]:
    """Refuse one new request more than the person should find, or what they denied a short while ago.

    Returns the limits of one person as they stand without the new request.
    """
    pending = _refuse_pending(recent)
    _refuse_denied(body, recent, [pending])
    return [pending, _refuse_day(recent, [pending])]


def _refuse_pending(recent: RecentRequests) -> Count:
    """One request more than should wait for the person's decision."""
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


def _refuse_denied(body: RequestConsentBody, recent: RecentRequests, met: list[Count]) -> None:
    """What overlaps a scope that was denied within the cooldown."""
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


def refuses_week(recent: RecentRequests) -> RecentlyDenied | None:
    """The refusal of a second request of seven days, to a person who lets each app ask once in so long."""
    last = recent.last_of_week
    if last is None or last + WEEK <= recent.now:
        return None
    return RecentlyDenied(headers={"Retry-After": str(int((last + WEEK - recent.now).total_seconds()) + 1)})


def _refuse_day(recent: RecentRequests, met: list[Count]) -> Count:
    """One new request more than an app may make of one person in 24 hours, whatever became of the others.

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
