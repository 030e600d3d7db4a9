"""Rows of the old system, which nothing but `manage.py import_legacy` adds and nothing but the migration removes."""

from typing import Any, NoReturn

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in


class Closed(TypeError):
    """This record takes no writes: the old system made it, and it only waits to be moved."""


class ClosedRows(models.QuerySet[Any]):
    """The database refuses new and changed rows by trigger; rows that leave, it cannot tell apart."""

    def delete(self) -> NoReturn:
        raise Closed("Old rows leave by the migration alone.")

    def remove_moved(self) -> int:
        """For the migration, once what was in these rows is in the vault."""
        return self._raw_delete(self.db)


class ClosedRecord(models.Model):
    """What no code saves or deletes."""

    objects = ClosedRows.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **options: Any) -> NoReturn:
        raise Closed("Old rows arrive by `manage.py import_legacy` alone.")

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise Closed("Old rows leave by the migration alone.")


class LegacyBlob(ClosedRecord):
    """One sealed document a person and domain; `jwe` is encrypted once more with a server key.

    The passphrase that opens it is all that protects it, so that a copied database alone must not be enough to guess.
    """

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="legacy_blobs", db_index=False)
    domain = models.CharField(_("domain"), max_length=64)
    jwe = models.TextField()
    updated_at = models.DateTimeField(_("changed at"))  # by the old system's clock

    class Meta:
        db_table = "legacy_encrypted_blobs"
        verbose_name = _("old sealed record")
        verbose_name_plural = _("old sealed records")
        constraints = [
            UniqueConstraint(fields=["user", "domain"], name="legacy_blob_once"),
            check("legacy_blob_filled", ~Q(jwe="") & ~Q(domain="")),
        ]

    def __str__(self) -> str:
        return self.domain


class LegacyMetadata(ClosedRecord):
    """What the old system told about a domain without opening it; it goes with the domain's sealed document."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="legacy_metadata", db_index=False)
    domain = models.CharField(_("domain"), max_length=64)
    summary = models.JSONField(_("summary"), default=dict)
    updated_at = models.DateTimeField(_("changed at"))

    class Meta:
        db_table = "legacy_metadata_index"
        verbose_name = _("old index entry")
        verbose_name_plural = _("old index entries")
        constraints = [
            UniqueConstraint(fields=["user", "domain"], name="legacy_metadata_once"),
            check("legacy_metadata_filled", ~Q(domain="")),
        ]

    def __str__(self) -> str:
        return self.domain


class MigrationStatus(models.TextChoices):
    """Where moving old data stands."""

    WAITING_FOR_UNLOCK = "waiting_for_unlock", _("Waits for the person")
    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")


class MigrationState(models.Model):
    """How far one source has been moved: a person's old rows, or, without a person, a file that is imported.

    A person's `checkpoint` is {"moved": {domain: when it had changed}, "at": what their browser is doing}; a file's is
    {"offset": bytes, "line": number}. `counts` are whole numbers by what they count.
    """

    user = models.ForeignKey(
        "accounts.User",
        on_delete=models.CASCADE,
        related_name="migration_states",
        null=True,
        blank=True,
        db_index=False,
    )
    source = models.CharField(_("source"), max_length=80)
    status = models.CharField(_("status"), max_length=24, choices=MigrationStatus)
    checkpoint = models.JSONField(_("checkpoint"), default=dict)
    counts = models.JSONField(_("counts"), default=dict)
    last_error = models.CharField(_("last error"), max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pkm_migration_state"
        verbose_name = _("migration of old data")
        verbose_name_plural = _("migrations of old data")
        constraints = [
            UniqueConstraint(fields=["user", "source"], name="migration_source_once"),
            UniqueConstraint(fields=["source"], condition=Q(user__isnull=True), name="migration_file_once"),
            value_in("migration_status", "status", MigrationStatus),
            check(
                "migration_waits_for_somebody", ~Q(status=MigrationStatus.WAITING_FOR_UNLOCK) | Q(user__isnull=False)
            ),
            check("migration_failed_with_error", Q(status=MigrationStatus.FAILED) ^ Q(last_error="")),
        ]

    def __str__(self) -> str:
        return self.source
