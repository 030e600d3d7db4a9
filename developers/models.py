"""Who asks: applications, apps, their members and tokens."""

from datetime import datetime, timedelta

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common.identifiers import new_identifier


def new_app_id() -> str:
    return new_identifier("app")


class Permission(models.TextChoices):
    """What a token may do; contract 1.1."""

    DISCOVER = "discover", _("Discover scopes")
    REQUEST = "request", _("Ask for consent")
    READ = "read", _("Read approved data")


class ApplicationStatus(models.TextChoices):
    """Where an enrolment stands."""

    SUBMITTED = "submitted", _("Submitted")
    APPROVED = "approved", _("Approved")
    REJECTED = "rejected", _("Rejected")
    WITHDRAWN = "withdrawn", _("Withdrawn")


class AppStatus(models.TextChoices):
    """Whether an app may do anything."""

    ACTIVE = "active", _("Active")
    SUSPENDED = "suspended", _("Suspended")
    CLOSED = "closed", _("Closed")


class MemberRole(models.TextChoices):
    """What somebody is to an app."""

    OWNER = "owner", _("Owner")
    MEMBER = "member", _("Member")


class DeveloperApplication(models.Model):
    """An enrolment: who stands behind an app and what they need."""

    applicant = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="developer_applications")
    name = models.CharField(_("name"), max_length=80)
    legal_name = models.CharField(_("legal name"), max_length=160)
    website = models.URLField(_("website"))
    privacy_policy = models.URLField(_("privacy policy"))
    contact_email = models.EmailField(_("contact"))
    use_case = models.TextField(_("use case"), max_length=2000, blank=True)
    needed_scopes = models.JSONField(_("needed scopes"), default=list, blank=True)
    status = models.CharField(
        _("status"), max_length=16, choices=ApplicationStatus, default=ApplicationStatus.SUBMITTED
    )
    reviewer = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, blank=True, related_name="reviewed_applications"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(_("note"), max_length=2000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "developer_applications"
        verbose_name = _("application")
        verbose_name_plural = _("applications")
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=ApplicationStatus.values), name="application_status"),
            models.CheckConstraint(
                condition=models.Q(reviewer__isnull=True, reviewed_at__isnull=True)
                | models.Q(reviewer__isnull=False, reviewed_at__isnull=False),
                name="application_review_together",
            ),
            models.CheckConstraint(
                condition=~models.Q(status__in=["approved", "rejected"]) | models.Q(reviewer__isnull=False),
                name="application_decision_has_reviewer",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class App(models.Model):
    """An app that may ask people for data. `verified` says that staff checked its legal name."""

    app_id = models.CharField(_("app ID"), max_length=64, unique=True, editable=False, default=new_app_id)
    application = models.OneToOneField(
        DeveloperApplication, on_delete=models.PROTECT, related_name="app", verbose_name=_("application")
    )
    name = models.CharField(_("name"), max_length=80)
    status = models.CharField(_("status"), max_length=16, choices=AppStatus, default=AppStatus.ACTIVE)
    verified = models.BooleanField(_("verified"), default=False)
    origins = models.JSONField(_("browser origins"), default=list, blank=True)
    request_budget = models.PositiveIntegerField(
        _("new requests an hour"),
        null=True,
        blank=True,
        help_text=_("Empty takes the deployment's default; 0 is no limit."),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "developer_apps"
        verbose_name = _("app")
        verbose_name_plural = _("apps")
        constraints = [models.CheckConstraint(condition=models.Q(status__in=AppStatus.values), name="app_status")]

    def __str__(self) -> str:
        return self.name


class AppMember(models.Model):
    """Somebody who may manage an app."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="app_memberships")
    role = models.CharField(max_length=16, choices=MemberRole, default=MemberRole.MEMBER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "app_members"
        constraints = [
            models.UniqueConstraint(fields=["app", "user"], name="app_member_once"),
            models.CheckConstraint(condition=models.Q(role__in=MemberRole.values), name="app_member_role"),
        ]


def default_permissions() -> list[str]:
    return [str(value) for value in Permission.values]


def default_expiry() -> datetime:
    """Ninety days from now; 365 at most (checked where tokens are minted)."""
    return timezone.now() + timedelta(days=90)


class DeveloperToken(models.Model):
    """A token's digest. The token itself, `cr_live_<8>_<43>`, is shown once and kept nowhere."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="tokens", verbose_name=_("app"))
    prefix = models.CharField(_("prefix"), max_length=8, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(_("label"), max_length=80)
    permissions = models.JSONField(_("permissions"), default=default_permissions)
    header_only = models.BooleanField(_("header only"), default=False)
    expires_at = models.DateTimeField(_("expires"), default=default_expiry)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    created_by = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="created_tokens")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "developer_tokens"
        verbose_name = _("developer token")
        verbose_name_plural = _("developer tokens")

    def __str__(self) -> str:
        return f"cr_live_{self.prefix}_…"


class IdempotencyKey(models.Model):
    """The first answer to a call that carried an `Idempotency-Key`, repeated to whoever sends it again."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="idempotency_keys")
    operation = models.CharField(max_length=32)
    key = models.CharField(max_length=128)
    body_digest = models.CharField(max_length=64)
    answer = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "idempotency_keys"
        constraints = [models.UniqueConstraint(fields=["app", "operation", "key"], name="idempotency_key_once")]


class WebhookEndpoint(models.Model):
    """Where an app wants to be told. The secret is encrypted at rest; `types` empty means every type."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="webhook_endpoints", verbose_name=_("app"))
    url = models.URLField(_("address"), max_length=500)
    secret = models.TextField()
    types = models.JSONField(_("types"), default=list, blank=True)
    disabled_at = models.DateTimeField(_("disabled"), null=True, blank=True)
    reason = models.CharField(_("why disabled"), max_length=160, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "webhook_endpoints"
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        constraints = [
            models.UniqueConstraint(fields=["app", "url"], name="webhook_endpoint_once"),
            models.CheckConstraint(
                condition=models.Q(disabled_at__isnull=True, reason="")
                | (models.Q(disabled_at__isnull=False) & ~models.Q(reason="")),
                name="webhook_endpoint_disabled_together",
            ),
        ]

    def __str__(self) -> str:
        return self.url
