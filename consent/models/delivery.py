"""What is on its way out: webhooks to apps, mail to people. The rows are the queue."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class DeliveryStatus(models.TextChoices):
    """Where a delivery stands."""

    WAITING = "waiting", _("Waiting")
    DELIVERED = "delivered", _("Delivered")
    GIVEN_UP = "given_up", _("Given up")


class WebhookDelivery(models.Model):
    """One notice on its way to one endpoint, written with the notice and tried until it arrives or three days pass.

    `next_at` is when it is due, and while somebody tries it, when their lease ends.
    """

    endpoint = models.ForeignKey("developers.WebhookEndpoint", on_delete=models.CASCADE, related_name="deliveries")
    notice = models.ForeignKey("consent.Notice", on_delete=models.PROTECT, related_name="deliveries")
    status = models.CharField(max_length=16, choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    status_code = models.PositiveSmallIntegerField(null=True)
    failure = models.CharField(max_length=120, blank=True)
    trace_id = models.CharField(max_length=64, blank=True)  # of the request or task that caused it
    next_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "webhook_deliveries"
        verbose_name = _("webhook delivery")
        verbose_name_plural = _("webhook deliveries")
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "notice"], name="webhook_delivery_once"),
            models.CheckConstraint(
                condition=models.Q(status="waiting", finished_at__isnull=True)
                | models.Q(status__in=["delivered", "given_up"], finished_at__isnull=False),
                name="webhook_delivery_finish_together",
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], condition=models.Q(status="waiting"), name="webhook_delivery_due"),
        ]


class MailKind(models.TextChoices):
    """What a person is written about."""

    REQUEST = "request"
    ENDING = "ending"


class Mail(models.Model):
    """One mail to a person about one request, written once however often the task runs."""

    request = models.ForeignKey("consent.ConsentRequest", on_delete=models.PROTECT, related_name="mails")
    kind = models.CharField(max_length=16, choices=MailKind)
    sent_at = models.DateTimeField()

    class Meta:
        db_table = "consent_mails"
        constraints = [
            models.UniqueConstraint(fields=["request", "kind"], name="consent_mail_once"),
            models.CheckConstraint(condition=models.Q(kind__in=MailKind.values), name="consent_mail_kind"),
        ]
