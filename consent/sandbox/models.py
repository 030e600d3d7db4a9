"""People whom a developer plays, to try an app against (contract 5.2)."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class SandboxPerson(models.Model):
    """An account that nobody can sign in to, reached by one test app alone; at most 20 an app."""

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="sandbox_people")
    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="sandbox_person")
    label = models.CharField(_("label"), max_length=80, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "sandbox_people"
        verbose_name = _("sandbox person")
        verbose_name_plural = _("sandbox people")

    def __str__(self) -> str:
        return self.label
