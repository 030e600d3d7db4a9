"""What an app may ask: within the scope, within its template, within what one person should find waiting."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

import pkm.scopes
from accounts.database import rows, utc
from accounts.errors import FieldError, InvalidRequest
from consent.errors import RecentlyDenied, TooManyRequests
from consent.models import ScopeTemplate
from consent.schemas import RequestConsentBody
from pkm.registry import Entry

_DENIED = """
SELECT scope, max(decided_at) AS decided_at FROM consent_requests
 WHERE user_id = %s AND app_id = %s AND status = 'denied' AND decided_at > %s GROUP BY scope
"""


def fits_its_scope(*, body: RequestConsentBody, entry: Entry) -> None:
    """What depends on the scope: its attributes and its longest access."""
    errors: list[FieldError] = []
    if body.access_duration > entry.max_access_duration:
        longest = f"this scope allows at most {entry.max_access_duration} seconds"
        errors.append(_error("access_duration", "less_than_equal", longest))
    required, optional = body.required_attributes or [], body.optional_attributes or []
    for field, paths in (("required_attributes", required), ("optional_attributes", optional)):
        outside = [path for path in paths if path not in entry.attributes]
        if outside:
            errors.append(_error(field, "outside_scope", f"not in this scope: {', '.join(outside[:5])}"))
    if set(required) & set(optional):
        errors.append(_error("optional_attributes", "repeated", "an attribute is either required or optional"))
    if not required and not optional:  # a list that is given and empty asks for nothing, which nobody can approve
        given = {"required_attributes": body.required_attributes, "optional_attributes": body.optional_attributes}
        reason = "name at least one attribute, or leave it out"
        errors.extend(_error(field, "too_short", reason) for field, paths in given.items() if paths is not None)
    if body.template_id is not None:
        errors.extend(_beyond_template(body))
    if errors:
        raise InvalidRequest("These members do not fit the scope.", errors=errors)


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
    if body.access_duration > template.max_access_duration:
        longest = f"the template allows at most {template.max_access_duration} seconds"
        errors.append(_error("access_duration", "beyond_template", longest))
    if template.max_reads is not None and (body.max_reads or template.max_reads + 1) > template.max_reads:
        errors.append(_error("max_reads", "beyond_template", f"the template allows at most {template.max_reads} reads"))
    return errors


def _error(field: str, code: str, message: str) -> FieldError:
    return {"field": field, "code": code, "message": message}


def within_budget(*, deadlines: Sequence[datetime], now: datetime) -> None:
    """Refuse one request more than the person should find waiting from one app; `deadlines` are those that wait."""
    budget = settings.PENDING_REQUESTS_PER_PERSON
    if budget and len(deadlines) >= budget:
        wait = max(1, int((min(deadlines) - now).total_seconds()))
        raise TooManyRequests(
            f"{len(deadlines)} requests of this app wait for this person's decision already.",
            headers={"Retry-After": str(wait)},
        )


def not_just_denied(*, app_pk: int, user_pk: int, scope: str, now: datetime) -> None:
    """Refuse to ask again for what overlaps a scope that this person denied a short while ago."""
    cooldown = settings.DENIAL_COOLDOWN_SECONDS
    wanted = pkm.scopes.parse(scope)
    if not cooldown or wanted is None:
        return
    since = connection.ops.adapt_datetimefield_value(now - timedelta(seconds=cooldown))
    for row in rows(_DENIED, [user_pk, app_pk, since]):
        denied = pkm.scopes.parse(row["scope"])
        decided_at = utc(row["decided_at"])
        if denied is None or decided_at is None:
            continue
        if denied.covers_scope(wanted) or wanted.covers_scope(denied):
            wait = max(1, int((decided_at + timedelta(seconds=cooldown) - now).total_seconds()) + 1)
            raise RecentlyDenied(headers={"Retry-After": str(wait)})
