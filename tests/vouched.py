"""Connector keys for which somebody vouches, registered as people do, and long enough ago."""

from datetime import datetime, timedelta

from accounts.models import User
from common.clock import database_now
from consent.connector_keys.actions import register_key
from consent.connector_keys.models import ConnectorKey
from consent.log.sequencing import sequence_and_sign
from consent.requests.models import ConsentRequest
from consent_bridge import sealed
from developers.models import App
from tests.factories import PersonFactory

LONG_AGO = timedelta(days=2)


def registered(
    app: App,
    *,
    jwk: dict[str, str] | None = None,
    key_id: str = "key-1",
    by: User | None = None,
    at: datetime | None = None,
) -> ConnectorKey:
    """A key that this app registered two days ago, or at `at`, and that the log has."""
    key = register_key(
        app=app,
        key_id=key_id,
        jwk=jwk or sealed.public_half(sealed.generate_connector_key()),
        by=by or PersonFactory(),
        at=at or database_now() - LONG_AGO,
    )
    sequence_and_sign()
    return key


def vouch_for(request: ConsentRequest) -> ConnectorKey:
    """Its app registered the request's key long ago."""
    return registered(request.app, jwk=request.connector_public_key, key_id=request.connector_key_id)
