"""The staff's site in place of Django's own."""

from django.contrib.admin.apps import AdminConfig


class StaffConfig(AdminConfig):
    default_site = "config.admin.StaffSite"

    def ready(self) -> None:
        super().ready()
        from config import checks  # noqa: F401  # registers them
