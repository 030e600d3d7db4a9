"""Reports about apps, which staff handle, and what withdrawn scopes left to be done."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from accounts.models import User
from accounts.staff import AboutPeople, ReadOnly
from accounts.staff_notes import note_of, note_page
from common.clock import database_now
from consent.decisions.models import AppReport, ReportNote, ReportStatus, ScopeWithdrawal
from developers.apps.queries import numbers_of

_SHOWN_REPORTS = 20  # others about the same app, the newest
_STEPS = {
    ReportStatus.OPEN: ("take_in_hand", "close", "add_a_note"),
    ReportStatus.IN_HAND: ("close", "open_again", "add_a_note"),
    ReportStatus.CLOSED: ("open_again", "add_a_note"),
}


@transaction.atomic
def move_report(*, report_pk: int, to: ReportStatus, by: User, note: str) -> bool:
    """Give a report this status, saying why; False where it has it already. A closed one can be opened again."""
    report = AppReport.objects.select_for_update().get(pk=report_pk)
    if report.status == to:
        return False
    now = database_now()
    closed_at = now if to is ReportStatus.CLOSED else None
    AppReport.objects.filter(pk=report_pk).update(status=to, handled_at=closed_at)
    ReportNote.objects.create(report=report, status=to, by=by, note=note, at=now)
    return True


@transaction.atomic
def add_note(*, report_pk: int, by: User, note: str) -> None:
    """Write down what was found out; the report stays as it stands."""
    report = AppReport.objects.select_for_update().get(pk=report_pk)
    ReportNote.objects.create(report=report, status=report.status, by=by, note=note, at=database_now())


@admin.register(AppReport)
class ReportAdmin(AboutPeople, ReadOnly):
    """What people told about an app, the oldest unhandled first; each step of handling it takes a note and is kept."""

    list_display = ("created_at", "app", "app_status", "user", "beginning", "status", "handled_at")
    list_select_related = ("app", "user")
    list_filter = ("status", ("handled_at", admin.EmptyFieldListFilter))
    search_fields = ("=app__app_id", "app__name", "=user__public_id")
    ordering = ("handled_at", "created_at")
    actions = ("take_in_hand", "close", "open_again", "add_a_note")
    fields = ("app", "user", "text", "status", "created_at", "handled_at")

    @admin.display(description=_("app's status"))
    def app_status(self, row: AppReport) -> str:
        return row.app.get_status_display()

    @admin.display(description=_("report"))
    def beginning(self, row: AppReport) -> str:
        return truncatechars(row.text, 60)

    def has_handle_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_appreport")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        report = self.get_object(request, object_id)
        context = {}
        if isinstance(report, AppReport):
            actions: dict[str, Any] = self.get_actions(request)
            steps = [(name, actions[name][2]) for name in _STEPS[ReportStatus(report.status)] if name in actions]
            context = {**_page_context(report), "steps": steps}
        response = super().change_view(request, object_id, form_url, {**(extra_context or {}), **context})
        if getattr(response, "context_data", None) is not None:  # the page is shown, with what others reported
            self._note(request, context.get("others", []))
        return response

    @admin.action(description=_("Take in hand"), permissions=["handle"])
    def take_in_hand(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        title = ngettext("Take this report in hand?", "Take these reports in hand?", queryset.count())
        return self._move(request, queryset, ReportStatus.IN_HAND, "take_in_hand", title)

    @admin.action(description=_("Close as handled"), permissions=["handle"])
    def close(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        title = ngettext("Close this report?", "Close these reports?", queryset.count())
        return self._move(request, queryset, ReportStatus.CLOSED, "close", title)

    @admin.action(description=_("Open again"), permissions=["handle"])
    def open_again(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        title = ngettext("Open this report again?", "Open these reports again?", queryset.count())
        return self._move(request, queryset, ReportStatus.OPEN, "open_again", title)

    @admin.action(description=_("Add a note"), permissions=["handle"])
    def add_a_note(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        title = ngettext("Add a note to this report", "Add a note to these reports", queryset.count())
        return self._move(request, queryset, None, "add_a_note", title)

    def _move(
        self, request: HttpRequest, queryset: QuerySet[Any], to: ReportStatus | None, action: str, title: str
    ) -> HttpResponse | None:
        """Ask for the note first; the second post moves them, or only notes it."""
        note, by = note_of(request), request.user
        rows = list(queryset.select_related("app", "user"))
        if note is None:
            self._note(request, rows)
            explanation = ngettext(
                "The note stays in the history of the report. Staff alone read it.",
                "The note stays in the history of each report. Staff alone read it.",
                len(rows),
            )
            actions: dict[str, Any] = self.get_actions(request)
            return note_page(
                self, request, rows, action=action, title=title, explanation=explanation, button=actions[action][2]
            )
        if to is None:
            for row in rows:
                add_note(report_pk=row.pk, by=by, note=note)  # type: ignore[arg-type]  # staff, whom the admin let in
        else:
            rows = [row for row in rows if move_report(report_pk=row.pk, to=to, by=by, note=note)]  # type: ignore[arg-type]  # as above
        for row in rows:
            self.log_change(request, row, f"{action}: {note}")
        text = ngettext("%d report was changed.", "%d reports were changed.", len(rows)) % len(rows)
        self.message_user(request, text, messages.SUCCESS if rows else messages.WARNING)
        return None


def _page_context(report: AppReport) -> dict[str, Any]:
    """What stands below a report: its history, the app's numbers, and what others reported about the same app."""
    others = AppReport.objects.filter(app=report.app_id).exclude(pk=report.pk).select_related("user")
    return {
        "report": report,
        "notes": report.notes.select_related("by"),
        "numbers": numbers_of([report.app_id])[report.app_id],
        "others": list(others.order_by("-pk")[:_SHOWN_REPORTS]),
    }


@admin.register(ScopeWithdrawal)
class WithdrawalAdmin(ReadOnly):
    """How far the worker has come with what withdrawn scopes left to be done."""

    list_display = fields = ("at", "scope_entry", "by", "ends_grants", "cancelled", "ended", "finished_at")
    list_filter = ("ends_grants", ("finished_at", admin.EmptyFieldListFilter))
    list_select_related = ("scope_entry", "by")
    search_fields = ("scope_entry__scope",)
    ordering = ("-id",)
