"""Who asked what somebody could share, who keeps guessing, and who is not welcome."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Discovery(models.Model):
    """How often an app looked at what a person could share, a row a day."""

    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="discoveries")
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="discoveries")
    day = models.DateField()
    count = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "discovery_log"
        verbose_name = _("discovery")
        verbose_name_plural = _("discoveries")
        constraints = [models.UniqueConstraint(fields=["app", "user", "day"], name="discovery_once_a_day")]
        indexes = [models.Index(fields=["user", "-day"], name="discovery_of_user")]


class DiscoveryMiss(models.Model):
    """How many unknown people an app, or one of its callers where it hints at them, asked about in a minute."""

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="discovery_misses")
    hint = models.CharField(max_length=4, default="", blank=True)  # some bits of a keyed hash; empty: the app's own
    minute = models.DateTimeField()
    count = models.PositiveIntegerField(default=1)

    class Meta:
        db_table = "discovery_misses"
        constraints = [models.UniqueConstraint(fields=["app", "hint", "minute"], name="discovery_miss_once_a_minute")]


class BlockedApp(models.Model):
    """An app that a person does not want to hear from; it sees `invalid_scope`."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="blocked_apps")
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="blocked_by")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "blocked_apps"
        constraints = [models.UniqueConstraint(fields=["user", "app"], name="blocked_app_once")]


class AppReport(models.Model):
    """What a person told staff about an app."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="app_reports")
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="reports")
    text = models.TextField(_("report"), max_length=2000)
    handled_at = models.DateTimeField(_("handled"), null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "app_reports"
        verbose_name = _("report about an app")
        verbose_name_plural = _("reports about apps")
