"""Signed receipts."""

from django.db import models


class Receipt(models.Model):
    """Proof of one event, as the person gets it (`jws`) and as the app gets it (`app_jws`, without their chain)."""

    receipt_id = models.CharField(max_length=64, unique=True)
    request = models.ForeignKey("consent.ConsentRequest", on_delete=models.PROTECT, related_name="receipts")
    event = models.CharField(max_length=16)
    jws = models.TextField()
    app_jws = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "consent_receipts"
        constraints = [models.UniqueConstraint(fields=["request", "event"], name="consent_receipt_once")]
        indexes = [models.Index(fields=["request", "-id"], name="consent_receipt_newest")]
