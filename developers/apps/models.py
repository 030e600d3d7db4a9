"""Apps: what asks people for data."""

from django.db import models
from django.db.models import Index, Q
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in
from common.identifiers import new_identifier


def new_app_id() -> str:
    return new_identifier("app")


def new_challenge() -> str:
    return new_identifier("proof")


class AppMode(models.TextChoices):
    """Whom an app reaches (contract 5.2): its sandbox people and those members who agreed, or everybody else.

    A personal one is a host that somebody connected for themselves (contract 7): it reaches that person alone.
    """

    TEST = "test", _("Test")
    LIVE = "live", _("Live")
    PERSONAL = "personal", _("Personal")


class AppStatus(models.TextChoices):
    """Whether an app may do anything."""

    ACTIVE = "active", _("Active")
    SUSPENDED = "suspended", _("Suspended")
    CLOSED = "closed", _("Closed")


class DomainProof(models.Model):
    """The domain of a website that was proved by a DNS record or a well-known file which held `domain_challenge`.

    A proof that is looked for again and not found is missing since then, and is taken away after some days.
    """

    proved_domain = models.CharField(_("proved domain"), max_length=253, blank=True)
    domain_proved_at = models.DateTimeField(_("domain proved"), null=True, blank=True)
    domain_challenge = models.CharField(max_length=64, default=new_challenge, editable=False)
    domain_checked_at = models.DateTimeField(null=True, blank=True, editable=False)
    domain_missing_since = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class App(DomainProof):
    """An app that may ask people for data. `verified` says that staff checked its legal name.

    A live app has the application that it was approved by; the others need none. A personal one has no members.
    """

    app_id = models.CharField(_("app ID"), max_length=64, unique=True, editable=False, default=new_app_id)
    mode = models.CharField(_("mode"), max_length=8, choices=AppMode, default=AppMode.LIVE)
    application = models.OneToOneField(
        "developers.DeveloperApplication",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="app",
        verbose_name=_("application"),
    )
    # of a personal app, until that person's account is erased
    person = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, null=True, blank=True, related_name="own_assistants"
    )
    name = models.CharField(_("name"), max_length=80)
    status = models.CharField(_("status"), max_length=16, choices=AppStatus, default=AppStatus.ACTIVE)
    verified = models.BooleanField(_("verified"), default=False)
    logo_digest = models.CharField(max_length=64, blank=True, editable=False)  # of its `Logo`; empty: none
    origins = models.JSONField(_("browser origins"), default=list, blank=True)
    return_addresses = models.JSONField(_("return addresses"), default=list, blank=True)
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
        constraints = [
            value_in("app_status", "status", AppStatus),
            check(
                "app_mode_application",
                Q(mode=AppMode.LIVE, application__isnull=False)
                | Q(mode=AppMode.TEST, application__isnull=True, verified=False)
                | Q(mode=AppMode.PERSONAL, application__isnull=True, verified=False),
            ),
            check("app_of_person", Q(mode=AppMode.PERSONAL) | Q(person__isnull=True)),
            check(
                "app_domain_together",
                Q(proved_domain="", domain_proved_at__isnull=True)
                | (~Q(proved_domain="") & Q(domain_proved_at__isnull=False)),
            ),
            check("app_domain_missing", Q(domain_missing_since__isnull=True) | ~Q(proved_domain="")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_test(self) -> bool:
        return self.mode == AppMode.TEST

    @property
    def is_personal(self) -> bool:
        return self.mode == AppMode.PERSONAL

    @property
    def legal_name(self) -> str:
        """Empty for a test app, as are the links and needs below."""
        return self.application.legal_name if self.application else ""

    @property
    def website(self) -> str:
        return self.application.website if self.application else ""

    @property
    def privacy_policy(self) -> str:
        return self.application.privacy_policy if self.application else ""

    @property
    def contact_email(self) -> str:
        return self.application.contact_email if self.application else ""

    @property
    def needed_scopes(self) -> list[str]:
        return list(self.application.needed_scopes) if self.application else []


class Logo(models.Model):
    """A picture as it is shown: PNG, made small and clean when it came in, found by its SHA-256."""

    digest = models.CharField(max_length=64, unique=True)
    png = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "app_logos"


SUSPENDED, RESTORED, CLOSED_WITH_OWNER = "app.suspended", "app.restored", "app.closed_with_owner"


class AppAuditEntry(models.Model):
    """What was done to an app, by whom: a member, staff, or the service itself. Only added to."""

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="audit_entries", db_index=False)
    member = models.ForeignKey(
        "accounts.User", on_delete=models.SET_NULL, null=True, blank=True, related_name="app_audit_entries"
    )
    action = models.CharField(_("action"), max_length=40)
    facts = models.JSONField(_("facts"), default=dict, blank=True)
    at = models.DateTimeField(_("at"), db_index=False)

    class Meta:
        db_table = "app_audit"
        verbose_name = _("audit entry of an app")
        verbose_name_plural = _("audit of apps")
        indexes = [Index(fields=["app", "-id"], name="app_audit_newest")]

    def __str__(self) -> str:
        at = date_format(localtime(self.at), "DATETIME_FORMAT")
        return f"{self.app}, {at}"
