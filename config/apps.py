"""What this room is to Django: the staff's site in place of Django's own, and commands about the whole service."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class StaffConfig(AdminConfig):
    default_site = "config.admin.StaffSite"

    def ready(self) -> None:
        super().ready()
        from config import checks  # noqa: F401  # registers them


class RootConfig(AppConfig):
    """No models: only so that `manage.py` finds the commands of this room."""

    name = "config"
