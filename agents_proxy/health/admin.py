"""Calls of agents as staff see them, and how the agents do: that they were asked, never what was said."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import ReadOnly
from accounts.staff_lists import value_filter
from accounts.staff_values import kind_in_words
from agents_proxy.agents import AGENTS, title_of
from agents_proxy.health.queries import FAILURES, SAMPLE, health_of_agents
from agents_proxy.proxy.models import Call


@admin.register(Call)
class CallAdmin(ReadOnly):
    """That an agent was asked; never what, and never what it said."""

    list_display = ("title", "outcome", "duration_ms", "bytes", "started_at")
    list_filter = (value_filter("agent", AGENTS, title_of), "outcome")
    ordering = ("-id",)
    fields = ("title", "session_id", "task_id", "started_at", "duration_ms", "outcome", "bytes")
    change_list_template = "admin/agents_proxy/call/change_list.html"

    @admin.display(description=_("agent"), ordering="agent")
    def title(self, row: Call) -> str:
        return title_of(row.agent)

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
            "failures": [kind_in_words(outcome) for outcome in FAILURES],
            "sample": SAMPLE,
        }
        return TemplateResponse(request, "admin/agents_proxy/call/health.html", context)
