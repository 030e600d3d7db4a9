"""Who may ask: tokens to make, rotate and revoke; what else there is has pages of its own."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from accounts.staff_lists import value_filter
from common.forms import plain_line
from common.problems import Problem
from developers.applications.admin import ApplicationAdmin
from developers.apps import admin as app_admin
from developers.members.models import AppInvitation
from developers.request_log.models import LoggedRequest
from developers.staff_secrets import ShownOnce
from developers.tokens import actions as token_actions
from developers.tokens.format import DEFAULT_LIFETIME, LONGEST_LIFETIME
from developers.tokens.models import DeveloperToken, ManagementPermission, ManagementToken, Permission
from developers.tokens.queries import live_tokens

__all__ = ["ApplicationAdmin", "app_admin"]  # Django looks for all of them here


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]  # as above
    """What a new token may do. It is minted when the form fits, and shown on the page that answers."""

    permissions = forms.MultipleChoiceField(
        label=_("Permissions"),
        choices=Permission.choices,
        initial=Permission.values,
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.IntegerField(
        label=_("Expires after (days)"), min_value=1, max_value=LONGEST_LIFETIME.days, initial=DEFAULT_LIFETIME.days
    )

    def clean_label(self) -> str:
        return plain_line(self.cleaned_data["label"])


@admin.register(DeveloperToken)
class TokenAdmin(ShownOnce):
    """Only a token's digest is kept, so the page after making one is the only time it can be read."""

    heading, choose_one = _("A new developer token"), _("Choose one token to rotate.")
    list_display = (
        "__str__",
        "label",
        "app",
        "permission_names",
        "header_only",
        "expires_at",
        "revoked",
        "last_used_at",
    )
    list_filter = ("header_only", "expires_at")
    list_select_related = ("app",)
    search_fields = ("prefix", "label", "app__name", "app__app_id")
    ordering = ("-created_at",)
    actions = ("rotate", "revoke")

    @admin.display(description=_("permissions"))
    def permission_names(self, row: DeveloperToken) -> str:
        return row.permission_labels

    @admin.display(description=_("revoked"), ordering="revoked_at")
    def revoked(self, row: DeveloperToken) -> Any:
        """When; of one that was rotated, how long it still works."""
        if row.revoked_at is None or row.revoked_at <= timezone.now():
            return row.revoked_at
        until = date_format(timezone.localtime(row.revoked_at), "DATETIME_FORMAT")
        return gettext("Works until %(until)s") % {"until": until}

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return ("app", "label", "permissions", "header_only", "days")
        return (
            "app", "prefix", "label", "permission_names", "header_only", "expires_at", "revoked", "last_used_at",
            "created_by", "created_at",
        )  # fmt: skip

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **({"form": TokenForm} if obj is None else {}), **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        entered = form.cleaned_data
        row, token = token_actions.mint_token(
            app=entered["app"],
            label=entered["label"],
            by=request.user,  # type: ignore[arg-type]  # staff, whom the admin let in
            permissions=entered["permissions"],
            expires_at=timezone.now() + timedelta(days=entered["days"]),
            header_only=entered["header_only"],
        )
        obj.__dict__.update(row.__dict__)
        obj.plain = token

    @admin.action(description=_("Rotate: a new token now, the old one for another 24 hours"), permissions=["end"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[DeveloperToken]) -> HttpResponse | None:
        chosen = self.one_of(request, queryset)
        if chosen is None:
            return None
        try:
            row, token = token_actions.rotate_token(token=chosen, by=request.user)  # type: ignore[arg-type]  # as above
        except Problem as problem:
            self.message_user(request, problem.detail, messages.ERROR)
            return None
        self.log_change(request, chosen, [{"changed": {"fields": ["revoked_at"]}}])
        self.log_addition(request, row, [{"added": {}}])
        return self.shown_once(request, row, token)

    @admin.action(description=_("Revoke: the next call is refused"), permissions=["end"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[DeveloperToken]) -> None:
        by: Any = request.user  # as above
        ended = [token for token in queryset.select_related("app") if token_actions.revoke_token(token=token, by=by)]
        for token in ended:
            self.log_change(request, token, [{"changed": {"fields": ["revoked_at"]}}])
        text = ngettext("%d token was revoked.", "%d tokens were revoked.", len(ended)) % len(ended)
        self.message_user(request, text, messages.SUCCESS if ended else messages.WARNING)

    def shown_once(self, request: HttpRequest, row: DeveloperToken, secret: str, **more: Any) -> TemplateResponse:
        return super().shown_once(request, row, secret, live=live_tokens().filter(app=row.app).count())


@admin.register(LoggedRequest)
class RequestLogAdmin(ReadOnly):
    list_display = ("at", "app", "method", "route", "status", "code", "ms", "trace_id")
    list_filter = (value_filter("method", ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")),)
    list_select_related = ("app",)
    search_fields = ("=app__app_id", "=trace_id")
    searched_among_newest = ("=trace_id",)
    ordering = ("-id",)
    fields = ("at", "app", "method", "route", "status", "code", "ms", "trace_id")


@admin.register(ManagementToken)
class ManagementTokenAdmin(AboutPeople, ReadOnly):
    list_display = ("__str__", "label", "user", "may", "expires_at", "revoked_at", "last_used_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "expires_at")
    list_select_related = ("user",)
    search_fields = ("=prefix", "label", "=user__email", "=user__public_id")
    ordering = ("-id",)
    fields = ("prefix", "label", "user", "may", "expires_at", "revoked_at", "last_used_at", "created_at")
    unread = ("digest",)

    @admin.display(description=_("permissions"))
    def may(self, row: ManagementToken) -> str:
        labels = {
            gettext("Every app") if app_id == "*" else app_id: [str(ManagementPermission(name).label) for name in names]
            for app_id, names in row.permissions.items()
        }
        return "; ".join(f"{where}: {', '.join(found)}" for where, found in labels.items())


@admin.register(AppInvitation)
class InvitationAdmin(AboutPeople, ReadOnly):
    list_display = ("created_at", "app", "email", "person", "role", "invited_by", "expires_at", "outcome")
    list_filter = ("role", ("accepted_at", admin.EmptyFieldListFilter), ("withdrawn_at", admin.EmptyFieldListFilter))
    list_select_related = ("app", "invited_by", "person")
    search_fields = ("=app__app_id", "app__name", "=email", "=invited_by__email")
    ordering = ("-id",)
    fields = (
        "app", "email", "person", "role", "hands_over", "invited_by", "created_at", "expires_at",
        "accepted_at", "accepted_by", "withdrawn_at",
    )  # fmt: skip
    unread = ("digest",)
    about = "invited_by"

    @admin.display(description=_("outcome"))
    def outcome(self, row: AppInvitation) -> str | None:
        """What came of it, if anything did; when, its own page says."""
        return gettext("Accepted") if row.accepted_at else gettext("Withdrawn") if row.withdrawn_at else None
