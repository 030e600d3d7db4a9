"""How sensitive a request is, together with what the app was answered before."""

import json
from collections import defaultdict
from typing import Any

from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.registry.models import ScopeEntry, SensitivityTier


def tier_of(request: ConsentRequest) -> str:
    """How sensitive it is: as its scope, and more where answers in place of values tell more."""
    found: list[str] = [request.scope_entry.sensitivity_tier, *tiers_of_answers(request).values()]
    return max(found, key=SensitivityTier.values.index)


def tiers_of_answers(request: ConsentRequest) -> dict[str, str]:
    """By path how sensitive each of its answers is at least, whatever the answer's own scope says.

    A second answer about one value counts as that value, since the app may tell the value from both. No answer about a
    restricted value is less than confidential.
    """
    if not request.derived:
        return {}
    answers, found = _answers_about(request), {}
    scopes = [f"attr.{source}" for source in answers]
    tiers = dict(ScopeEntry.objects.filter(scope__in=scopes).values_list("scope", "sensitivity_tier"))
    for path, made in request.derived.items():
        tier: str = tiers.get(f"attr.{made['from']}", SensitivityTier.RESTRICTED)
        if len(answers[made["from"]]) == 1:
            is_restricted = tier == SensitivityTier.RESTRICTED
            tier = SensitivityTier.CONFIDENTIAL if is_restricted else SensitivityTier.STANDARD
        found[path] = tier
    return found


def _answers_about(request: ConsentRequest) -> dict[str, set[str]]:
    """Of each value behind the request's answers those that the app would have then, with how each is made."""
    definitions = request.derived or {}
    found: dict[str, set[str]] = defaultdict(set)
    before = Grant.objects.filter(app_id=request.app_id, user_id=request.user_id, request__derived__isnull=False)
    each: list[tuple[Any, Any]] = [
        (definitions, definitions),
        *before.values_list("approved_attributes", "request__derived"),
    ]
    for approved, made in each:
        for path in made.keys() & set(approved or ()):
            found[made[path]["from"]].add(json.dumps([path, made[path]], sort_keys=True))
    return {source: found[source] for source in {one["from"] for one in definitions.values()}}


def must_be_vouched_for(request: ConsentRequest) -> bool:
    """Whether it cannot be approved while nobody vouches for its key."""
    return tier_of(request) == SensitivityTier.RESTRICTED
