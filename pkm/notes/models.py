"""What a vault keeps for itself, sealed."""

from django.db import models


class VaultNotes(models.Model):
    """One record a person. `resealed` is the same under the vault's key to come, while that is changed."""

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="vault_notes")
    revision = models.PositiveIntegerField()
    jwe = models.TextField()
    resealed = models.TextField(blank=True, default="", db_default="")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "vault_notes"
        constraints = [
            models.CheckConstraint(condition=models.Q(revision__gte=1), name="vault_notes_revision_from_one")
        ]
