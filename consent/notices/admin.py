"""Webhooks and notices as staff see them: endpoints, whose secret is shown once, and what became of every delivery."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.staff import AboutPeople, ReadOnly
from accounts.staff_lists import value_filter
from accounts.staff_values import kind_in_words
from common.problems import InvalidRequest
from consent.event_types import WEBHOOK_TYPES
from consent.notices.models import DeliveryStatus, Notice, WebhookDelivery
from consent.notices.webhooks import replay
from developers.staff_secrets import ShownOnce
from developers.webhooks import actions as webhooks
from developers.webhooks.models import WebhookEndpoint
from developers.webhooks.policies import check_address
from developers.webhooks.words import address_refused


@admin.register(Notice)
class NoticeAdmin(AboutPeople, ReadOnly):
    list_display = ("at", "app", "sequence", "kind", "request")
    list_filter = (value_filter("kind", sorted(WEBHOOK_TYPES), kind_in_words), "at")
    identifiers = ("kind",)
    search_fields = ("=app__app_id", "=request__request_id")
    ordering = ("-id",)
    fields = ("app", "sequence", "kind", "request", "at", "facts")
    about = "request.user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("app", "request__user")


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]  # the stubs alone know a parameter
    """Where to, and of what. Nothing is sent in clear."""

    url = forms.URLField(label=_("Address"), max_length=500, assume_scheme="https")
    types = forms.MultipleChoiceField(
        label=_("Types"),
        choices=[(kind, kind) for kind in WEBHOOK_TYPES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("None ticked means every type."),
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_address(url)
        except InvalidRequest as refused:
            raise forms.ValidationError(address_refused(refused)) from None
        return url


@admin.register(WebhookEndpoint)
class EndpointAdmin(ShownOnce):
    """The secret is kept encrypted, so the page after making one is the only time that it can be read."""

    heading, choose_one = _("A new webhook secret"), _("Choose one endpoint.")
    form = EndpointForm
    list_display = ("url", "app", "type_names", "disabled_at", "reason", "created_at")
    list_filter = (("disabled_at", admin.EmptyFieldListFilter),)
    list_select_related = ("app",)
    search_fields = ("url", "app__name", "app__app_id")
    ordering = ("-created_at",)
    actions = ("renew", "disable", "enable")
    unread = ("secret", "previous_secret")
    identifiers = ("reason",)

    @admin.display(description=_("types"))
    def type_names(self, row: WebhookEndpoint) -> str:
        return ", ".join(map(kind_in_words, row.types)) or gettext("Every type")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return ("app", "url", "types")
        return ("app", "url", "type_names", "disabled_at", "reason", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("app")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        entered = form.cleaned_data
        by: Any = request.user
        row, secret = webhooks.add_endpoint(app=entered["app"], url=entered["url"], types=entered["types"], by=by)
        obj.__dict__.update(row.__dict__)
        obj.plain = secret

    @admin.action(description=_("Renew the secret: the old one signs for another 24 hours"), permissions=["end"])
    def renew(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> HttpResponse | None:
        chosen = self.one_of(request, queryset)
        if chosen is None:
            return None
        by: Any = request.user
        secret = webhooks.renew_secret(endpoint=chosen, by=by)
        self.log_change(request, chosen, [{"changed": {"fields": ["secret"]}}])
        return self.shown_once(request, chosen, secret)

    @admin.action(description=_("Disable: nothing is sent there"), permissions=["end"])
    def disable(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        by: Any = request.user
        reason = "staff"  # developers read it; who it was stands in the log
        self._report(
            request, [row for row in queryset if webhooks.disable_endpoint(endpoint=row, by=by, reason=reason)]
        )

    @admin.action(description=_("Enable: what waits is sent, too"), permissions=["end"])
    def enable(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        by: Any = request.user
        self._report(request, [row for row in queryset if webhooks.enable_endpoint(endpoint=row, by=by)])

    def _report(self, request: HttpRequest, changed: list[WebhookEndpoint]) -> None:
        for row in changed:
            self.log_change(request, row, [{"changed": {"fields": ["disabled_at"]}}])
        text = ngettext("%d endpoint was changed.", "%d endpoints were changed.", len(changed)) % len(changed)
        self.message_user(request, text, messages.SUCCESS if changed else messages.WARNING)


@admin.register(WebhookDelivery)
class DeliveryAdmin(AboutPeople, ReadOnly):
    """What became of every delivery; what was told is the notice's, and no value of anybody."""

    list_display = fields = (
        "notice", "endpoint", "status", "attempt", "status_code", "failure", "next_at", "finished_at",
    )  # fmt: skip
    list_filter = ("status",)
    filters_by_index = tuple(f"status__exact={status}" for status in DeliveryStatus)
    list_select_related = ("notice__request__user", "endpoint")
    search_fields = ("=endpoint__app__app_id", "endpoint__url")
    ordering = ("-id",)
    actions = ("replay",)
    unread = ("endpoint__secret", "endpoint__previous_secret")
    about = "notice.request.user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related(*self.list_select_related)

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consent.change_webhookdelivery")

    @admin.action(description=_("Send once more, under the same identifier"), permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        chosen = list(queryset)
        again = [row for row in chosen if row.endpoint.disabled_at is None]
        for row in again:
            replay(WebhookDelivery.objects.filter(pk=row.pk))
            self.log_change(request, row, [{"changed": {"fields": ["status"]}}])
        if again:
            text = ngettext("%d delivery will be sent again.", "%d deliveries will be sent again.", len(again))
            self.message_user(request, text % len(again), messages.SUCCESS)
        if len(again) < len(chosen):
            text = ngettext(
                "%d delivery was left alone: its endpoint is disabled.",
                "%d deliveries were left alone: their endpoints are disabled.",
                len(chosen) - len(again),
            )
            self.message_user(request, text % (len(chosen) - len(again)), messages.WARNING)
