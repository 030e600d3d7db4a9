"""The audit chain and the receipts. No foreign keys in a chain, so that history outlives its subjects."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.identifiers import new_identifier


def new_pending_id() -> str:
    return new_identifier("pnd")


class AuditEntry(models.Model):
    """One link of one chain; `chain` is `person:<user_id>` or `app:<app_id>`, hashes are base64url SHA-256."""

    chain = models.CharField(_("chain"), max_length=80)
    sequence = models.PositiveIntegerField(_("number"))
    prev_hash = models.CharField(max_length=43, blank=True)
    entry_hash = models.CharField(max_length=43)
    kind = models.CharField(_("what"), max_length=40)
    actor = models.CharField(_("by"), max_length=80)
    at = models.DateTimeField(_("when"))
    facts = models.JSONField(_("facts"))

    class Meta:
        db_table = "consent_audit"
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        constraints = [models.UniqueConstraint(fields=["chain", "sequence"], name="consent_audit_sequence")]


class AuditHead(models.Model):
    """The newest link of a chain; its row lock orders the appends."""

    chain = models.CharField(max_length=80, primary_key=True)
    sequence = models.PositiveIntegerField(default=0)
    entry_hash = models.CharField(max_length=43, blank=True)

    class Meta:
        db_table = "consent_audit_heads"


class AuditPending(models.Model):
    """An entry of something that protects a person and that took place while its chain could not be written.

    The next append to the chain writes it first, with its receipt, whose claims are kept as they were then.
    """

    pending_id = models.CharField(max_length=64, unique=True, default=new_pending_id)
    chain = models.CharField(max_length=80)
    kind = models.CharField(max_length=40)
    actor = models.CharField(max_length=80)
    at = models.DateTimeField()
    facts = models.JSONField()
    request = models.ForeignKey(
        "consent.ConsentRequest", on_delete=models.PROTECT, null=True, related_name="pending_entries"
    )
    receipt = models.JSONField(null=True)

    class Meta:
        db_table = "audit_pending"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(receipt__isnull=True) | models.Q(request__isnull=False),
                name="audit_pending_receipt_of_request",
            ),
        ]
        indexes = [models.Index(fields=["chain", "id"], name="audit_pending_of_chain")]


class AuditCheckpoint(models.Model):
    """A signed statement of where all chains stood."""

    root = models.CharField(max_length=43)
    head_count = models.PositiveIntegerField()
    jws = models.TextField()
    at = models.DateTimeField()

    class Meta:
        db_table = "consent_audit_checkpoints"


class CheckpointHead(models.Model):
    """A chain that moved since the checkpoint before; together with the earlier ones, all the leaves of the root."""

    checkpoint = models.ForeignKey(AuditCheckpoint, on_delete=models.PROTECT, related_name="moved")
    chain = models.CharField(max_length=80)
    sequence = models.PositiveIntegerField()
    entry_hash = models.CharField(max_length=43)

    class Meta:
        db_table = "consent_checkpoint_heads"
        constraints = [models.UniqueConstraint(fields=["checkpoint", "chain"], name="consent_checkpoint_head_once")]


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
