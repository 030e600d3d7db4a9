"""Who may ask: applications to decide, apps to suspend and restore, tokens to make, rotate and revoke."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import NeverDeleted, ReadOnly
from common.problems import Problem
from common.text import is_plain
from developers import actions
from developers.models import App, AppMember, AppStatus, DeveloperApplication, DeveloperToken, Permission
from developers.queries import live_tokens
from developers.tokens import DEFAULT_LIFETIME, LONGEST_LIFETIME


@admin.register(DeveloperApplication)
class ApplicationAdmin(ReadOnly):
    """The enrolment queue. An application is decided once; approving it makes the app."""

    list_display = ("name", "legal_name", "applicant", "status", "created_at", "reviewed_at")
    list_filter = ("status",)
    list_select_related = ("applicant",)
    search_fields = ("name", "legal_name", "applicant__email")
    ordering = ("-created_at",)
    actions = ("approve_verified", "approve", "reject")
    fields = (
        "name", "legal_name", "website", "privacy_policy", "contact_email", "use_case", "needed_scopes", "applicant",
        "status", "reviewer", "reviewed_at", "note", "created_at",
    )  # fmt: skip

    @admin.action(description=_("Approve: the legal name was checked"), permissions=["decide"])
    def approve_verified(self, request: HttpRequest, queryset: QuerySet[DeveloperApplication]) -> None:
        self._approve(request, queryset, verified=True)

    @admin.action(description=_("Approve without checking the legal name"), permissions=["decide"])
    def approve(self, request: HttpRequest, queryset: QuerySet[DeveloperApplication]) -> None:
        self._approve(request, queryset, verified=False)

    @admin.action(description=_("Reject"), permissions=["decide"])
    def reject(self, request: HttpRequest, queryset: QuerySet[DeveloperApplication]) -> None:
        def refuse(application: DeveloperApplication) -> None:
            actions.reject_application(application=application, by=request.user)  # type: ignore[arg-type]  # staff

        _each(self, request, queryset, refuse)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("developers.change_developerapplication")

    def _approve(self, request: HttpRequest, queryset: QuerySet[DeveloperApplication], *, verified: bool) -> None:
        def take(application: DeveloperApplication) -> None:
            by: Any = request.user
            actions.approve_application(application=application, by=by, verified=verified)

        _each(self, request, queryset, take)


class AppForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_plain(name):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return name


class MemberInline(admin.TabularInline):  # type: ignore[type-arg]  # as above
    model = AppMember
    fields = readonly_fields = ("user", "role", "created_at")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(App)
class AppAdmin(NeverDeleted):
    """An app comes from an approved application. To change what people see of it cancels what waits for them."""

    form = AppForm
    list_display = ("name", "app_id", "status", "verified", "owner", "created_at")
    list_filter = ("status", "verified")
    list_select_related = ("application__applicant",)
    search_fields = ("name", "app_id", "application__legal_name")
    ordering = ("-created_at",)
    actions = ("suspend", "restore")
    inlines = (MemberInline,)
    fields = (
        "app_id", "name", "status", "verified", "origins", "request_budget", "application", "created_at", "updated_at",
    )  # fmt: skip
    readonly_fields = ("app_id", "status", "application", "created_at", "updated_at")

    @admin.display(description=_("legal name"))
    def owner(self, row: App) -> str:
        return row.application.legal_name

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        by: Any = request.user
        with actions.changing_app(app_pk=obj.pk, by=by):
            super().save_model(request, obj, form, change)

    @admin.action(description=_("Suspend: nothing that these apps send is answered"), permissions=["change"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[App]) -> None:
        changed = [app for app in queryset if actions.suspend_app(app=app)]
        self._tell(request, changed, AppStatus.SUSPENDED)

    @admin.action(description=_("Restore suspended apps"), permissions=["change"])
    def restore(self, request: HttpRequest, queryset: QuerySet[App]) -> None:
        changed = [app for app in queryset if actions.restore_app(app=app)]
        self._tell(request, changed, AppStatus.ACTIVE)

    def _tell(self, request: HttpRequest, changed: list[App], status: AppStatus) -> None:
        for app in changed:
            self.log_change(request, app, [{"changed": {"fields": ["status"]}}])
        text = ngettext("%(count)d app is now %(status)s.", "%(count)d apps are now %(status)s.", len(changed))
        values = {"count": len(changed), "status": status.label.lower()}
        self.message_user(request, text % values, messages.SUCCESS if changed else messages.WARNING)


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]  # as above
    """What a new token may do. It is minted when the form fits, and shown on the page that answers."""

    permissions = forms.MultipleChoiceField(
        label=_("Permissions"),
        choices=Permission.choices,
        initial=Permission.values,
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.IntegerField(
        label=_("Expires after days"),
        min_value=1,
        max_value=LONGEST_LIFETIME.days,
        initial=DEFAULT_LIFETIME.days,
    )

    def clean_label(self) -> str:
        label: str = self.cleaned_data["label"]
        if not is_plain(label):
            raise forms.ValidationError(gettext("Use one line of plain text without invisible characters."))
        return label


@admin.register(DeveloperToken)
class TokenAdmin(NeverDeleted):
    """Only a token's digest is kept, so the page after making one is the only time it can be read."""

    list_display = (
        "__str__",
        "label",
        "app",
        "permission_names",
        "header_only",
        "expires_at",
        "revoked_at",
        "last_used_at",
    )
    list_filter = ("header_only", "expires_at")
    list_select_related = ("app",)
    search_fields = ("prefix", "label", "app__name", "app__app_id")
    ordering = ("-created_at",)
    actions = ("rotate", "revoke")

    @admin.display(description=_("permissions"))
    def permission_names(self, row: DeveloperToken) -> str:
        return ", ".join(row.permissions)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("developers.change_developertoken")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return ("app", "label", "permissions", "header_only", "days")
        return (
            "app", "prefix", "label", "permission_names", "header_only", "expires_at", "revoked_at", "last_used_at",
            "created_by", "created_at",
        )  # fmt: skip

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """One way to save: whichever button it was, the token has to be read on the next page."""
        buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**(extra_context or {}), **buttons})

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **({"form": TokenForm} if obj is None else {}), **kwargs)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "app":
            kwargs["queryset"] = App.objects.exclude(status=AppStatus.CLOSED).order_by("name")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        asked = form.cleaned_data
        row, token = actions.mint_token(
            app=asked["app"],
            label=asked["label"],
            by=request.user,  # type: ignore[arg-type]  # staff, whom the admin let in
            permissions=asked["permissions"],
            expires_at=timezone.now() + timedelta(days=asked["days"]),
            header_only=asked["header_only"],
        )
        obj.__dict__.update(row.__dict__)
        obj.plain = token  # for `response_add` alone; no column takes it

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return self._shown_once(request, obj, obj.plain)

    @admin.action(description=_("Rotate: a new token now, the old one for another 24 hours"), permissions=["end"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[DeveloperToken]) -> HttpResponse | None:
        chosen = list(queryset[:2])
        if len(chosen) != 1:
            self.message_user(request, _("Choose one token to rotate."), messages.ERROR)
            return None
        try:
            row, token = actions.rotate_token(token=chosen[0], by=request.user)  # type: ignore[arg-type]  # as above
        except Problem as problem:
            self.message_user(request, problem.detail, messages.ERROR)
            return None
        self.log_change(request, chosen[0], [{"changed": {"fields": ["revoked_at"]}}])
        self.log_addition(request, row, [{"added": {}}])
        return self._shown_once(request, row, token)

    @admin.action(description=_("Revoke: the next call is refused"), permissions=["end"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[DeveloperToken]) -> None:
        ended = [token for token in queryset if actions.revoke_token(token=token)]
        for token in ended:
            self.log_change(request, token, [{"changed": {"fields": ["revoked_at"]}}])
        text = ngettext("%d token was revoked.", "%d tokens were revoked.", len(ended)) % len(ended)
        self.message_user(request, text, messages.SUCCESS if ended else messages.WARNING)

    def _shown_once(self, request: HttpRequest, row: DeveloperToken, token: str) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("A new developer token"),
            "row": row,
            "token": token,
            "live": live_tokens().filter(app=row.app).count(),
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/developers/developertoken/shown_once.html", context)


def _each(page: ReadOnly, request: HttpRequest, queryset: QuerySet[DeveloperApplication], decide: Any) -> None:
    """Decide each application; a refusal is told and stops none of the others."""
    decided = 0
    for application in queryset:
        try:
            decide(application)
        except Problem as problem:
            page.message_user(request, f"{application.name}: {problem.detail}", messages.ERROR)
            continue
        page.log_change(request, application, [{"changed": {"fields": ["status"]}}])
        decided += 1
    if decided:
        text = ngettext("%d application was decided.", "%d applications were decided.", decided) % decided
        page.message_user(request, text, messages.SUCCESS)
