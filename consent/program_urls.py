"""The addresses that programs call with a developer token, REST and tools, for config/program_addresses.py."""

from django.urls import path

from consent.api.urls import urlpatterns as rest
from consent.tools.views import McpView

urlpatterns = [
    *rest,
    path("mcp", McpView.as_view(), name="mcp"),
    path("mcp/", McpView.as_view()),
]
