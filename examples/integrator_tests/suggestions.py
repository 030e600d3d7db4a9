"""The integration under test: an app that suggests a restaurant once a person shares what they like to eat."""

from consent_bridge.client import Client
from consent_bridge.errors import Problem
from consent_bridge.keys import Jwk
from consent_bridge.results import MadeRequest

_PLACES = {"Thai": "Green Mango", "Italian": "Da Lucia"}
_FALLBACK = "The Corner Café"


def request_cuisine(client: Client, user_id: str, key: Jwk) -> MadeRequest:
    """Ask for the one thing that a suggestion needs."""
    return client.request_consent(
        user_id,
        "attr.lifestyle.food.*",
        purpose="Suggest a restaurant that you would like",
        key=key,
        required_attributes=["lifestyle.food.favorite_cuisine"],
        access_duration=3600,
    )


def suggest(client: Client, request: MadeRequest, key: Jwk) -> str:
    """A place to eat: one of their cuisine where they share it, now and still, else one for everybody."""
    try:
        shared = client.read(request, key)
    except Problem as problem:
        if problem.code in ("authorization_pending", "access_denied", "grant_paused", "grant_ended"):
            return _FALLBACK
        raise
    return _PLACES.get(shared.data["lifestyle"]["food"]["favorite_cuisine"], _FALLBACK)
