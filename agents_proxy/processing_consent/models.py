"""What people agreed to have processed."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Index, Q
from django.utils.translation import gettext_lazy as _

from agents_proxy.states import EndReason, ProcessingStatus, Reach
from common.constraints import check, value_in
from common.identifiers import new_identifier


def new_consent_id() -> str:
    return new_identifier("pcn")


class ProcessingConsentQuerySet(models.QuerySet["ProcessingConsent"]):
    def live(self, now: datetime) -> "ProcessingConsentQuerySet":
        """Those that cover calls at `now`: where `status_at` is `live`."""
        return self.filter(withdrawn_at=None, expires_at__gt=now)

    def ended(self, now: datetime) -> "ProcessingConsentQuerySet":
        return self.exclude(withdrawn_at=None, expires_at__gt=now)

    def lasting(self, now: datetime) -> "ProcessingConsentQuerySet":
        """Of those that are live: not those to one analysis or sending alone."""
        return self.live(now).exclude(reach=Reach.RUN)


class ProcessingConsent(models.Model):
    """One agreement with the words that were shown. It covers calls until it expires or is withdrawn, and stays.

    `email` and `number_digest` are whom it is about: one address and one number at most, nobody else's.
    """

    consent_id = models.CharField(_("consent ID"), max_length=64, unique=True, editable=False, default=new_consent_id)
    user = models.ForeignKey(
        "accounts.User", on_delete=models.PROTECT, related_name="processing_consents", db_index=False
    )
    reach = models.CharField(_("covers"), max_length=8, choices=[(r.value, r.value) for r in Reach], default=Reach.OWN)
    purposes = models.JSONField(_("purposes"))
    destinations = models.JSONField(
        _("destinations"), default=list, blank=True
    )  # that `activation` covers, by their ID
    email = models.CharField(
        _("e-mail address"), max_length=254, blank=True, default="", db_default=""
    )  # in lower case
    number_digest = models.CharField(max_length=64, blank=True, default="", db_default="")  # of a verified number
    statement_version = models.CharField(_("version of the wording"), max_length=32)
    statement = models.TextField(_("wording"))
    origin = models.CharField(_("origin"), max_length=255)
    app = models.ForeignKey(
        "developers.App", on_delete=models.PROTECT, null=True, blank=True, related_name="processing_consents"
    )
    token_digest = models.CharField(max_length=64, null=True, unique=True)  # noqa: DJ001  # null for a session's own
    given_at = models.DateTimeField(_("given"))
    expires_at = models.DateTimeField(_("until"))
    lasts = models.PositiveIntegerField(null=True)  # seconds, as chosen; null where nobody could choose
    renewed_at = models.DateTimeField(_("renewed"), null=True, blank=True)
    reminded_at = models.DateTimeField(null=True)  # that it ends; null again once it is renewed
    expiry_told_at = models.DateTimeField(null=True)  # to its app
    withdrawn_at = models.DateTimeField(_("withdrawn"), null=True, blank=True)
    end_reason = models.CharField(  # empty where its person withdrew it
        _("ended because"), max_length=32, blank=True, default="", db_default="",
        choices=[(reason.value, reason.value) for reason in EndReason],
    )  # fmt: skip

    objects = ProcessingConsentQuerySet.as_manager()

    class Meta:
        db_table = "processing_consents"
        ordering = ["-given_at", "-id"]
        verbose_name = _("consent to processing")
        verbose_name_plural = _("consents to processing")
        constraints = [
            value_in("processing_reach", "reach", Reach),
            check(
                "processing_site_together",
                Q(reach="site", token_digest__isnull=False, app__isnull=False)
                | (~Q(reach="site") & Q(token_digest__isnull=True, app__isnull=True)),
            ),
            check("processing_expires_later", Q(expires_at__gt=F("given_at"))),
            check(
                "processing_destinations_together",
                (Q(purposes__icontains='"activation"') & ~Q(destinations=[]))
                | (~Q(purposes__icontains='"activation"') & Q(destinations=[])),
            ),
            check(
                "processing_end_together",
                Q(end_reason="") | Q(withdrawn_at__isnull=False, end_reason__in=[reason.value for reason in EndReason]),
            ),
        ]
        indexes = [
            Index(fields=["user", "-given_at"], name="processing_of_user"),
            Index(fields=["expires_at"], condition=Q(expiry_told_at=None, app__isnull=False), name="processing_expiry"),
            Index(
                fields=["expires_at"],
                condition=Q(reminded_at=None, withdrawn_at=None, lasts__isnull=False),
                name="processing_remind",
            ),
        ]

    def __str__(self) -> str:
        return self.consent_id

    @property
    def length(self) -> timedelta:
        """For how long it was given; of one for which that was not kept, what it lasts until it is first renewed."""
        return self.expires_at - self.given_at if self.lasts is None else timedelta(seconds=self.lasts)

    def renewed_until(self, now: datetime) -> datetime:
        """When it would end if its person renewed it at `now`."""
        return min(self.expires_at, now + self.length) + self.length

    def status_at(self, now: datetime) -> ProcessingStatus:
        """Where it stands at `now`. One that was withdrawn stays so, whenever it would have ended."""
        if self.withdrawn_at is not None:
            return ProcessingStatus.WITHDRAWN
        return ProcessingStatus.LIVE if self.expires_at > now else ProcessingStatus.EXPIRED
