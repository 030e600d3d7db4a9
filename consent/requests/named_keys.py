"""The connector key that a request names without sending it: one that the app registered, publishes, or says it has."""

from typing import Any

import pkm.sealed
from common.limits import Limit, count
from common.problems import TooManyRequests
from consent.connector_keys.queries import usable_key
from consent.requests.published import published_key
from developers.authentication import AppContext
from developers.models import App
from developers.oauth.queries import keys_of_host

_LOOKS = Limit("published-key-looks", 120, 3600)  # at an app's own site, while it waits for the answer


def vouched_key(*, app: AppContext, key_id: str) -> dict[str, str] | None:
    """The public JWK of that name; None where nobody vouches for one. May ask the app's site: outside `atomic`."""
    registered = usable_key(app_pk=app.app_pk, key_id=key_id)
    if registered is not None:
        return registered
    if app.is_personal:
        return _keys_of_host(app).get(key_id)
    domain = App.objects.filter(pk=app.app_pk).values_list("proved_domain", flat=True).get()
    if not domain or app.is_test:
        return None
    count(_LOOKS, str(app.app_pk)).require(TooManyRequests)
    return published_key(domain, key_id)


def key_id_of_host(app: AppContext) -> str | None:
    """The name of the first key that a personal host said it has."""
    return next(iter(_keys_of_host(app)), None)


def _keys_of_host(app: AppContext) -> dict[str, dict[str, str]]:
    """{name: public JWK} of the keys that fit; one without a name is called by its thumbprint."""
    found: dict[str, dict[str, str]] = {}
    for jwk in keys_of_host(app.token_pk):
        try:
            public = pkm.sealed.check_connector_key(jwk)
        except pkm.sealed.InvalidHeader:
            continue
        found[_name_of(jwk, public)] = public
    return found


def _name_of(jwk: dict[str, Any], public: dict[str, str]) -> str:
    kid = jwk.get("kid")
    return kid if isinstance(kid, str) and pkm.sealed.KEY_ID.fullmatch(kid) else pkm.sealed.thumbprint(public)
