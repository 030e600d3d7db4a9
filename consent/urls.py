"""Every address of this room: what programs call, its documentation, the consent app."""

from django.urls import include, path

from consent.api.openapi import Schema
from consent.docs import pages as docs_pages
from consent.docs import public_pages

urlpatterns = [
    path("", include("consent.program_urls")),
    path("api/schema/", Schema.as_view(), name="api-schema"),
    path("api/docs/", docs_pages.api, name="api-docs"),
    path("docs/", docs_pages.documents, name="documents"),
    path("docs/errors", docs_pages.errors, name="docs-errors"),
    path("docs/security/", docs_pages.security, name="docs-security"),
    path("", include("consent.sandbox.urls")),
    path("help/", public_pages.help_page, name="help"),
    *(path(f"{name}/", public_pages.operators_page, {"name": name}, name=name) for name in public_pages.TITLES),
    path("docs/<str:document>/", docs_pages.document_page, name="document"),
    path("", include("consent.web.urls")),
]
