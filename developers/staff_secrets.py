"""Staff's pages of what an app gets a secret with: that is shown once, on the page after it was made."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from accounts.staff import NeverDeleted
from common.text import StrOrPromise
from developers.apps.models import App, AppStatus


class ShownOnce(NeverDeleted):
    """`save_model` makes the row and leaves the secret in its `plain`, which no column takes."""

    heading: StrOrPromise
    choose_one: StrOrPromise

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_end_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(f"developers.change_{self.opts.model_name}")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """One way to save: whichever button it was, the secret has to be read on the next page."""
        buttons = {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().add_view(request, form_url, {**(extra_context or {}), **buttons})

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "app":
            kwargs["queryset"] = App.objects.exclude(status=AppStatus.CLOSED).order_by("name")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return self.shown_once(request, obj, obj.plain)

    def one_of(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """The row that was chosen; None where it is not one, which the page then says."""
        chosen = list(queryset[:2])
        if len(chosen) == 1:
            return chosen[0]
        self.message_user(request, str(self.choose_one), messages.ERROR)
        return None

    def shown_once(self, request: HttpRequest, row: Any, secret: str, **more: Any) -> TemplateResponse:
        shown = {"title": self.heading, "row": row, "secret": secret, "opts": self.opts, **more}
        template = f"admin/developers/{self.opts.model_name}/shown_once.html"
        return TemplateResponse(request, template, {**self.admin_site.each_context(request), **shown})
