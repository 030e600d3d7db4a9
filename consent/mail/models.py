"""Mail to people, each written once."""

from django.db import models


class MailKind(models.TextChoices):
    """What a person is written about."""

    REQUEST = "request"
    ENDING = "ending"


class Mail(models.Model):
    """That a person was written to about one request, once however often the task runs."""

    request = models.ForeignKey(
        "consent.ConsentRequest", on_delete=models.PROTECT, related_name="mails", db_index=False
    )
    kind = models.CharField(max_length=16, choices=MailKind)
    sent_at = models.DateTimeField()

    class Meta:
        db_table = "consent_mails"
        constraints = [
            models.UniqueConstraint(fields=["request", "kind"], name="consent_mail_once"),
            models.CheckConstraint(condition=models.Q(kind__in=MailKind.values), name="consent_mail_kind"),
        ]
