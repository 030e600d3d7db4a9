"""The room of what people keep, sealed."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from common.sql.triggers import install_rules_of_room


class PkmConfig(AppConfig):
    name = "pkm"
    verbose_name = _("Registry")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.hooks import register_room
        from pkm.erasure import ROOM

        register_room(ROOM)
        post_migrate.connect(install_rules_of_room, sender=self)
        post_migrate.connect(_install_version, sender=self)


def _install_version(using: str, **_ignored: Any) -> None:
    from pkm.rules import install_registry_version

    install_registry_version(connections[using])
