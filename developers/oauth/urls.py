"""The addresses that hosts call. The page on which a person allows one is the consent app's."""

from django.urls import path

from developers.oauth import api

_RESOURCE = ".well-known/oauth-protected-resource"

urlpatterns = [
    path(".well-known/oauth-authorization-server", api.ServerMetadata.as_view(), name="oauth-server"),
    path(_RESOURCE, api.ResourceMetadata.as_view(), name="oauth-resource"),
    path(f"{_RESOURCE}/mcp", api.ResourceMetadata.as_view(), name="oauth-resource-mcp"),
    path(f"{_RESOURCE}/api/v1", api.RestMetadata.as_view(), name="oauth-resource-rest"),
    path("oauth/register", api.Registration.as_view(), name="oauth-register"),
    path("oauth/token", api.Token.as_view(), name="oauth-token"),
    path("oauth/revoke", api.Revocation.as_view(), name="oauth-revoke"),
]
