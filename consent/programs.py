"""The addresses that programs call with a developer token, REST and tools: all that config/lanes.py resolves in."""

from django.urls import include, path

from consent.tools.views import Tools

urlpatterns = [
    path("mcp", Tools.as_view(), name="mcp"),
    path("mcp/", Tools.as_view()),
    path("", include("consent.api.urls")),
]
