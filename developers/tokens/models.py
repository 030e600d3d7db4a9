"""What programs show to be let in: tokens of apps, and people's own tokens for managing them."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common.constraints import check


class Permission(models.TextChoices):
    """What a token may do; contract 1.1."""

    DISCOVER = "discover", _("Discover scopes")
    REQUEST = "request", _("Ask for consent")
    READ = "read", _("Read approved data")


def default_permissions() -> list[str]:
    return [str(value) for value in Permission.values]


def default_expiry() -> datetime:
    """Ninety days from now; 365 at most (checked where tokens are minted)."""
    return timezone.now() + timedelta(days=90)


def leak_constraints(name: str) -> list[models.BaseConstraint]:
    """A token that was reported as leaked has ended."""
    return [check(f"{name}_leak_ends", Q(leaked_at__isnull=True) | Q(revoked_at__isnull=False))]


class ManagementPermission(models.TextChoices):
    """What a management token may do to an app: look at it, and change it."""

    READ = "read", pgettext_lazy("permission", "Read")
    WRITE = "write", pgettext_lazy("permission", "Change")


class DeveloperToken(models.Model):
    """A token's digest. The token itself, `cr_live_<8>_<43>` or `cr_test_…`, is shown once and kept nowhere.

    With a `client` it is what a host was allowed, until it is taken back: no token has this digest, but those of
    `secrets` lead here, and `expires_at` moves on whenever one is refreshed.
    """

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="tokens", verbose_name=_("app"))
    prefix = models.CharField(_("prefix"), max_length=8, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(_("label"), max_length=80)
    permissions = models.JSONField(_("permissions"), default=default_permissions)
    header_only = models.BooleanField(_("header only"), default=False)
    expires_at = models.DateTimeField(_("expires"), default=default_expiry)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    reminded_days = models.PositiveSmallIntegerField(null=True, blank=True)  # 14 or 2: the last reminder that was sent
    leaked_at = models.DateTimeField(_("reported as leaked"), null=True, blank=True)  # and revoked for it
    created_by = models.ForeignKey("accounts.User", on_delete=models.PROTECT, related_name="created_tokens")
    created_at = models.DateTimeField(auto_now_add=True)
    # what a host may do for the app (developers/oauth): whose it is, and the one address that it opens
    client = models.ForeignKey(
        "developers.OAuthClient", on_delete=models.PROTECT, null=True, blank=True, related_name="tokens"
    )
    resource = models.CharField(max_length=300, blank=True, default="", db_default="")

    class Meta:
        db_table = "developer_tokens"
        verbose_name = _("developer token")
        verbose_name_plural = _("developer tokens")
        constraints = [
            *leak_constraints("developer_token"),
            check(
                "developer_token_of_host",
                Q(client__isnull=True, resource="") | Q(client__isnull=False, header_only=True) & ~Q(resource=""),
            ),
        ]

    def __str__(self) -> str:
        return f"cr_{self.app.mode}_{self.prefix}_…"

    @property
    def permission_labels(self) -> str:
        return ", ".join(str(Permission(one).label) for one in self.permissions)


class ManagementToken(models.Model):
    """A person's own token for `/api/v1/manage`, `cr_mgmt_<8>_<43>`: its digest, and what it may do to which app.

    `permissions` maps an `app_id` to the list of what the token may do there, `*` to what it may do to every app of the
    person; what they may not do themselves, it may not do either. 90 days at most.
    """

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="management_tokens")
    prefix = models.CharField(_("prefix"), max_length=8, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(_("label"), max_length=80)
    permissions = models.JSONField(_("permissions"), default=dict)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    leaked_at = models.DateTimeField(_("reported as leaked"), null=True, blank=True)  # as with a developer token
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "management_tokens"
        verbose_name = _("management token")
        verbose_name_plural = _("management tokens")
        constraints = leak_constraints("management_token")

    def __str__(self) -> str:
        return f"cr_mgmt_{self.prefix}_…"
