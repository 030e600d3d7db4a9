"""Reusable approval templates that two members of staff agreed on."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ScopeTemplate(models.Model):
    """What an app may ask for under this name; active only once somebody other than its proposer approved it."""

    template_id = models.CharField(_("template ID"), max_length=64)
    version = models.PositiveIntegerField(_("version"), default=1)
    name = models.CharField(_("name"), max_length=80)
    scope = models.CharField(_("scope"), max_length=210)
    purpose = models.CharField(_("purpose"), max_length=280)
    max_access_duration = models.PositiveIntegerField(_("longest access in seconds"), default=86400)
    max_reads = models.PositiveIntegerField(_("most reads"), null=True, blank=True)
    proposed_by = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="proposed_templates")
    approved_by = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, blank=True, related_name="approved_templates"
    )
    approved_at = models.DateTimeField(null=True, blank=True)
    active = models.BooleanField(_("active"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "consent_scope_templates"
        verbose_name = _("template")
        verbose_name_plural = _("templates")
        constraints = [
            models.UniqueConstraint(fields=["template_id", "version"], name="consent_template_version_once"),
            models.UniqueConstraint(
                fields=["template_id"], condition=models.Q(active=True), name="consent_template_one_active"
            ),
            models.CheckConstraint(
                condition=models.Q(approved_by__isnull=True, approved_at__isnull=True)
                | models.Q(approved_by__isnull=False, approved_at__isnull=False),
                name="consent_template_approval_together",
            ),
            models.CheckConstraint(
                condition=models.Q(active=False) | models.Q(approved_by__isnull=False),
                name="consent_template_active_approved",
            ),
            models.CheckConstraint(
                condition=models.Q(approved_by__isnull=True) | ~models.Q(approved_by=models.F("proposed_by")),
                name="consent_template_four_eyes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.template_id} v{self.version}"
