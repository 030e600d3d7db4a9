"""The room of who asks."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DevelopersConfig(AppConfig):
    name = "developers"
    verbose_name = _("Developers")
    default_auto_field = "django.db.models.BigAutoField"
