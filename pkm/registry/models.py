"""The scope registry: what can be asked for at all. Staff keep it."""

from django.db import models
from django.db.models import Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from common.constraints import check, value_in
from pkm import scopes


class SensitivityTier(models.TextChoices):
    """How much care a scope asks for; restricted data needs a fresh sign-in before it is shared."""

    STANDARD = "standard", _("Standard")
    CONFIDENTIAL = "confidential", _("Confidential")
    RESTRICTED = "restricted", _("Restricted")


class Domain(models.Model):
    """A part of life that data belongs to."""

    domain_key = models.SlugField(_("key"), max_length=64, unique=True)
    display_name = models.CharField(_("name"), max_length=80)
    description = models.CharField(_("description"), max_length=240, blank=True)
    icon = models.SlugField(_("icon"), max_length=40, blank=True)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    is_active = models.BooleanField(_("active"), default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "domain_registry"
        ordering = ["position", "domain_key"]
        verbose_name = _("domain")
        verbose_name_plural = _("domains")

    def __str__(self) -> str:
        return self.display_name


class ScopeEntry(models.Model):
    """One canonical scope. `attributes` are its canonical paths, `segment_ids` are `domain.segment` pairs."""

    scope = models.CharField(_("scope"), max_length=210, unique=True)
    scope_handle = models.CharField(_("handle"), max_length=16, unique=True, editable=False)
    scope_label = models.CharField(_("label"), max_length=80)
    description = models.CharField(_("description"), max_length=240, blank=True)
    domain = models.ForeignKey(
        Domain, on_delete=models.PROTECT, null=True, blank=True, related_name="scope_entries", verbose_name=_("domain")
    )
    segment_ids = models.JSONField(_("segments"), default=list)
    attributes = models.JSONField(_("attributes"), default=list)
    # the one attribute is no value but an answer made from one, as `pkm.registry.derived` has it
    derived = models.JSONField(
        _("made from"),
        null=True,
        blank=True,
        help_text=_("Only for an answer in place of a value: from, rule and rule_version, as the handbook has them."),
    )
    sensitivity_tier = models.CharField(
        _("sensitivity"), max_length=16, choices=SensitivityTier, default=SensitivityTier.STANDARD
    )
    exposure_enabled = models.BooleanField(_("can be asked for"), default=True)
    max_access_duration = models.PositiveIntegerField(_("longest access in seconds"), default=31536000)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pkm_scope_registry"
        ordering = ["scope"]
        verbose_name = _("scope")
        verbose_name_plural = _("scope registry")
        constraints = [
            value_in("scope_tier", "sensitivity_tier", SensitivityTier),
            check("scope_duration", Q(max_access_duration__gte=300, max_access_duration__lte=31536000)),
            # only the scope of everything belongs to no domain
            check("scope_domain", Q(domain__isnull=False) ^ Q(scope=scopes.EVERYTHING)),
        ]

    def __str__(self) -> str:
        return self.scope

    def save(self, *args: object, **kwargs: object) -> None:
        self.scope_handle = scopes.handle(self.scope)
        super().save(*args, **kwargs)  # type: ignore[arg-type]  # passed through as they came


class RegistryVersion(models.Model):
    """One row whose `version` a trigger replaces at every change of the registry: the key of the processes' copies.

    `in_manifests` is the version that the paths of people's manifests were last brought to.
    """

    version = models.CharField(max_length=64)
    in_manifests = models.CharField(max_length=64, blank=True, db_default="")

    class Meta:
        db_table = "pkm_registry_version"


class StarterRecord(models.Model):
    """What the starter list last wrote into a row; `key` is the domain's key or the scope.

    A value of the row that differs from it was changed by staff. `sync_registry` alone writes here.
    """

    key = models.CharField(max_length=210, unique=True)
    written = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "pkm_starter_records"


class HiddenScope(models.Model):
    """A scope that a person keeps out of discovery."""

    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="hidden_scopes", db_index=False)
    scope = models.CharField(max_length=210)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "hidden_scopes"
        constraints = [UniqueConstraint(fields=["user", "scope"], name="hidden_scope_once")]
