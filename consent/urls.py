"""Every address of this room: what programs call, its documentation, the consent app."""

from django.urls import include, path

from consent.api.openapi import Schema
from consent.docs import pages as docs_pages

urlpatterns = [
    path("", include("consent.program_urls")),
    path("api/schema/", Schema.as_view(), name="api-schema"),
    path("api/docs/", docs_pages.api, name="api-docs"),
    path("docs/", docs_pages.documents, name="documents"),
    path("docs/errors", docs_pages.errors, name="docs-errors"),
    path("docs/security/", docs_pages.security, name="docs-security"),
    path("", include("consent.sandbox.urls")),
    path("", include("consent.portal.urls")),
    path("docs/<str:document>/", docs_pages.document_page, name="document"),
    path("", include("consent.web.urls")),
]
