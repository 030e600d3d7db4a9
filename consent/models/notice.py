"""What apps are told: the one sequence that polling, waiting, events and webhooks read."""

from django.db import models


class NoticeCounter(models.Model):
    """The newest sequence of an app; its row lock keeps the sequence without gaps."""

    app = models.OneToOneField("developers.App", on_delete=models.PROTECT, primary_key=True, related_name="+")
    sequence = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "consent_notice_counters"


class Notice(models.Model):
    """One event for one app; `facts` is the status body as it was at that moment."""

    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="notices")
    request = models.ForeignKey("consent.ConsentRequest", on_delete=models.PROTECT, related_name="notices")
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=32)
    facts = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        db_table = "consent_notices"
        constraints = [models.UniqueConstraint(fields=["app", "sequence"], name="consent_notice_sequence")]
        indexes = [models.Index(fields=["request", "-sequence"], name="consent_notice_newest")]
