"""How a person's vault key is wrapped. The key itself is never here."""

from django.db import models
from django.db.models import F, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import all_or_none, check, value_in


class VaultStatus(models.TextChoices):
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
            value_in("vault_status", "vault_status", VaultStatus),
            check("vault_active_needs_wrapper", ~Q(vault_status__in=IN_USE) | ~Q(primary_wrapper_id="")),
            check(
                "vault_rotation_together",
                Q(vault_status=VaultStatus.ROTATING, rotation_started_at__isnull=False, rotation_key_id__gt="")
                | (~Q(vault_status=VaultStatus.ROTATING) & Q(rotation_started_at__isnull=True, rotation_key_id="")),
            ),
            check(
                "vault_signing_together",
                Q(signing_public_key__isnull=True, signing_jwe="", signing_rotations=0)
                | (Q(signing_public_key__isnull=False) & ~Q(signing_jwe="")),
            ),
            check(
                "vault_rotation_signing_together",
                Q(rotation_signing_jwe="") | Q(vault_status=VaultStatus.ROTATING, signing_public_key__isnull=False),
            ),
            check("vault_rotation_to_another_key", ~Q(rotation_key_id=F("key_id"))),
            check("vault_rotation_possession", Q(vault_status=VaultStatus.ROTATING) | Q(rotation_possession_sha256="")),
            UniqueConstraint(
                fields=["rotation_key_id"], condition=~Q(rotation_key_id=""), name="vault_rotation_key_once"
            ),
            all_or_none("vault_logins_together", "first_login_at", "last_login_at"),
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
            value_in("wrapper_kind", "kind", WrapperKind),
            check("wrapper_credential_is_passkeys", Q(kind=WrapperKind.PASSKEY) ^ Q(credential_id="")),
            check("wrapper_unlocked_is_recovery", Q(unlocked_at__isnull=True) | Q(kind=WrapperKind.RECOVERY)),
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
            value_in("rotation_wrapper_kind", "kind", WrapperKind),
            check("rotation_wrapper_credential_is_passkeys", Q(kind=WrapperKind.PASSKEY) ^ Q(credential_id="")),
        ]
