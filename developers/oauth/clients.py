"""Who a host is: one that registered itself (RFC 7591), or one whose metadata lies at the address that is its ID.

Neither is anybody's word but the host's own, so people are shown the host of the address and where they are sent.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from common import addresses
from common.clock import database_now
from common.identifiers import is_identifier, new_identifier
from common.json_bodies import strict_json
from common.outbound.client import Client
from common.outbound.failures import ExchangeFailed
from common.problems import InvalidRequest
from common.text import is_plain
from developers.oauth.errors import InvalidClient, InvalidClientMetadata
from developers.oauth.models import OAuthClient
from developers.oauth.redirects import LONGEST, check_redirect

MOST_REDIRECTS, MOST_KEYS = 10, 5
UNUSED_AFTER = timedelta(days=7)
_KEPT = timedelta(hours=24)
_LARGEST, _SECONDS = 5 * 1024, 5.0
_PREFIX = "client"
_GRANTS = {"authorization_code", "refresh_token"}
_UNNAMED = "MCP host"
_client = Client(may_reach=addresses.is_public, connect_seconds=3)

Metadata = dict[str, Any]


@transaction.atomic
def register_client(metadata: Any) -> tuple[OAuthClient, Metadata]:
    """A new client by its own words, and what is answered. Raises `InvalidClientMetadata`, `InvalidRedirectUri`."""
    described = _described(metadata)
    client = OAuthClient.objects.create(client_id=new_identifier(_PREFIX), **described)
    answer: Metadata = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": sorted(_GRANTS),
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return client, answer | ({"jwks": {"keys": client.jwks}} if client.jwks else {})


def known_client(client_id: str) -> OAuthClient | None:
    """The client of this ID as it was met last; nothing is fetched."""
    if len(client_id) > LONGEST or not (is_identifier(client_id) or is_document_address(client_id)):
        return None
    return OAuthClient.objects.filter(client_id=client_id).first()


def find_client(client_id: str) -> OAuthClient:
    """The client of this ID, its document fetched where that was longer than a day ago. Outside `atomic`.

    Raises `InvalidClient`, `InvalidClientMetadata`, `InvalidRedirectUri`.
    """
    client = known_client(client_id)
    if not is_document_address(client_id):
        if client is None:
            raise InvalidClient("No client is registered by this ID; one that nobody used is forgotten after 7 days.")
        return client
    now = database_now()
    if client is not None and client.fetched_at is not None and client.fetched_at > now - _KEPT:
        return client
    described = _described(fetch_document(client_id))
    kept, _ = OAuthClient.objects.update_or_create(client_id=client_id, defaults={**described, "fetched_at": now})
    return kept


def is_document_address(client_id: str) -> bool:
    """Whether this is the address of a metadata document: https, a host and a path, written in one way only."""
    if len(client_id) > LONGEST or not client_id.startswith("https://") or not client_id.isascii():
        return False
    try:
        parts = urlsplit(client_id)
        _ = parts.port
    except ValueError:
        return False
    has_dots = any(segment in (".", "..") for segment in parts.path.split("/"))
    is_bare = not any((parts.fragment, parts.username, parts.password)) and "#" not in client_id
    return bool(parts.hostname and parts.path.strip("/") and is_bare and not has_dots and client_id.isprintable())


def fetch_document(client_id: str) -> Metadata:
    """The metadata that lies at this address, which names itself. Raises `InvalidClient`."""
    headers = {"Accept": "application/json", "User-Agent": "Consent-Runtime-Client-Metadata"}
    try:
        answer = _client.get(client_id, headers=headers, seconds=_SECONDS, limit=_LARGEST)
        found = strict_json(answer.body) if answer.status == 200 else None
    except (ExchangeFailed, InvalidRequest):
        found = None
    if not isinstance(found, dict) or found.get("client_id") != client_id:
        raise InvalidClient("At this client ID there is no metadata document of at most 5 KiB that names it.")
    if found.get("token_endpoint_auth_method", "none") != "none":  # one that registers is answered `none` instead
        raise InvalidClientMetadata("token_endpoint_auth_method is none: PKCE is what tells a client here.")
    return found


def forget_unused_clients() -> int:
    """Delete those that nobody connected within a week."""
    unused = OAuthClient.objects.filter(created_at__lt=database_now() - UNUSED_AFTER, tokens__isnull=True)
    return unused.delete()[0]


def host_of(client: OAuthClient) -> str:
    """The host that vouches for the client; "" for one that registered itself, for whom nobody does."""
    return urlsplit(client.client_id).hostname or "" if client.fetched_at is not None else ""


def _described(metadata: Any) -> Metadata:
    """The columns of a client. What else it says of itself is passed over, as RFC 7591 has it."""
    if not isinstance(metadata, dict):
        raise InvalidClientMetadata("The metadata of a client is an object.")
    grants = metadata.get("grant_types") or ["authorization_code"]
    if not isinstance(grants, list) or "authorization_code" not in grants:
        raise InvalidClientMetadata("grant_types has authorization_code; there is refresh_token beside it, no other.")
    if metadata.get("response_types", ["code"]) != ["code"]:
        raise InvalidClientMetadata("response_types is code alone.")
    return {"name": _name(metadata), "redirect_uris": _redirects(metadata), "jwks": _keys(metadata)}


def _name(metadata: Metadata) -> str:
    name = metadata.get("client_name", _UNNAMED)
    if not isinstance(name, str) or not is_plain(name) or not 1 <= len(name.strip()) <= 80:
        raise InvalidClientMetadata("client_name is one line of plain text, 1 to 80 characters.")
    return name.strip()


def _redirects(metadata: Metadata) -> list[str]:
    uris = metadata.get("redirect_uris")
    if not isinstance(uris, list) or not 1 <= len(uris) <= MOST_REDIRECTS:
        raise InvalidClientMetadata(f"redirect_uris is a list of 1 to {MOST_REDIRECTS} addresses.")
    if not all(isinstance(uri, str) for uri in uris):
        raise InvalidClientMetadata("redirect_uris are strings.")
    return [check_redirect(uri) for uri in uris]


def _keys(metadata: Metadata) -> list[dict[str, str]]:
    """The public keys by which the client opens what is sealed for it, of the kinds that connector keys have."""
    jwks = metadata.get("jwks")
    listed = jwks.get("keys") if isinstance(jwks, dict) else None
    if not isinstance(listed, list):
        return []
    fit = [key for key in listed if isinstance(key, dict) and key.get("crv") in ("X25519", "P-256") and "d" not in key]
    members = ("kty", "crv", "x", "y", "kid")
    return [{name: key[name] for name in members if isinstance(key.get(name), str)} for key in fit[:MOST_KEYS]]
