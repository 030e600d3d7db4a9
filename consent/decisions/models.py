"""What a person decides about an app as such: to block it, to report it to staff."""

from django.db import models
from django.utils.translation import gettext_lazy as _


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
