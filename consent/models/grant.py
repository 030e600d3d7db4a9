"""What a person allowed, and what was sealed for it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from consent.states import Actor, GrantStatus

_LIVE = models.Q(status__in=[GrantStatus.ACTIVE.value, GrantStatus.PAUSED.value])


class Grant(models.Model):
    """One approval. App, person and scope repeat the request's, so that the database can hold one live grant each."""

    grant_id = models.CharField(_("grant ID"), max_length=64, unique=True)
    request = models.OneToOneField("consent.ConsentRequest", on_delete=models.PROTECT, related_name="grant")
    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="grants")
    user = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="grants")
    scope = models.CharField(_("scope"), max_length=210)
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in GrantStatus], default=GrantStatus.ACTIVE
    )
    approved_attributes = models.JSONField(_("approved attributes"))
    starts_at = models.DateTimeField(_("from"))
    expires_at = models.DateTimeField(_("until"))
    reads = models.PositiveIntegerField(_("reads"), default=0)
    max_reads = models.PositiveIntegerField(_("most reads"), null=True)
    kept_current = models.BooleanField(_("kept up to date"), default=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    ended_by = models.CharField(_("ended by"), max_length=8, blank=True)
    end_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        db_table = "consent_grants"
        verbose_name = _("grant")
        verbose_name_plural = _("grants")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=[s.value for s in GrantStatus]), name="consent_grant_status"
            ),
            models.CheckConstraint(
                condition=(_LIVE & models.Q(ended_at__isnull=True, ended_by="", end_reason=""))
                | (~_LIVE & models.Q(ended_at__isnull=False, ended_by__in=[actor.value for actor in Actor])),
                name="consent_grant_end_together",
            ),
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("starts_at")), name="consent_grant_expires_later"
            ),
            models.CheckConstraint(
                condition=models.Q(max_reads__isnull=True) | models.Q(reads__lte=models.F("max_reads")),
                name="consent_grant_reads_within",
            ),
            models.UniqueConstraint(fields=["app", "user", "scope"], condition=_LIVE, name="consent_grant_one_live"),
        ]
        indexes = [
            models.Index(fields=["user", "status"], name="consent_grant_of_user"),
            models.Index(fields=["expires_at"], condition=_LIVE, name="consent_grant_expiring"),
        ]

    def __str__(self) -> str:
        return self.grant_id


class Export(models.Model):
    """One sealed revision of an approved slice; its ciphertext goes in the transaction that ends the grant."""

    export_id = models.CharField(max_length=64, unique=True)
    grant = models.ForeignKey(Grant, on_delete=models.PROTECT, related_name="exports")
    revision = models.PositiveIntegerField()
    ciphertext = models.TextField(null=True)  # noqa: DJ001  # null once ended
    size_bytes = models.PositiveIntegerField()
    connector_key_id = models.CharField(max_length=128)
    sources = models.JSONField()
    sealed_at = models.DateTimeField()

    class Meta:
        db_table = "consent_exports"
        constraints = [
            models.UniqueConstraint(fields=["grant", "revision"], name="consent_export_revision_once"),
            models.CheckConstraint(condition=models.Q(revision__gte=1), name="consent_export_revision_from_one"),
        ]


class Read(models.Model):
    """One read of an export. `batch` is the audit entry that chains it, written later by a task."""

    grant = models.ForeignKey(Grant, on_delete=models.PROTECT, related_name="read_log")
    export = models.ForeignKey(Export, on_delete=models.PROTECT, related_name="read_log")
    token = models.ForeignKey("developers.DeveloperToken", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()
    address_prefix = models.CharField(max_length=48, blank=True)
    batch = models.CharField(max_length=43, blank=True)

    class Meta:
        db_table = "consent_reads"
        indexes = [
            models.Index(fields=["grant", "-at"], name="consent_read_of_grant"),
            models.Index(fields=["id"], condition=models.Q(batch=""), name="consent_read_unchained"),
        ]
