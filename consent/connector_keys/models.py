"""The connector keys of apps: whose each is, which are registered, and what an app's domain publishes."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from common.constraints import check
from common.sql.dialect import ClockTimestamp

USABLE_AFTER = timedelta(hours=24)  # meanwhile the owners read of a key that a stolen session registered


class ConnectorKeyQuerySet(models.QuerySet["ConnectorKey"]):
    """Keys by what they may be used for."""

    def registered(self) -> "ConnectorKeyQuerySet":
        """Those that were registered and not removed since, usable yet or not."""
        return self.filter(registered_at__isnull=False, removed_at__isnull=True)

    def usable(self, now: datetime | ClockTimestamp) -> "ConnectorKeyQuerySet":
        """Those of them that were registered long enough ago."""
        return self.registered().filter(usable_from__lte=now)


class ConnectorKey(models.Model):
    """A key belongs to the app that asked with it, or registered it, first: one row for each thumbprint, for good.

    What follows `thumbprint` is there once it was registered. `entry` is the one of the app's chain that says so, and
    `token` as `registered` makes it: a row without both vouches for nothing.
    """

    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="connector_keys")
    thumbprint = models.CharField(_("fingerprint"), max_length=43, unique=True)
    key_id = models.CharField(_("key ID"), max_length=128, blank=True)
    jwk = models.JSONField(null=True)
    registered_by = models.ForeignKey(
        "accounts.User", on_delete=models.SET_NULL, null=True, blank=True, related_name="registered_connector_keys"
    )
    registered_at = models.DateTimeField(_("registered"), null=True)
    usable_from = models.DateTimeField(_("usable from"), null=True)
    removed_at = models.DateTimeField(_("removed"), null=True)
    token = models.TextField(blank=True, default="")
    entry = models.OneToOneField(
        "consent.AuditEntry", on_delete=models.PROTECT, null=True, db_constraint=False, related_name="connector_key"
    )

    objects = ConnectorKeyQuerySet.as_manager()

    class Meta:
        db_table = "connector_keys"
        verbose_name = _("connector key")
        verbose_name_plural = _("connector keys")
        constraints = [
            check(
                "connector_key_registered_together",
                Q(
                    key_id="",
                    jwk__isnull=True,
                    registered_by__isnull=True,
                    registered_at__isnull=True,
                    usable_from__isnull=True,
                    removed_at__isnull=True,
                    entry__isnull=True,
                )
                | (
                    ~Q(key_id="")
                    & Q(jwk__isnull=False, registered_at__isnull=False, usable_from__isnull=False, entry__isnull=False)
                ),
            ),
            check("connector_key_usable_later", Q(usable_from__isnull=True) | Q(usable_from__gte=F("registered_at"))),
            models.UniqueConstraint(
                fields=["app", "key_id"],
                condition=Q(registered_at__isnull=False, removed_at__isnull=True),
                name="connector_key_one_of_name",
            ),
        ]

    def __str__(self) -> str:
        return self.thumbprint


class PublishedKeys(models.Model):
    """What the app's domain publishes, as it was fetched for one request that waits; gone with the decision.

    A row beside the request rather than a column of it: it is written again and again, by a worker that nobody who
    decides should wait for. `token` is as consent/requests/published_keys.py makes it, empty until a fetch
    succeeded. `failures` are those since the last success.
    """

    request = models.OneToOneField(
        "consent.ConsentRequest", on_delete=models.CASCADE, primary_key=True, related_name="published_keys"
    )
    token = models.TextField(blank=True, default="")
    failures = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()

    class Meta:
        db_table = "published_connector_keys"
        indexes = [models.Index(fields=["due_at"], name="published_keys_due")]
