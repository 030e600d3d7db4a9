"""The room of what every room uses and none owns."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "common"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from common.sql import dialect  # noqa: F401  # registers a lookup
