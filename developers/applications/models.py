"""Enrolments: who stands behind an app and what they need."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.constraints import all_or_none, check, value_in
from developers.apps.models import DomainProof


class ApplicationStatus(models.TextChoices):
    """Where an enrolment stands."""

    SUBMITTED = "submitted", _("Submitted")
    APPROVED = "approved", _("Approved")
    SENT_BACK = "sent_back", _("Sent back")
    REJECTED = "rejected", _("Rejected")
    WITHDRAWN = "withdrawn", _("Withdrawn")


class DeveloperApplication(DomainProof):
    """An enrolment: who stands behind an app and what they need.

    One that was sent back can be handed in again, which clears who reviewed it; approved, rejected and withdrawn are
    ends. The proof of its domain goes to the app.
    """

    applicant = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="developer_applications")
    name = models.CharField(_("name"), max_length=80)
    legal_name = models.CharField(_("legal name"), max_length=160)
    website = models.URLField(_("website"))
    privacy_policy = models.URLField(_("privacy policy"))
    contact_email = models.EmailField(_("contact"))
    logo_digest = models.CharField(max_length=64, blank=True, editable=False)  # as `App.logo_digest`
    use_case = models.TextField(_("use case"), max_length=2000, blank=True)
    needed_scopes = models.JSONField(_("needed scopes"), default=list, blank=True)
    scope_reasons = models.JSONField(_("why each"), default=dict, blank=True)  # scope → why it is needed
    jurisdiction = models.CharField(_("jurisdiction"), max_length=80, blank=True)
    recipients = models.TextField(_("who receives the data"), max_length=2000, blank=True)
    storage_place = models.CharField(_("where the data is stored"), max_length=160, blank=True)
    retention = models.CharField(_("how long it is kept"), max_length=160, blank=True)
    origins = models.JSONField(_("browser origins"), default=list, blank=True)
    return_addresses = models.JSONField(_("return addresses"), default=list, blank=True)
    status = models.CharField(
        _("status"), max_length=16, choices=ApplicationStatus, default=ApplicationStatus.SUBMITTED
    )
    reviewer = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, blank=True, related_name="reviewed_applications"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(_("note"), max_length=2000, blank=True)
    staff_told_at = models.DateTimeField(null=True, blank=True, editable=False)  # that it was handed in, by mail
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "developer_applications"
        verbose_name = _("application")
        verbose_name_plural = _("applications")
        constraints = [
            value_in("application_status", "status", ApplicationStatus),
            all_or_none("application_review_together", "reviewed_at", "reviewer"),
            check(
                "application_decision_has_reviewer",
                ~Q(status__in=["approved", "rejected", "sent_back"]) | Q(reviewer__isnull=False),
            ),
            check(
                "application_domain_together",
                Q(proved_domain="", domain_proved_at__isnull=True)
                | (~Q(proved_domain="") & Q(domain_proved_at__isnull=False)),
            ),
            check("application_domain_missing", Q(domain_missing_since__isnull=True) | ~Q(proved_domain="")),
        ]

    def __str__(self) -> str:
        return self.name
