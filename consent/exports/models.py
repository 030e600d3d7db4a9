"""What was sealed for a grant, and each read of it."""

from django.db import models
from django.db.models import Index, Q, UniqueConstraint
from django.utils.formats import date_format
from django.utils.timezone import localtime

from common.constraints import check
from consent.grants.models import Grant


class Export(models.Model):
    """One sealed revision of an approved slice; its ciphertext goes in the transaction that ends the grant."""

    export_id = models.CharField(max_length=64)
    grant = models.ForeignKey(Grant, on_delete=models.PROTECT, related_name="exports", db_index=False)
    revision = models.PositiveIntegerField()
    ciphertext = models.TextField(null=True)  # noqa: DJ001  # null once ended
    size_bytes = models.PositiveIntegerField()
    connector_key_id = models.CharField(max_length=128)
    sources = models.JSONField()
    sealed_at = models.DateTimeField()
    # what the person's vault signed of it, by which key; null once the person was erased
    approval = models.TextField(null=True)  # noqa: DJ001  # as above
    owner_key = models.JSONField(null=True)
    owner_key_reset = models.BooleanField(default=False, db_default=False)
    approved_attributes = models.JSONField(null=True)  # where a newer revision holds fewer than the grant

    class Meta:
        db_table = "consent_exports"
        constraints = [
            UniqueConstraint(fields=["export_id"], name="consent_export_id_once"),
            UniqueConstraint(fields=["grant", "revision"], name="consent_export_revision_once"),
            check("consent_export_revision_from_one", Q(revision__gte=1)),
            check(
                "consent_export_approval_together",
                Q(approval__isnull=True, owner_key__isnull=True, owner_key_reset=False)
                | Q(approval__isnull=False, owner_key__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.export_id


class ForgottenReads(models.Model):
    """The mark of forgetting: reads chained by entries up to this key have been deleted by age. One row."""

    entry = models.BigIntegerField(default=0)

    class Meta:
        db_table = "consent_reads_forgotten"
        constraints = [check("consent_reads_forgotten_once", Q(pk=1))]


class Read(models.Model):
    """One read of an export.

    `batch` is the hash that the person's audit entry for it has in its facts, over all reads of that entry; empty until
    a task has written the entry.
    """

    grant = models.ForeignKey(Grant, on_delete=models.PROTECT, related_name="read_log", db_index=False)
    export = models.ForeignKey(Export, on_delete=models.PROTECT, related_name="read_log")
    token = models.ForeignKey("developers.DeveloperToken", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    address_prefix = models.CharField(max_length=48, blank=True)
    batch = models.CharField(max_length=43, blank=True)

    class Meta:
        db_table = "consent_reads"
        indexes = [
            Index(fields=["grant", "-at"], name="consent_read_of_grant"),
            Index(fields=["id"], condition=Q(batch=""), name="consent_read_unchained"),
        ]

    def __str__(self) -> str:
        at = date_format(localtime(self.at), "DATETIME_FORMAT")
        return f"{self.token.app}, {at}"
