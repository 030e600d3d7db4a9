"""The keys that people sign approvals with, as the apps know them."""

from django.db import models


class ApprovalKey(models.Model):
    """One person's key for one app, apart from every other app's, so that apps share no identifier.

    `root` is the thumbprint of the root that certified it, `issuer` the service's address that it was made for.
    `history` is what apps are handed out: each step from an old key to the next, signed by both. `is_reset` says that
    this key came without such a step, since the vault before it was given up.
    """

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="approval_keys", db_index=False)
    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="approval_keys")
    public_key = models.JSONField()
    root = models.CharField(max_length=43)
    issuer = models.CharField(max_length=300)
    history = models.JSONField(default=list)
    is_reset = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "approval_keys"
        constraints = [models.UniqueConstraint(fields=["user", "app"], name="approval_key_once")]
