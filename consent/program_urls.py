"""The addresses that programs call with a token, REST and tools, for config/program_urls.py."""

from django.urls import path

from consent.api.public import ConsentRelease
from consent.api.urls import urlpatterns as api
from consent.log import api as log
from consent.sandbox.urls import for_programs as sandbox
from consent.tools.views import McpView
from developers.manage.urls import urlpatterns as manage
from developers.oauth.urls import urlpatterns as hosts

rest = [*api, *sandbox, *manage]  # what the OpenAPI document describes

urlpatterns = [
    *rest,
    *hosts,
    path("log/checkpoint", log.LogCheckpoint.as_view(), name="log-checkpoint"),
    path("log/key", log.LogKey.as_view(), name="log-key"),
    path("log/witnesses", log.LogWitnesses.as_view(), name="log-witnesses"),
    path("log/tile/entries/<path:place>", log.LogEntries.as_view(), name="log-entries"),
    path("log/tile/<str:level>/<path:place>", log.LogTile.as_view(), name="log-tile"),
    path("log/proof/<str:entry_hash>", log.LogProof.as_view(), name="log-proof"),
    path("log/consistency", log.LogConsistency.as_view(), name="log-consistency"),
    path(".well-known/consent-release.json", ConsentRelease.as_view(), name="consent-release"),
    path("mcp", McpView.as_view(), name="mcp"),
    path("mcp/", McpView.as_view()),
]
