"""Hosts, and the secrets that they were given."""

from django.db import models
from django.db.models import Index, Q
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in


class OAuthClient(models.Model):
    """A host. `client_id` is ours where it registered itself, else the address of its metadata document.

    Every client is public: none has a secret. `jwks` are the keys that it says it has, as it sent them.
    """

    client_id = models.CharField(_("client ID"), max_length=2048, unique=True)
    name = models.CharField(_("name"), max_length=80)
    redirect_uris = models.JSONField()
    jwks = models.JSONField(default=list)
    fetched_at = models.DateTimeField(null=True)  # of a metadata document, which is fetched again after a day
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "oauth_clients"
        verbose_name = _("connected program")
        verbose_name_plural = _("connected programs")

    def __str__(self) -> str:
        return self.name


class SecretKind(models.TextChoices):
    """What one of them opens: the way to the other two, this service for an hour, or the way to the next pair."""

    CODE = "code", _("Code")
    ACCESS = "access", _("Access token")
    REFRESH = "refresh", _("Refresh token")


class OAuthSecret(models.Model):
    """The SHA-256 of a code or token that a host was given. A code is bound to where it was sent, and to its PKCE."""

    kind = models.CharField(max_length=8, choices=SecretKind)
    digest = models.CharField(max_length=64, unique=True)
    token = models.ForeignKey("developers.DeveloperToken", on_delete=models.CASCADE, related_name="secrets")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    redirect_uri = models.CharField(max_length=2048, blank=True, default="")
    code_challenge = models.CharField(max_length=43, blank=True, default="")

    class Meta:
        db_table = "oauth_secrets"
        indexes = [Index(fields=["expires_at"], name="oauth_secrets_over")]
        constraints = [
            value_in("oauth_secret_kind", "kind", SecretKind),
            check(
                "oauth_secret_code_is_bound",
                Q(kind=SecretKind.CODE) & ~Q(redirect_uri="") & ~Q(code_challenge="")
                | ~Q(kind=SecretKind.CODE) & Q(redirect_uri="", code_challenge=""),
            ),
        ]
