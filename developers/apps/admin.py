"""Apps as staff see them: what decides whether one goes on, on one page, and its audit."""

from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import NeverDeleted, ReadOnly
from accounts.staff_fields import LinesField
from accounts.staff_lists import BoundedList, value_filter
from accounts.staff_notes import note_of, note_page
from common.forms import plain_line
from developers.apps import actions as app_actions
from developers.apps import queries as app_queries
from developers.apps.audit import WORDS, action_in_words, in_words, record
from developers.apps.models import App, AppAuditEntry, AppStatus

_SHOWN_ENTRIES = 50  # of the audit, the newest
_MOST_IN_LIST = 1000  # grants or requests of one app, which the list counts for fifty apps at once


class AppForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    origins = LinesField(
        label=_("Browser origins"), required=False, help_text=_("One to a line, such as https://trips.example.")
    )
    return_addresses = LinesField(
        label=_("Return addresses"), required=False, help_text=_("One to a line, such as https://trips.example/back.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in {"name", "verified"} & set(self.fields):
            self.fields[name].help_text = _("Changing this cancels the requests that wait for a decision.")

    def clean_name(self) -> str:
        return plain_line(self.cleaned_data["name"])

    def clean_origins(self) -> list[str]:
        return self._checked("origins", lambda split: not (split.path or split.query or split.fragment))

    def clean_return_addresses(self) -> list[str]:
        return self._checked("return_addresses", lambda split: not split.fragment)

    def _checked(self, name: str, fits: Callable[[Any], bool]) -> list[str]:
        listed: list[str] = self.cleaned_data[name]
        for line in listed:
            split = urlsplit(line)
            if (
                not _has_port(split)
                or split.scheme not in ("https", "http")
                or not split.netloc
                or "@" in split.netloc
                or not fits(split)
            ):
                raise forms.ValidationError(gettext("This does not fit here: %(line)s") % {"line": line})
        return listed


def _has_port(split: SplitResult) -> bool:
    """Whether the port, where one is named, is one that there is."""
    try:
        return split.port != 0
    except ValueError:
        return False


class AppList(BoundedList):
    """The page of apps that is shown, with the numbers of each, gathered for all of them at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        shown: list[Any] = list(self.result_list)
        numbers = app_queries.numbers_of([app.pk for app in shown], most=_MOST_IN_LIST)
        for app in shown:
            app.numbers = numbers[app.pk]
        self.result_list = shown


@admin.register(App)
class AppAdmin(NeverDeleted):
    """An app comes from an approved application, or is a test app. To change what people see of it cancels what waits.

    Its page shows who manages it, its tokens without secrets, its endpoints, its application, and what was done to it.
    """

    form = AppForm
    list_display = (
        "name", "mode", "status", "verified", "proved_domain", "owner", "members", "live_grants", "last_call",
    )  # fmt: skip
    list_filter = ("mode", "status", "verified")
    list_select_related = ("application",)
    search_fields = ("name", "app_id", "application__legal_name", "proved_domain", "=members__user__email")
    ordering = ("-created_at",)
    actions = ("suspend", "restore")
    fields = (
        "app_id", "mode", "name", "status", "verified", "proved_domain", "domain_proved_at", "origins",
        "return_addresses", "request_budget", "created_at", "updated_at",
    )  # fmt: skip
    readonly_fields = (
        "app_id", "mode", "status", "proved_domain", "domain_proved_at", "created_at", "updated_at",
    )  # fmt: skip

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return AppList

    @admin.display(description=_("owner"))
    def owner(self, row: Any) -> str:
        owner: str = row.numbers.owner
        return owner

    @admin.display(description=_("members"))
    def members(self, row: Any) -> int:
        members: int = row.numbers.members
        return members

    @admin.display(description=_("live grants"))
    def live_grants(self, row: Any) -> int | str:
        counts: list[tuple[Any, int]] = row.numbers.counts
        found = next((count for line, count in counts if line.record == "consent/grant"), 0)
        return capfirst(gettext("more than 1,000")) if found > row.numbers.most else found

    @admin.display(description=_("last call"))
    def last_call(self, row: Any) -> Any:
        return row.numbers.last_call

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A test app is nobody's business to verify: nobody applied for it."""
        return (*self.readonly_fields, *(("verified",) if obj is not None and obj.is_test else ()))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        app = self.get_object(request, object_id)
        context = {}
        if isinstance(app, App):
            switch = {AppStatus.ACTIVE: "suspend", AppStatus.SUSPENDED: "restore"}.get(AppStatus(app.status))
            may = self.has_change_permission(request, app)
            context = {**_page_context(app), "switch": switch if may else None}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **context})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        by: Any = request.user
        with app_actions.changing_app(app_pk=obj.pk, by=by):
            super().save_model(request, obj, form, change)
            if form.changed_data:
                record(app=obj, by=by, action="app.changed", fields=form.changed_data)

    @admin.action(description=_("Suspend: nothing that these apps send is answered"), permissions=["change"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[App]) -> HttpResponse | None:
        chosen = queryset.count()
        return self._switch(
            request,
            queryset,
            app_actions.suspend_app,
            action="suspend",
            title=ngettext("Suspend this app?", "Suspend these apps?", chosen),
            explanation=ngettext(
                "Nothing that it sends is answered until it is restored. Its members get a mail with your note.",
                "Nothing that they send is answered until they are restored. Their members get a mail with your note.",
                chosen,
            ),
            button=ngettext("Suspend the app", "Suspend the apps", chosen),
            danger=True,
            done=lambda n: ngettext("%(n)d app was suspended.", "%(n)d apps were suspended.", n),
        )

    @admin.action(description=_("Restore suspended apps"), permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[App]) -> HttpResponse | None:
        chosen = queryset.count()
        return self._switch(
            request,
            queryset,
            app_actions.restore_app,
            action="restore",
            title=ngettext("Restore this app?", "Restore these apps?", chosen),
            explanation=ngettext(
                "What it sends is answered again. Its members get a mail with your note.",
                "What they send is answered again. Their members get a mail with your note.",
                chosen,
            ),
            button=ngettext("Restore the app", "Restore the apps", chosen),
            done=lambda n: ngettext("%(n)d app was restored.", "%(n)d apps were restored.", n),
        )

    def _switch(
        self, request: HttpRequest, queryset: QuerySet[App], act: Any, *, done: Callable[[int], str], **page: Any
    ) -> HttpResponse | None:
        note = note_of(request)
        if note is None:
            return note_page(self, request, list(queryset), **page)
        changed = [app for app in queryset if act(app=app, by=request.user, note=note)]
        for app in changed:
            self.log_change(request, app, f"{page['action']}: {note}")
        text = done(len(changed)) % {"n": len(changed)}
        self.message_user(request, text, messages.SUCCESS if changed else messages.WARNING)
        return None


def _page_context(app: App) -> dict[str, Any]:
    """What stands on the page of an app below its form; of tokens and endpoints nothing that is a secret."""
    reasons = app.application.scope_reasons if app.application else {}
    return {
        "app": app,
        "now": timezone.now(),
        "numbers": app_queries.numbers_of([app.pk])[app.pk],
        "members": app.members.select_related("user").order_by("pk"),
        "tokens": app.tokens.defer("digest").order_by("-created_at"),
        "endpoints": app.webhook_endpoints.defer("secret", "previous_secret").order_by("url"),
        "scopes": [(scope, reasons.get(scope, "")) for scope in app.needed_scopes],
        "entries": [
            (entry, in_words(entry))
            for entry in app.audit_entries.select_related("member").order_by("-pk")[:_SHOWN_ENTRIES]
        ],
    }


@admin.register(AppAuditEntry)
class AppAuditAdmin(ReadOnly):
    """What was done to apps, by whom."""

    list_display = ("at", "app", "what", "member")
    list_filter = (value_filter("action", WORDS, action_in_words), "at")
    list_select_related = ("app", "member")
    search_fields = ("=app__app_id", "app__name", "=action", "=member__email")
    ordering = ("-id",)
    fields = ("at", "app", "what", "member", "facts")

    @admin.display(description=_("what was done"))
    def what(self, row: AppAuditEntry) -> str:
        return in_words(row)
