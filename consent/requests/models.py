"""What an app asked for, and the templates that it may use."""

from collections.abc import Iterable
from datetime import datetime

from django.db import models
from django.db.models import F, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import all_or_none, check, value_in
from common.sql.dialect import ClockTimestamp
from consent.states import Actor, RequestStatus, effective_request_status


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
            UniqueConstraint(fields=["template_id", "version"], name="consent_template_version_once"),
            UniqueConstraint(fields=["template_id"], condition=Q(active=True), name="consent_template_one_active"),
            all_or_none("consent_template_approval_together", "approved_by", "approved_at"),
            check("consent_template_active_approved", Q(active=False) | Q(approved_by__isnull=False)),
            check("consent_template_four_eyes", Q(approved_by__isnull=True) | ~Q(approved_by=F("proposed_by"))),
        ]

    def __str__(self) -> str:
        return f"{self.template_id} v{self.version}"


class RefreshPolicy(models.TextChoices):
    """Whether an approval covers the data as it is, or as it becomes."""

    SNAPSHOT = "snapshot", _("As it is at approval")
    CONTINUOUS = "continuous", _("Kept up to date")


class ConsentRequestQuerySet(models.QuerySet["ConsentRequest"]):
    """Requests by where they stand, as `consent.states` has it."""

    def pending(self, now: datetime | ClockTimestamp) -> "ConsentRequestQuerySet":
        """Those that can be decided at `now`, or by the database's clock in the very statement."""
        return self.filter(status=RequestStatus.PENDING, expires_at__gt=now)

    def overdue(self, now: datetime) -> "ConsentRequestQuerySet":
        """Those that the clock has ended and nobody has written down yet."""
        return self.filter(status=RequestStatus.PENDING, expires_at__lte=now)


class ConsentRequest(models.Model):
    """One scope asked of one person by one app, for one purpose. `decided_by` names the kind of actor."""

    request_id = models.CharField(_("request ID"), max_length=64)
    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="consent_requests", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="consent_requests", db_index=False)
    # what the app calls the person (developers.people), as the digest is over it; it outlives the account
    pairwise_id = models.CharField(_("the app's ID for the person"), max_length=64)
    scope_entry = models.ForeignKey("pkm.ScopeEntry", on_delete=models.PROTECT, related_name="consent_requests")
    scope = models.CharField(_("scope"), max_length=210)
    app_name = models.CharField(_("app's name when asked"), max_length=80)
    attributes = models.JSONField(_("attributes when asked"))
    # path → definition (`pkm.registry.derived`) of what is asked for in place of a value; null where nothing is
    derived = models.JSONField(_("answers asked for"), null=True)
    purpose = models.CharField(_("purpose"), max_length=280)
    connector_public_key = models.JSONField()
    connector_key_id = models.CharField(max_length=128)
    connector_thumbprint = models.CharField(_("connector fingerprint"), max_length=43)
    wrapping_alg = models.CharField(max_length=32)
    access_duration = models.PositiveIntegerField(_("access asked for in seconds"))
    expires_at = models.DateTimeField(_("waits until"))
    required_attributes = models.JSONField(null=True)
    optional_attributes = models.JSONField(null=True)
    max_reads = models.PositiveIntegerField(null=True)
    refresh_policy = models.CharField(max_length=16, choices=RefreshPolicy, default=RefreshPolicy.SNAPSHOT)
    binding_message = models.CharField(max_length=64, null=True)  # noqa: DJ001  # null where absent, as in the digest
    template_id = models.CharField(max_length=64, null=True)  # noqa: DJ001  # null where absent
    # base64url, of the sharing ID that the person was named by, or of the ID of the connection that it rode on
    invitation_sha256 = models.CharField(_("digest of the sharing ID used"), max_length=43, null=True)  # noqa: DJ001  # null where absent, as in the digest
    required_because = models.CharField(_("without what is needed"), max_length=140, null=True)  # noqa: DJ001  # null where absent, as in the digest
    return_url = models.CharField(_("where you go afterwards"), max_length=2000, null=True)  # noqa: DJ001  # null where absent, as in the digest
    accepts = models.JSONField(_("answers that would do"), null=True)  # path of a value → those of answers in its place
    handling = models.JSONField(  # as receipt_claims.py has it
        _("what the app said becomes of the data"), default=dict, db_default=models.Value({}, models.JSONField())
    )
    request_digest = models.CharField(max_length=43)
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, s.value) for s in RequestStatus], default=RequestStatus.PENDING
    )
    decided_at = models.DateTimeField(_("decided"), null=True)
    decided_by = models.CharField(_("decided by"), max_length=8, blank=True)
    decision_note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(_("asked"))
    mail_waits = models.BooleanField(default=True, db_default=True)  # nobody was written to about it yet
    # its end is in no audit chain, and not even an entry that waits says so (decision 0016)
    record_waits = models.BooleanField(default=False, db_default=False)
    # it rode on a connection that the app has not completed: until then nothing of it is told to the app
    withheld = models.BooleanField(default=False, db_default=False)

    objects = ConsentRequestQuerySet.as_manager()

    class Meta:
        db_table = "consent_requests"
        ordering = ["-created_at", "-id"]
        verbose_name = _("consent request")
        verbose_name_plural = _("consent requests")
        constraints = [
            UniqueConstraint(fields=["request_id"], name="consent_request_id_once"),
            value_in("consent_request_status", "status", RequestStatus),
            check(
                "consent_request_decision_together",
                Q(status="pending", decided_at__isnull=True, decided_by="")
                | (~Q(status="pending") & Q(decided_at__isnull=False, decided_by__in=[str(actor) for actor in Actor])),
            ),
            value_in("consent_request_refresh_policy", "refresh_policy", RefreshPolicy),
            check("consent_request_expires_later", Q(expires_at__gt=F("created_at"))),
            check("consent_request_names_person", ~Q(pairwise_id="")),
            UniqueConstraint(
                fields=["app", "user", "scope", "connector_thumbprint"],
                condition=Q(status="pending"),
                name="consent_request_one_pending",
            ),
        ]
        indexes = [
            Index(fields=["user", "status", "-created_at"], name="consent_request_inbox"),
            Index(fields=["app", "user", "scope", "-id"], name="consent_request_newest"),
            Index(fields=["app", "-id"], name="consent_request_of_app"),
            Index(fields=["app", "status", "-id"], name="consent_request_of_status"),
            Index(
                fields=["app", "connector_thumbprint", "connector_key_id", "created_at", "withheld"],
                name="consent_known_request_keys",
            ),
            Index(fields=["expires_at"], condition=Q(status="pending"), name="consent_request_expiring"),
            Index(fields=["scope_entry", "id"], condition=Q(status="pending"), name="consent_request_of_scope"),
            Index(
                fields=["created_at"],
                condition=Q(status="pending", mail_waits=True),
                name="consent_request_to_mail",
            ),
            Index(fields=["id"], condition=Q(record_waits=True), name="consent_request_to_record"),
        ]

    def __str__(self) -> str:
        return self.request_id

    def status_at(self, now: datetime) -> RequestStatus:
        """Where it stands at `now`, whether or not its expiry was written down yet."""
        return effective_request_status(self.status, self.expires_at, now)

    @property
    def named_attributes(self) -> list[str] | None:
        """What the app's lists name, required ones first; None where it gave none, and so asks for the whole scope."""
        if self.required_attributes is None and self.optional_attributes is None:
            return None
        return [*(self.required_attributes or []), *(self.optional_attributes or [])]

    def accepted_for(self, path: str) -> list[str]:
        """What may be shared where this attribute is asked for: itself, or one of the answers that do in its place."""
        return [path, *(self.accepts or {}).get(path, [])]

    def source_attributes(self, paths: Iterable[str]) -> list[str]:
        """The attributes of which these are the values or answers."""
        derived = self.derived or {}
        return [derived[path]["from"] if path in derived else path for path in paths]


_CHANGING = ("id", "status", "decided_at", "decided_by", "decision_note", "mail_waits", "record_waits", "withheld")
# What was asked: frozen by a trigger from the moment of asking, since the digest speaks of exactly this.
FROZEN = tuple(field.attname for field in ConsentRequest._meta.local_concrete_fields if field.attname not in _CHANGING)


class OwnRules(models.Model):
    """What a person lets no app do, beside blocking one: since when, and how often that kept a request away.

    `only_checked`: an app whose owner staff did not check sees `invalid_scope`, as a blocked one does. `weekly`: an app
    asks once in seven days. No rule approves anything.
    """

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="own_rules")
    only_checked_since = models.DateTimeField(null=True)
    only_checked_count = models.PositiveIntegerField(default=0)
    weekly_since = models.DateTimeField(null=True)
    weekly_count = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "own_rules"
