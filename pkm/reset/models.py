"""A vault that nobody can open any more, which its person gives up."""

from django.db import models
from django.db.models import F, Q

from common.constraints import check


class VaultReset(models.Model):
    """One a vault, which is `locked_out` until this is taken back or carried out. Then the row goes."""

    vault = models.OneToOneField("pkm.VaultKey", on_delete=models.CASCADE, related_name="reset")
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField()

    class Meta:
        db_table = "vault_resets"
        constraints = [check("vault_reset_waits", Q(due_at__gt=F("asked_at")))]
