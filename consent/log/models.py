"""The log: its leaves, its full tiles, where it stands, and every checkpoint that was signed."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.formats import date_format
from django.utils.timezone import localtime

from common.constraints import check
from consent.ledger.models import AuditEntry


class LogState(models.Model):
    """Where the log stands: one row, whose lock lets one sequencer at a time append.

    `frontier` is the right edge of the tree, as merkle.Frontier writes it. `epoch` is empty until a restore without
    a mirror begins a tree of its own. `signed` counts the checkpoints that were kept, those of ended trees too.
    """

    epoch = models.CharField(max_length=32, blank=True, default="")
    size = models.PositiveBigIntegerField(default=0)
    frontier = models.BinaryField(default=b"")
    signed = models.PositiveBigIntegerField(default=0, db_default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "consent_log_state"
        constraints = [check("consent_log_state_is_one", Q(pk=1))]


class LogLeaf(models.Model):
    """A leaf: the raw bytes of an entry's hash. Its entry is null where a restore lost the row."""

    log_index = models.PositiveBigIntegerField(primary_key=True)
    entry = models.OneToOneField(
        AuditEntry, on_delete=models.PROTECT, null=True, db_constraint=False, related_name="leaf"
    )
    entry_hash = models.BinaryField(max_length=32)

    class Meta:
        db_table = "consent_log_leaves"
        indexes = [models.Index(fields=["entry_hash"], name="consent_log_leaf_by_hash")]  # anybody asks for a proof


class LogTile(models.Model):
    """A full tile of tlog-tiles: 256 hashes, 8,192 bytes."""

    level = models.PositiveSmallIntegerField()
    number = models.PositiveBigIntegerField()
    hashes = models.BinaryField(max_length=8192)

    class Meta:
        db_table = "consent_log_tiles"
        constraints = [models.UniqueConstraint(fields=["level", "number"], name="consent_log_tile_once")]


class AuditCheckpoint(models.Model):
    """A signed statement of the log's size and root; every one is kept.

    `note` is the text that was signed, with the log's own signatures; `cosignatures` are the lines that witnesses
    added since. `cosigned_at` is when there were as many as the deployment asks for. `number` counts from 1 without
    gaps, so that one which is gone is missed.
    """

    number = models.PositiveBigIntegerField(null=True)  # null: kept before they were counted
    epoch = models.CharField(max_length=32, blank=True, default="")
    size = models.PositiveBigIntegerField()
    root = models.CharField(max_length=43)
    note = models.TextField()
    cosignatures = models.TextField(blank=True, default="")
    at = models.DateTimeField()
    cosigned_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "consent_audit_checkpoints"
        constraints = [
            models.UniqueConstraint(fields=["epoch", "size"], name="consent_checkpoint_once"),
            check("consent_checkpoint_cosigned_later", Q(cosigned_at=None) | Q(cosigned_at__gte=F("at"))),
        ]
        indexes = [
            models.Index(
                fields=["epoch", "size"], condition=Q(cosigned_at__isnull=False), name="consent_checkpoint_cosigned"
            )
        ]

    def __str__(self) -> str:
        at = date_format(localtime(self.at), "DATETIME_FORMAT")
        return at if self.number is None else f"#{self.number}, {at}"

    @property
    def full_note(self) -> str:
        return self.note + self.cosignatures
