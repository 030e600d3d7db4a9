"""What apps are told: the one sequence that polling, waiting, events and webhooks read, and deliveries under way."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from accounts.staff_values import kind_in_words
from common.constraints import check


class DeliveryStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    DELIVERED = "delivered", _("Delivered")
    GIVEN_UP = "given_up", _("Given up")


class WebhookDelivery(models.Model):
    """One notice on its way to one endpoint, written with the notice and tried until it arrives or three days pass.

    `next_at` is when it is due, and while somebody tries it, when their lease ends.
    """

    endpoint = models.ForeignKey(
        "developers.WebhookEndpoint", on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    notice = models.ForeignKey("consent.Notice", on_delete=models.PROTECT, related_name="deliveries")
    status = models.CharField(max_length=16, choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    status_code = models.PositiveSmallIntegerField(null=True)
    ms = models.PositiveIntegerField(null=True)  # until the last attempt was answered; null without an answer
    tried_at = models.DateTimeField(null=True)  # the last attempt
    failure = models.CharField(max_length=120, blank=True)
    trace_id = models.CharField(max_length=64, blank=True)  # of the request or task that caused it
    next_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "webhook_deliveries"
        verbose_name = _("webhook delivery")
        verbose_name_plural = _("webhook deliveries")
        constraints = [
            UniqueConstraint(fields=["endpoint", "notice"], name="webhook_delivery_once"),
            check(
                "webhook_delivery_finish_together",
                Q(status="waiting", finished_at__isnull=True)
                | Q(status__in=["delivered", "given_up"], finished_at__isnull=False),
            ),
        ]
        indexes = [
            Index(fields=["next_at"], condition=Q(status="waiting"), name="webhook_delivery_due"),
            Index(fields=["endpoint", "next_at"], condition=Q(finished_at=None), name="webhook_delivery_own_due"),
            Index(fields=["status", "id"], name="webhook_delivery_status"),
            Index(fields=["finished_at"], condition=Q(finished_at__isnull=False), name="webhook_delivery_age"),
        ]

    def __str__(self) -> str:
        return str(self.notice)


class NoticeCounter(models.Model):
    """The newest sequence of an app; its row lock keeps the sequence without gaps."""

    app = models.OneToOneField("developers.App", on_delete=models.PROTECT, primary_key=True, related_name="+")
    sequence = models.PositiveIntegerField(default=0)
    # up to this one notices may be gone, since they were kept long enough; above it none is
    forgotten = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "consent_notice_counters"


class Notice(models.Model):
    """One event for one app; `facts` is the status body as it was at that moment.

    Without a request it is of processing (developers/app_events.py), and `facts` names what it is about.
    """

    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="notices", db_index=False)
    request = models.ForeignKey(
        "consent.ConsentRequest", on_delete=models.PROTECT, null=True, related_name="notices", db_index=False
    )
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=32)
    facts = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        db_table = "consent_notices"
        constraints = [UniqueConstraint(fields=["app", "sequence"], name="consent_notice_sequence")]
        indexes = [Index(fields=["request", "-sequence"], name="consent_notice_newest")]

    def __str__(self) -> str:
        return f"{kind_in_words(self.kind)} #{self.sequence}"
