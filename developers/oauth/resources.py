"""The two addresses that tokens of hosts are made for, and where a host learns about them (RFC 9728, RFC 8414)."""

from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings

from developers.oauth.errors import InvalidTarget
from developers.tokens.models import Permission

MCP, REST = "/mcp", "/api/v1"
_METADATA = "/.well-known/oauth-protected-resource"
SCOPES = [str(permission) for permission in Permission]


def resource_at(path: str) -> str:
    """The resource that a call of this path is made to."""
    return settings.ISSUER + (MCP if path.startswith(MCP) else REST)


def the_resource(named: str) -> str:
    """The resource that `named` means: exactly one of ours, whose trailing slash is forgiven.

    Raises `InvalidTarget`, without repeating what was named: a query may hold a secret.
    """
    for path in (MCP, REST):
        if named in (settings.ISSUER + path, f"{settings.ISSUER}{path}/"):
            return str(settings.ISSUER + path)
    raise InvalidTarget(f"Name {settings.ISSUER}{MCP} or {settings.ISSUER}{REST} as the resource, without a query.")


def challenge(path: str, *, error: str = "", scopes: list[str] | None = None, with_metadata: bool = True) -> str:
    """What `WWW-Authenticate` says to a call of this path (RFC 6750, 3; RFC 9728, 5.1)."""
    parameters = {"error": error} if error else {}
    if with_metadata:
        metadata = _METADATA + (MCP if path.startswith(MCP) else REST)
        parameters |= {"resource_metadata": settings.ISSUER + metadata, "scope": " ".join(scopes or SCOPES)}
    return "Bearer" + ",".join(f' {name}="{value}"' for name, value in parameters.items())


def resource_metadata(resource: str) -> dict[str, Any]:
    return {
        "resource": resource,
        "resource_name": settings.SITE_NAME,
        "authorization_servers": [settings.ISSUER],
        "scopes_supported": SCOPES,
        "bearer_methods_supported": ["header"],
        "resource_documentation": f"{settings.ISSUER}/docs/",
    }


def server_metadata() -> dict[str, Any]:
    """The document of the authorization server. It is no OpenID provider."""
    issuer = settings.ISSUER
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth/authorize/",
        "token_endpoint": f"{issuer}/oauth/token",
        "registration_endpoint": f"{issuer}/oauth/register",
        "revocation_endpoint": f"{issuer}/oauth/revoke",
        "scopes_supported": SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": f"{issuer}/docs/",
    }


def answer_address(redirect_uri: str, **parameters: str | None) -> str:
    """Where the browser goes with an answer: the client's address with `parameters`, and who answers (RFC 9207)."""
    given = {**parameters, "iss": settings.ISSUER}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in given.items() if value is not None)
    return redirect_uri + ("&" if urlsplit(redirect_uri).query else "?") + query
