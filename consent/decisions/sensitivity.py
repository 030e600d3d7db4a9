"""How sensitive a request is, together with what the app was answered before."""

import json
from collections import defaultdict
from typing import Any

from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from pkm.registry.models import ScopeEntry, SensitivityTier


def tier_of(request: ConsentRequest) -> str:
    """How sensitive it is: as its scope, and more where answers in place of values tell more.

    A second answer about one value counts as that value, since the app may tell the value from both. No answer about a
    restricted value is less than confidential.
    """
    own: str = request.scope_entry.sensitivity_tier
    if not request.derived:
        return own
    answers, found = _answers_about(request), [own]
    scopes = {f"attr.{source}": source for source in answers}
    tiers = dict(ScopeEntry.objects.filter(scope__in=scopes).values_list("scope", "sensitivity_tier"))
    for scope, source in scopes.items():
        tier = tiers.get(scope, SensitivityTier.RESTRICTED)
        if len(answers[source]) > 1:
            found.append(tier)
        elif tier == SensitivityTier.RESTRICTED:
            found.append(SensitivityTier.CONFIDENTIAL)
    return max(found, key=SensitivityTier.values.index)


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
