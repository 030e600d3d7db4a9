"""The keys that an app registered."""

from common.clock import database_now
from consent.connector_keys.models import ConnectorKey
from consent.connector_keys.registered import is_still_registered
from developers.apps.models import App


def registered_keys(app: App) -> list[ConnectorKey]:
    """Those that were not removed, the newest first, with who registered them."""
    registered = ConnectorKey.objects.registered().filter(app=app).select_related("registered_by")
    return list(registered.order_by("-registered_at", "-pk"))


def usable_key(*, app_pk: int, key_id: str) -> dict[str, str] | None:
    """The public JWK that this app registered under this name, once it may be used."""
    found = ConnectorKey.objects.usable(database_now()).filter(app_id=app_pk, key_id=key_id)
    key = found.select_related("app").first()
    return key.jwk if key is not None and is_still_registered(key) else None


def newest_usable_key_id(*, app_pk: int) -> str | None:
    """The name of the key that this app registered last, of those that may be used."""
    usable = ConnectorKey.objects.usable(database_now()).filter(app_id=app_pk).order_by("-registered_at", "-pk")
    return usable.values_list("key_id", flat=True).first()
