"""The audit chain. No foreign keys, so that history outlives its subjects."""

from django.db import models
from django.utils.translation import gettext_lazy as _


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
