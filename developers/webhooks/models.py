"""Where an app wants to be told."""

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import check


class WebhookEndpoint(models.Model):
    """Where an app wants to be told. The secret is encrypted at rest; `types` empty means every type."""

    app = models.ForeignKey(
        "developers.App",
        on_delete=models.CASCADE,
        related_name="webhook_endpoints",
        verbose_name=_("app"),
        db_index=False,
    )
    url = models.URLField(_("address"), max_length=500)
    secret = models.TextField()
    previous_secret = models.TextField(blank=True)  # encrypted, signs too until `previous_until`
    previous_until = models.DateTimeField(_("old secret signs until"), null=True, blank=True)
    types = models.JSONField(_("types"), default=list, blank=True)
    disabled_at = models.DateTimeField(_("disabled"), null=True, blank=True)
    reason = models.CharField(_("why disabled"), max_length=160, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "webhook_endpoints"
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        constraints = [
            UniqueConstraint(fields=["app", "url"], name="webhook_endpoint_once"),
            check(
                "webhook_endpoint_disabled_together",
                Q(disabled_at__isnull=True, reason="") | (Q(disabled_at__isnull=False) & ~Q(reason="")),
            ),
            check(
                "webhook_endpoint_previous_together",
                Q(previous_secret="", previous_until__isnull=True)
                | (~Q(previous_secret="") & Q(previous_until__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return self.url
