"""What an app's calls were answered: never a token, a value or a query."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class LoggedRequest(models.Model):
    """One call with a token of the app; kept 30 days. `route` is the address with placeholders, `ms` milliseconds."""

    app = models.ForeignKey(  # the indexes below begin with it
        "developers.App", on_delete=models.CASCADE, related_name="logged_requests", db_index=False
    )
    at = models.DateTimeField(_("at"))
    method = models.CharField(_("method"), max_length=8)
    route = models.CharField(_("path"), max_length=120)
    status = models.PositiveSmallIntegerField(_("status"))
    code = models.CharField(_("code"), max_length=48, blank=True)
    trace_id = models.CharField(_("request ID"), max_length=64)
    ms = models.PositiveIntegerField(_("milliseconds"))

    class Meta:
        db_table = "request_log"
        verbose_name = _("logged request")
        verbose_name_plural = _("request log")
        indexes = [
            models.Index(fields=["app", "-id"], name="request_log_newest"),
            models.Index(fields=["at"], name="request_log_age"),
            # what the overview adds up, so that it reads the index alone
            models.Index(fields=["app", "at", "status", "code", "ms"], name="request_log_figures"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.route}"
