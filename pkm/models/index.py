"""What a person holds, as far as the server may know: names and counts, never values."""

from django.db import models


class Index(models.Model):
    """One row a person, rewritten in the transaction that changes a segment; its lock orders their writes.

    `summary_projection` is {domain: {segment: attribute count}}, `domain_freshness` {domain: RFC 3339 time}.
    """

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="pkm_index")
    available_domains = models.JSONField(default=list)
    domain_freshness = models.JSONField(default=dict)
    summary_projection = models.JSONField(default=dict)
    capability_flags = models.JSONField(default=dict)
    total_attributes = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pkm_index"


class Manifest(models.Model):
    """One version of the set of attributes in a domain; a new one whenever that set changes."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="manifests")
    domain = models.CharField(max_length=64)
    manifest_revision = models.PositiveIntegerField()
    segment_ids = models.JSONField(default=list)
    path_count = models.PositiveIntegerField(default=0)
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "pkm_manifests"
        constraints = [
            models.UniqueConstraint(fields=["user", "domain", "manifest_revision"], name="manifest_revision_once"),
            models.UniqueConstraint(
                fields=["user", "domain"], condition=models.Q(is_current=True), name="manifest_one_current"
            ),
        ]


class ManifestPath(models.Model):
    """One attribute of a manifest, with the scope that reveals it."""

    manifest = models.ForeignKey(Manifest, on_delete=models.CASCADE, related_name="paths")
    path = models.CharField(max_length=200)
    segment_id = models.CharField(max_length=64)
    scope_handle = models.CharField(max_length=16)
    sensitivity_tier = models.CharField(max_length=16)
    exposure_eligible = models.BooleanField()

    class Meta:
        db_table = "pkm_manifest_paths"
        constraints = [models.UniqueConstraint(fields=["manifest", "path"], name="manifest_path_once")]
