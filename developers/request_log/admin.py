"""Calls of apps as staff see them: what was answered, never a token, a value or a query."""

from django.contrib import admin

from accounts.staff import ReadOnly
from accounts.staff_lists import one_of
from developers.request_log.models import LoggedRequest


@admin.register(LoggedRequest)
class RequestLogAdmin(ReadOnly):
    list_display = ("at", "app", "method", "route", "status", "code", "ms", "trace_id")
    list_filter = (one_of("method", ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")),)
    list_select_related = ("app",)
    search_fields = ("=app__app_id", "=trace_id")
    searched_among_newest = ("=trace_id",)
    ordering = ("-id",)
    fields = ("at", "app", "method", "route", "status", "code", "ms", "trace_id")
