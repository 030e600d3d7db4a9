"""Where an app wants the brand affinities that people send to it."""

from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import check
from common.identifiers import new_identifier


def new_destination_id() -> str:
    return new_identifier("des")


class Destination(models.Model):
    """One address of an app. What people agree to names it, so neither its name nor its address ever changes.

    `secret` is encrypted at rest, and gone once the destination is removed; its row stays, for what was sent there.
    """

    destination_id = models.CharField(
        _("destination ID"), max_length=64, unique=True, editable=False, default=new_destination_id
    )
    app = models.ForeignKey(
        "developers.App", on_delete=models.PROTECT, related_name="activation_destinations", verbose_name=_("app")
    )
    name = models.CharField(_("name"), max_length=80)
    url = models.URLField(_("address"), max_length=500)
    secret = models.TextField(blank=True)
    created_at = models.DateTimeField(_("made"), auto_now_add=True)
    disabled_at = models.DateTimeField(_("disabled"), null=True, blank=True)
    removed_at = models.DateTimeField(_("removed"), null=True, blank=True)

    class Meta:
        db_table = "activation_destinations"
        ordering = ["id"]
        verbose_name = _("destination")
        verbose_name_plural = _("destinations")
        constraints = [
            check("destination_removed_is_disabled", Q(removed_at__isnull=True) | Q(disabled_at__isnull=False)),
            check(
                "destination_secret_until_removed",
                (Q(removed_at__isnull=True) & ~Q(secret="")) | Q(removed_at__isnull=False, secret=""),
            ),
            UniqueConstraint(fields=["app", "url"], condition=Q(removed_at__isnull=True), name="destination_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def host(self) -> str:
        """Who gets what is sent, as far as the address says it; a port that is not https's own is named too."""
        return urlsplit(self.url).netloc

    @property
    def described(self) -> str:
        """As the wording of a consent names it: name, host and app. `app` must be loaded."""
        return f"{self.name} ({self.host}, {self.app.name})"
