"""Calls of agents as staff see them, and how the agents do: that they were asked, never what was said."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import ReadOnly
from agents_proxy.health.queries import FAILURES, SAMPLE, health_of_agents
from agents_proxy.proxy.models import Call
from agents_proxy.states import CallOutcome

_FAILURE_LABELS = {
    CallOutcome.AGENT_ERROR: _("Error of the agent"),
    CallOutcome.AGENT_FAILED: _("Task failed"),
    CallOutcome.AGENT_REFUSED_US: _("Refused us"),
    CallOutcome.AGENT_BUSY: _("Too busy"),
    CallOutcome.INVALID_AGENT_RESPONSE: _("Invalid answer"),
    CallOutcome.UPSTREAM_UNAVAILABLE: _("Not reached"),
    CallOutcome.UPSTREAM_TIMEOUT: _("Timed out"),
}


@admin.register(Call)
class CallAdmin(ReadOnly):
    """That an agent was asked; never what, and never what it said."""

    list_display = ("agent", "outcome", "duration_ms", "bytes", "started_at")
    list_filter = ("agent", "outcome")
    ordering = ("-id",)
    fields = ("agent", "session_id", "task_id", "started_at", "duration_ms", "outcome", "bytes")
    change_list_template = "admin/agents_proxy/call/change_list.html"

    def get_urls(self) -> list[URLPattern]:
        health = path("health/", self.admin_site.admin_view(self.health_view), name="agents_proxy_call_health")
        return [health, *super().get_urls()]

    def health_view(self, request: HttpRequest) -> HttpResponse:
        """Every agent: whether it is configured, how often it failed and how, how long it takes."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        agents = health_of_agents()
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Health of agents"),
            "opts": self.opts,
            "agents": agents,
            "any": any(period.calls for one in agents for period in one.figures),
            "failures": [_FAILURE_LABELS[outcome] for outcome in FAILURES],
            "sample": SAMPLE,
        }
        return TemplateResponse(request, "admin/agents_proxy/call/health.html", context)
