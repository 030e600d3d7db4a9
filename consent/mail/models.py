"""Mail to people, each written once."""

from django.db import models
from django.db.models import UniqueConstraint

from common.constraints import value_in


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
            UniqueConstraint(fields=["request", "kind"], name="consent_mail_once"),
            value_in("consent_mail_kind", "kind", MailKind),
        ]
