"""The three optional financial records. Access tokens, link tokens and signals are sealed (common.encryption)."""

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import History, ItemStatus, LinkStatus, RefreshStatus
from common.constraints import check, value_in
from common.identifiers import new_identifier


def new_item_id() -> str:
    return new_identifier("itm")


def new_link_id() -> str:
    return new_identifier("lnk")


class Item(models.Model):
    """One institution that a person linked. `cursor` is how far its transactions were taken in; empty, all come anew.

    `upstream_id` is the aggregator's name for it; `signals` is what the transactions came to, as sealed JSON.
    `changed_at` is when the aggregator last said that there is more; `ends_at` when the institution ends the access.
    """

    item_id = models.CharField(_("item ID"), max_length=64, unique=True, editable=False, default=new_item_id)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="aggregator_items")
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent", on_delete=models.PROTECT, related_name="aggregator_items"
    )
    upstream_id = models.CharField(max_length=128, unique=True)
    institution = models.CharField(_("institution"), max_length=160, blank=True)
    access_token = models.TextField(null=True)  # noqa: DJ001  # null once removed
    cursor = models.TextField(blank=True)
    signals = models.TextField(null=True)  # noqa: DJ001  # null until the first refresh
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in ItemStatus], default=ItemStatus.ACTIVE
    )
    history = models.CharField(
        max_length=16,
        choices=[(s.value, s.value) for s in History],
        default=History.NOT_READY,
        db_default=History.COMPLETE,  # of what the release before linked, which took what it found for everything
    )
    changed_at = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(_("until"), null=True)
    created_at = models.DateTimeField(_("linked"), auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "aggregator_items"
        ordering = ["-id"]
        verbose_name = _("linked institution")
        verbose_name_plural = _("linked institutions")
        constraints = [
            value_in("aggregator_item_status", "status", ItemStatus),
            value_in("aggregator_item_history", "history", History),
            check(
                "aggregator_item_token_together",
                Q(status="removed", access_token__isnull=True, signals__isnull=True)
                | (~Q(status="removed") & Q(access_token__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return self.institution or self.item_id


class LinkSession(models.Model):
    """One visit to the aggregator's own page. `link_token` is sealed and goes when the visit ends."""

    link_id = models.CharField(_("link ID"), max_length=64, unique=True, editable=False, default=new_link_id)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="aggregator_link_sessions")
    consent = models.ForeignKey(
        "agents_proxy.ProcessingConsent", on_delete=models.PROTECT, related_name="aggregator_link_sessions"
    )
    state_digest = models.CharField(max_length=64, unique=True)
    link_token = models.TextField(null=True)  # noqa: DJ001  # null once ended
    item = models.ForeignKey(Item, on_delete=models.CASCADE, null=True, related_name="link_sessions")
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in LinkStatus], default=LinkStatus.OPEN
    )
    expires_at = models.DateTimeField(_("until"))
    finished_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "aggregator_link_sessions"
        ordering = ["-id"]
        constraints = [
            value_in("aggregator_link_status", "status", LinkStatus),
            check(
                "aggregator_link_finish_together",
                Q(status="open", finished_at__isnull=True, link_token__isnull=False)
                | (~Q(status="open") & Q(finished_at__isnull=False, link_token__isnull=True)),
            ),
            check(
                "aggregator_link_item_together",
                Q(status="completed", item__isnull=False) | (~Q(status="completed") & Q(item__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        at = date_format(localtime(self.created_at), "DATETIME_FORMAT")
        return f"{self.user}, {at}"


class RefreshRun(models.Model):
    """One pass over what changed at an institution; how many transactions, and how it ended."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="refresh_runs")
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in RefreshStatus], default=RefreshStatus.QUEUED
    )
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    pages = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    modified = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)
    error_code = models.CharField(max_length=48, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "aggregator_refresh_runs"
        ordering = ["-id"]
        verbose_name = _("refresh")
        verbose_name_plural = _("refreshes")
        constraints = [
            value_in("aggregator_refresh_status", "status", RefreshStatus),
            UniqueConstraint(
                fields=["item"], condition=Q(status__in=["queued", "running"]), name="aggregator_refresh_one_at_a_time"
            ),
            check(
                "aggregator_refresh_times_together",
                Q(status="queued", lease_until__isnull=True, finished_at__isnull=True)
                | Q(status="running", lease_until__isnull=False, started_at__isnull=False, finished_at__isnull=True)
                | Q(status__in=["completed", "failed"], lease_until__isnull=True, finished_at__isnull=False),
            ),
            check(
                "aggregator_refresh_error_together",
                (Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
            ),
        ]

    def __str__(self) -> str:
        at = date_format(localtime(self.created_at), "DATETIME_FORMAT")
        return f"{self.item}, {at}"
