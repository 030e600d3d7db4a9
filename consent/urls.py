"""Every address of this room: what programs call, its documentation, the consent app."""

from django.urls import include, path

from consent import docs
from consent.api.openapi import Schema

urlpatterns = [
    path("", include("consent.programs")),
    path("api/schema/", Schema.as_view(), name="api-schema"),
    path("api/docs/", docs.api, name="api-docs"),
    path("docs/errors", docs.errors, name="docs-errors"),
    path("docs/security/", docs.security, name="docs-security"),
    path("", include("consent.web.urls")),
]
