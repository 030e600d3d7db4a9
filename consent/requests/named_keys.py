"""The connector key that a request names without sending it: one that the app registered, publishes, or says it has.

A host without a key can ask but not read: its requests name a key that nobody has.
"""

import hashlib
from typing import Any

import pkm.sealed
from common.jose import base64url
from common.limits import Limit, count
from common.problems import TooManyRequests
from consent.connector_keys.queries import usable_key
from consent.requests.models import ConsentRequest
from consent.requests.published_keys import fetch_published_key
from developers.apps.models import App
from developers.authentication import AppContext
from developers.oauth.queries import keys_of_host

KEY_OF_NOBODY = "nobody"  # what such a request calls its key
_NOBODY = b"consent-runtime: a key that nobody has\x00"
_KEY_FETCHES = Limit("published-key-looks", 120, 3600)  # at an app's own site, while it waits for the answer


def find_or_fetch_vouched_key(*, app: AppContext, key_id: str) -> dict[str, str] | None:
    """The public JWK of that name; None where nobody vouches for one. May fetch it: outside `atomic`."""
    registered = usable_key(app_pk=app.app_pk, key_id=key_id)
    if registered is not None:
        return registered
    if app.is_host and key_id == KEY_OF_NOBODY:
        return key_of_nobody(app.app_id)
    if app.is_personal:
        return _keys_of_host(app).get(key_id)
    domain = App.objects.filter(pk=app.app_pk).values_list("proved_domain", flat=True).get()
    if not domain or app.is_test:
        return None
    count(_KEY_FETCHES, str(app.app_pk)).require(TooManyRequests)
    return fetch_published_key(domain, key_id)


def key_id_of_host(app: AppContext) -> str | None:
    """The name of the first key that a personal host said it has."""
    return next(iter(_keys_of_host(app)), None)


def key_of_nobody(app_id: str) -> dict[str, str]:
    """A point that a hash names, so that nobody knows the private half, this service included; another for each app.

    What is sealed to it stays sealed: the host learns the decision, and no value.
    """
    point = bytearray(hashlib.sha256(_NOBODY + app_id.encode()).digest())
    point[31] &= 0x7F  # RFC 7748, 5: the highest bit says nothing
    return {"kty": "OKP", "crv": "X25519", "x": base64url(point)}


def is_of_nobody(request: ConsentRequest) -> bool:
    """Whether nobody can open what is approved. Needs the request's app."""
    return request.connector_thumbprint == pkm.sealed.thumbprint(key_of_nobody(request.app.app_id))


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
