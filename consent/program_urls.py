"""The addresses that programs call with a token, REST and tools, for config/program_urls.py."""

from django.urls import path

from consent.api.releases import ConsentRelease
from consent.api.urls import urlpatterns as api
from consent.log.urls import urlpatterns as log
from consent.sandbox.urls import for_programs as sandbox
from consent.tools.views import McpView
from developers.manage.urls import urlpatterns as manage

rest = [*api, *sandbox, *manage]  # what the OpenAPI document describes

urlpatterns = [
    *rest,
    *log,
    path(".well-known/consent-release.json", ConsentRelease.as_view(), name="consent-release"),
    path("mcp", McpView.as_view(), name="mcp"),
    path("mcp/", McpView.as_view()),
]
