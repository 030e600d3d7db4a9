"""What a person is shown of a request before they decide."""

import json
from collections import defaultdict
from typing import Any

from django.conf import settings

from accounts.models import User
from common.clock import database_now
from consent.errors import UnknownRequest
from consent.grants.models import Grant
from consent.requests import digest as request_digest
from consent.requests.models import ConsentRequest
from consent.requests.vouching import vouching_of
from pkm.registry import queries as registry_queries
from pkm.registry.models import ScopeEntry, SensitivityTier


def request_data(*, user: User, request_id: str) -> dict[str, Any]:
    """Contract §2, `data`: what the person's browser needs to check, show and seal."""
    request = (
        ConsentRequest.objects.select_related("app__application", "user", "scope_entry__domain")
        .filter(user=user, request_id=request_id)
        .first()
    )
    if request is None:
        raise UnknownRequest
    app = request.app
    return {
        "request": request_digest.members_of(request, app_id=request.app.app_id),
        "request_digest": request.request_digest,
        "status": request.status_at(database_now()),
        "connector_public_key": request.connector_public_key,
        "connector_key_id": request.connector_key_id,
        "app": {
            "app_id": request.app.app_id,
            "name": request.app.name,
            "legal_name": app.legal_name,
            "verified": request.app.verified,
            "website": app.website,
            "privacy_policy": app.privacy_policy,
        },
        "scope_entry": {**registry_queries.entry_body(request.scope_entry), "sensitivity_tier": tier_of(request)},
        "issuer": settings.ISSUER,
        "export_revision": 1,
        "vouching": vouching_of(request).as_body(),
        "known_connector_key": is_known_connector(request),
    }


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
    each = [(definitions, definitions), *before.values_list("approved_attributes", "request__derived")]
    for approved, made in each:
        for path in made.keys() & set(approved or ()):
            found[made[path]["from"]].add(json.dumps([path, made[path]], sort_keys=True))
    return {source: found[source] for source in {one["from"] for one in definitions.values()}}


def must_be_vouched_for(request: ConsentRequest) -> bool:
    """Whether it cannot be approved while nobody vouches for its key."""
    return tier_of(request) == SensitivityTier.RESTRICTED


def is_known_connector(request: ConsentRequest) -> bool:
    """Whether this app used this key with this person in an earlier approval."""
    return (
        Grant.objects.filter(
            app_id=request.app_id, user_id=request.user_id, request__connector_thumbprint=request.connector_thumbprint
        )
        .exclude(request=request)
        .exists()
    )


def is_first_time_app(request: ConsentRequest) -> bool:
    """Whether this person never approved anything for this app."""
    return not Grant.objects.filter(app_id=request.app_id, user_id=request.user_id).exclude(request=request).exists()


def grant_before(request: ConsentRequest) -> Grant | None:
    """The newest approval of the same scope by the same person for the same app, whatever became of it."""
    same = Grant.objects.filter(app_id=request.app_id, user_id=request.user_id, scope=request.scope)
    return same.exclude(request=request).select_related("request").order_by("-pk").first()
