"""Encrypted segments."""

from django.db import models


class Blob(models.Model):
    """One revision of one segment, sealed. The newest counts and the last ten stay.

    A deleted segment leaves a tombstone (no ciphertext), so that its counting goes on.
    """

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="blobs")
    domain = models.CharField(max_length=64)
    segment_id = models.CharField(max_length=64)
    ciphertext = models.TextField(null=True)  # noqa: DJ001  # null is the tombstone, empty would be a defect
    content_revision = models.PositiveIntegerField()
    manifest_revision = models.PositiveIntegerField()
    size_bytes = models.PositiveIntegerField()
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pkm_blobs"
        constraints = [
            models.UniqueConstraint(
                fields=["user", "domain", "segment_id", "content_revision"], name="blob_revision_once"
            ),
            models.UniqueConstraint(
                fields=["user", "domain", "segment_id"], condition=models.Q(is_current=True), name="blob_one_current"
            ),
            models.CheckConstraint(condition=models.Q(content_revision__gte=1), name="blob_revision_from_one"),
            models.CheckConstraint(
                condition=models.Q(ciphertext__isnull=True, size_bytes=0)
                | models.Q(ciphertext__isnull=False, size_bytes__gt=0),
                name="blob_size_with_ciphertext",
            ),
        ]
