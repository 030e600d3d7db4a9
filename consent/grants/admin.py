"""What staff see of grants: metadata, never what was shared."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.staff import AboutPeople, ReadOnly
from common.text import is_plain
from consent.grants.actions import terminate
from consent.grants.models import Grant
from consent.requests.admin import attributes_in_words, with_identifier
from pkm.registry.labels import translated


@admin.register(Grant)
class GrantAdmin(AboutPeople, ReadOnly):
    """Staff can end a grant, saying why; nothing else about it is theirs to change."""

    list_display = ("app", "what", "user", "status", "reads", "starts_at", "expires_at")
    list_filter = ("status",)
    filters_by_index = ("status__exact=active", "status__exact=paused")
    list_select_related = ("app", "user", "request__scope_entry")
    search_fields = ("=grant_id", "=request__request_id", "=user__public_id", "=app__app_id")
    ordering = ("-id",)
    actions = ("end",)
    identifiers = ("ended_by",)
    fields = (
        "grant_id", "request", "app", "user", "scope_shown", "approved_shown", "status", "starts_at", "expires_at",
        "reads", "max_reads", "ended_at", "ended_by", "end_reason",
    )  # fmt: skip

    @admin.display(description=_("scope"))
    def what(self, row: Grant) -> str:
        return translated(row.request.scope_entry.scope_label)

    @admin.display(description=_("scope"))
    def scope_shown(self, row: Grant) -> str:
        return with_identifier(self.what(row), row.scope)

    @admin.display(description=_("approved attributes"))
    def approved_shown(self, row: Grant) -> str:
        return attributes_in_words(row.approved_attributes)

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_grant")

    @admin.action(description=_("End the selected grants"), permissions=["end"])
    def end(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Ask for the reason first; the second post ends them, and their ciphertext goes with them."""
        reason = request.POST.get("reason", "").strip()
        if not is_plain(reason) or len(reason) > 280:
            return self._reason_page(request, queryset)
        ended = sum(self._end_one(request, grant, reason) for grant in queryset.order_by("pk"))
        text = ngettext("%d grant was ended.", "%d grants were ended.", ended) % ended
        self.message_user(request, text, messages.SUCCESS if ended else messages.WARNING)
        return None

    def _end_one(self, request: HttpRequest, grant: Grant, reason: str) -> bool:
        """Each in a transaction of its own: nobody's decision waits for another person's grant."""
        by: Any = request.user
        with transaction.atomic():
            ended = terminate(grant_id=grant.grant_id, by=by, reason=reason)
            if ended:
                self.log_change(request, grant, [{"changed": {"fields": ["status"]}}])
        return ended

    def _reason_page(self, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse:
        grants = list(queryset.select_related("app", "user"))
        self._note(request, grants)
        context = {
            **self.admin_site.each_context(request),
            "title": ngettext("End this grant?", "End these grants?", len(grants)),
            "grants": grants,
            "lacks_reason": "reason" in request.POST,
            "opts": self.opts,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/consent/grant/end.html", context)
