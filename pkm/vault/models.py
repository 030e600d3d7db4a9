"""How a person's vault key is wrapped. The key itself is never here."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class VaultStatus(models.TextChoices):
    """Where a vault stands."""

    ABSENT = "absent", _("Absent")
    ACTIVE = "active", _("Active")
    LOCKED_OUT = "locked_out", _("Locked out")
    ROTATING = "rotating", _("Rotating")


# a vault that is used: while its key is changed, the present one goes on to be good for everything
IN_USE = (VaultStatus.ACTIVE, VaultStatus.ROTATING)


class WrapperKind(models.TextChoices):
    """What opens a wrapper."""

    PASSPHRASE = "passphrase", _("Passphrase")
    RECOVERY = "recovery", _("Recovery code")
    PASSKEY = "passkey", _("Passkey")


class VaultKey(models.Model):
    """One vault a person. While it rotates, `key_id` is the key that counts and `rotation_key_id` the one to come."""

    user = models.OneToOneField("accounts.User", on_delete=models.CASCADE, related_name="vault_key")
    key_id = models.CharField(max_length=132, unique=True)
    primary_wrapper_id = models.CharField(max_length=64, blank=True)
    vault_status = models.CharField(max_length=16, choices=VaultStatus, default=VaultStatus.ABSENT)
    first_login_at = models.DateTimeField(null=True)
    last_login_at = models.DateTimeField(null=True)
    pre_onboarding_completed = models.BooleanField(default=False)
    rotation_key_id = models.CharField(max_length=132, blank=True, default="", db_default="")
    rotation_started_at = models.DateTimeField(null=True)
    # SHA-256 of what only the vault key gives (pkm.vault.checks); empty where its client told none
    possession_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    rotation_possession_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    # the root of the keys that approvals are signed with: its public half, and its secret under the vault key
    signing_public_key = models.JSONField(null=True)
    signing_jwe = models.TextField(blank=True, default="", db_default="")
    signing_rotations = models.PositiveIntegerField(default=0, db_default=0)
    rotation_signing_jwe = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "vault_keys"
        constraints = [
            models.CheckConstraint(condition=models.Q(vault_status__in=VaultStatus.values), name="vault_status"),
            models.CheckConstraint(
                condition=~models.Q(vault_status__in=IN_USE) | ~models.Q(primary_wrapper_id=""),
                name="vault_active_needs_wrapper",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    vault_status=VaultStatus.ROTATING, rotation_started_at__isnull=False, rotation_key_id__gt=""
                )
                | (
                    ~models.Q(vault_status=VaultStatus.ROTATING)
                    & models.Q(rotation_started_at__isnull=True, rotation_key_id="")
                ),
                name="vault_rotation_together",
            ),
            models.CheckConstraint(
                condition=models.Q(signing_public_key__isnull=True, signing_jwe="", signing_rotations=0)
                | (models.Q(signing_public_key__isnull=False) & ~models.Q(signing_jwe="")),
                name="vault_signing_together",
            ),
            models.CheckConstraint(
                condition=models.Q(rotation_signing_jwe="")
                | models.Q(vault_status=VaultStatus.ROTATING, signing_public_key__isnull=False),
                name="vault_rotation_signing_together",
            ),
            models.CheckConstraint(
                condition=~models.Q(rotation_key_id=models.F("key_id")), name="vault_rotation_to_another_key"
            ),
            models.CheckConstraint(
                condition=models.Q(vault_status=VaultStatus.ROTATING) | models.Q(rotation_possession_sha256=""),
                name="vault_rotation_possession",
            ),
            models.UniqueConstraint(
                fields=["rotation_key_id"], condition=~models.Q(rotation_key_id=""), name="vault_rotation_key_once"
            ),
            models.CheckConstraint(
                condition=models.Q(first_login_at__isnull=True, last_login_at__isnull=True)
                | models.Q(first_login_at__isnull=False, last_login_at__isnull=False),
                name="vault_logins_together",
            ),
        ]


class KeyWrapper(models.Model):
    """The vault key sealed under one secret of the person; `jwe` is encrypted once more with a server key."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="key_wrappers")
    wrapper_id = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=WrapperKind)
    label = models.CharField(max_length=80)
    jwe = models.TextField()
    credential_id = models.CharField(max_length=1400, blank=True)
    last_used_at = models.DateTimeField(null=True)
    unlocked_at = models.DateTimeField(
        null=True
    )  # of a recovery code: when it last opened the vault, rather than was tried
    removed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "vault_key_wrappers"
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=WrapperKind.values), name="wrapper_kind"),
            models.CheckConstraint(
                condition=models.Q(kind=WrapperKind.PASSKEY) ^ models.Q(credential_id=""),
                name="wrapper_credential_is_passkeys",
            ),
            models.CheckConstraint(
                condition=models.Q(unlocked_at__isnull=True) | models.Q(kind=WrapperKind.RECOVERY),
                name="wrapper_unlocked_is_recovery",
            ),
        ]


class RotationWrapper(models.Model):
    """A way into the vault as it will be: the key to come, sealed as in `KeyWrapper`. It takes effect at the end."""

    vault = models.ForeignKey(VaultKey, on_delete=models.CASCADE, related_name="rotation_wrappers")
    wrapper_id = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=16, choices=WrapperKind)
    label = models.CharField(max_length=80)
    jwe = models.TextField()
    credential_id = models.CharField(max_length=1400, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "vault_rotation_wrappers"
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=WrapperKind.values), name="rotation_wrapper_kind"),
            models.CheckConstraint(
                condition=models.Q(kind=WrapperKind.PASSKEY) ^ models.Q(credential_id=""),
                name="rotation_wrapper_credential_is_passkeys",
            ),
        ]
