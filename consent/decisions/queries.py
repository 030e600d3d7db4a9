"""What a person is shown of a request before they decide."""

from typing import Any

from django.conf import settings

from accounts.models import User
from common.clock import database_now
from consent.decisions.sensitivity import tier_of
from consent.errors import UnknownRequest
from consent.grants.models import Grant
from consent.requests import digest as request_digest
from consent.requests.models import ConsentRequest
from consent.requests.vouching import vouching_of
from pkm.registry import queries as registry_queries


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
