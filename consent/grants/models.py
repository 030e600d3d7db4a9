"""What a person allowed."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in
from consent.states import LIVE_GRANTS, Actor, GrantStatus, effective_grant_status

FORGOTTEN_AFTER = timedelta(days=7)  # only an approval as long as that is worth a reminder before it ends
UNUSED_NOTICE = timedelta(days=7)  # between the announcement that access ends since nobody uses it, and that end
LIVE = Q(status__in=[GrantStatus.ACTIVE.value, GrantStatus.PAUSED.value])


class GrantQuerySet(models.QuerySet["Grant"]):
    """Grants by where they stand, as `consent.states` has it."""

    def live(self, now: datetime) -> "GrantQuerySet":
        """Those that are active or paused at `now`."""
        return self.filter(status__in=LIVE_GRANTS, expires_at__gt=now)

    def over(self, now: datetime) -> "GrantQuerySet":
        return self.exclude(Q(status__in=LIVE_GRANTS, expires_at__gt=now))

    def active(self) -> "GrantQuerySet":
        """Those that nobody holds back."""
        return self.filter(status=GrantStatus.ACTIVE)

    def known(self) -> "GrantQuerySet":
        """Those that their app knows of: of no connection that it has not completed."""
        return self.filter(request__withheld=False)

    def overdue(self, now: datetime) -> "GrantQuerySet":
        """Those that the clock has ended and nobody has written down yet."""
        return self.filter(status__in=LIVE_GRANTS, expires_at__lte=now)


class Grant(models.Model):
    """One approval. App, person and scope repeat the request's, so that the database can hold one live grant each."""

    grant_id = models.CharField(_("grant ID"), max_length=64)
    request = models.OneToOneField("consent.ConsentRequest", on_delete=models.PROTECT, related_name="grant")
    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="grants")
    user = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="grants", db_index=False)
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
    # nobody was reminded of its end yet, and somebody might have to be
    reminder_waits = models.BooleanField(default=True, db_default=True)
    # it was read for the first time or got newer values, and its person may want to hear of that
    news_waits = models.BooleanField(default=False, db_default=False)
    # its end or pause is in no audit chain, and not even an entry that waits says so (decision 0016)
    record_waits = models.BooleanField(default=False, db_default=False)
    # what the next resumption has to name, and until when: given out once
    resume_nonce = models.CharField(max_length=43, blank=True, default="", db_default="")
    resume_nonce_until = models.DateTimeField(null=True)
    # access that nobody uses (decisions/unused.py): when to look at its reads next, when it ends unless one comes
    # before, and when its person was written to about that
    unused_look_at = models.DateTimeField(null=True)
    unused_ends_at = models.DateTimeField(null=True)
    unused_mailed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    ended_by = models.CharField(_("ended by"), max_length=8, blank=True)
    end_reason = models.CharField(max_length=500, blank=True)

    objects = GrantQuerySet.as_manager()

    class Meta:
        db_table = "consent_grants"
        verbose_name = _("grant")
        verbose_name_plural = _("grants")
        constraints = [
            UniqueConstraint(fields=["grant_id"], name="consent_grant_id_once"),
            value_in("consent_grant_status", "status", GrantStatus),
            check(
                "consent_grant_end_together",
                (LIVE & Q(ended_at__isnull=True, ended_by="", end_reason=""))
                | (~LIVE & Q(ended_at__isnull=False, ended_by__in=[actor.value for actor in Actor])),
            ),
            check(
                "consent_grant_nonce_together",
                Q(resume_nonce="", resume_nonce_until__isnull=True)
                | (~Q(resume_nonce="") & Q(resume_nonce_until__isnull=False)),
            ),
            check("consent_grant_expires_later", Q(expires_at__gt=F("starts_at"))),
            check("consent_grant_reads_within", Q(max_reads__isnull=True) | Q(reads__lte=F("max_reads"))),
            UniqueConstraint(fields=["app", "user", "scope"], condition=LIVE, name="consent_grant_one_live"),
        ]
        indexes = [
            Index(fields=["user", "status"], name="consent_grant_of_user"),
            Index(fields=["expires_at"], condition=LIVE, name="consent_grant_expiring"),
            Index(fields=["scope", "id"], condition=LIVE, name="consent_grant_of_scope"),
            Index(fields=["expires_at"], condition=LIVE & Q(reminder_waits=True), name="consent_grant_to_remind"),
            Index(fields=["id"], condition=Q(news_waits=True), name="consent_grant_news"),
            Index(fields=["id"], condition=Q(record_waits=True), name="consent_grant_to_record"),
            Index(fields=["unused_look_at"], condition=Q(status="active"), name="consent_grant_to_look_at"),
            Index(
                fields=["id"],
                condition=Q(status="active", unused_ends_at__isnull=False, unused_mailed_at__isnull=True),
                name="consent_grant_unused_to_mail",
            ),
            Index(fields=["id"], condition=Q(status="paused"), name="consent_grant_paused"),
        ]

    def __str__(self) -> str:
        return self.grant_id

    def status_at(self, now: datetime) -> GrantStatus:
        """Where it stands at `now`, whether or not its expiry was written down yet."""
        return effective_grant_status(self.status, self.expires_at, now)

    def is_live(self, now: datetime) -> bool:
        """Whether it is active or paused at `now`."""
        return self.status_at(now) in LIVE_GRANTS
