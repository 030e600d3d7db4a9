"""Encrypted segments, and what of them the server may know: names and counts, never values."""

from django.db import models
from django.db.models import Q, UniqueConstraint

from common.constraints import check


class Manifest(models.Model):
    """One version of the set of attributes in a domain; a new one whenever that changes. Only the current has paths."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="manifests", db_index=False)
    domain = models.CharField(max_length=64)
    manifest_revision = models.PositiveIntegerField()
    segment_ids = models.JSONField(default=list)
    path_count = models.PositiveIntegerField(default=0)
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pkm_manifests"
        constraints = [
            UniqueConstraint(fields=["user", "domain", "manifest_revision"], name="manifest_revision_once"),
            UniqueConstraint(fields=["user", "domain"], condition=Q(is_current=True), name="manifest_one_current"),
        ]


class ManifestPath(models.Model):
    """One attribute of a manifest, with the scope that reveals it."""

    manifest = models.ForeignKey(Manifest, on_delete=models.CASCADE, related_name="paths", db_index=False)
    path = models.CharField(max_length=200)
    segment_id = models.CharField(max_length=64)
    scope_handle = models.CharField(max_length=16)
    sensitivity_tier = models.CharField(max_length=16)
    exposure_eligible = models.BooleanField()

    class Meta:
        db_table = "pkm_manifest_paths"
        constraints = [UniqueConstraint(fields=["manifest", "path"], name="manifest_path_once")]


class Blob(models.Model):
    """One revision of one segment, sealed. The newest counts and the last ten stay.

    A deleted segment leaves a tombstone (no ciphertext), so that its counting goes on. While the vault's key is
    changed, `resealed` is the same revision under the key to come; only what is current has one: a write drops it.
    """

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="blobs", db_index=False)
    domain = models.CharField(max_length=64)
    segment_id = models.CharField(max_length=64)
    ciphertext = models.TextField(null=True)  # noqa: DJ001  # null is the tombstone, empty would be a defect
    content_revision = models.PositiveIntegerField()
    manifest_revision = models.PositiveIntegerField()
    size_bytes = models.PositiveIntegerField()
    is_current = models.BooleanField(default=True)
    resealed = models.TextField(null=True)  # noqa: DJ001  # null is "not yet", empty would be a defect
    resealed_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pkm_blobs"
        constraints = [
            UniqueConstraint(fields=["user", "domain", "segment_id", "content_revision"], name="blob_revision_once"),
            UniqueConstraint(
                fields=["user", "domain", "segment_id"], condition=Q(is_current=True), name="blob_one_current"
            ),
            check("blob_revision_from_one", Q(content_revision__gte=1)),
            check(
                "blob_size_with_ciphertext",
                Q(ciphertext__isnull=True, size_bytes=0) | Q(ciphertext__isnull=False, size_bytes__gt=0),
            ),
            check(
                "blob_resealed_is_current",
                Q(resealed__isnull=True, resealed_sha256="")
                | Q(resealed__isnull=False, resealed_sha256__gt="", ciphertext__isnull=False, is_current=True),
            ),
        ]
