"""The room of what is allowed."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from common.sql.triggers import install_rules_of_room


class ConsentConfig(AppConfig):
    name = "consent"
    verbose_name = _("Consent")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.hooks import register_room
        from accounts.outbox import register_gathering
        from consent import (
            receivers,  # noqa: F401  # connects them
            tasks,  # noqa: F401  # they are told by name: see common.broker
        )
        from consent.erasure import ROOM
        from consent.mail.actions import GATHERINGS
        from consent.mail.unused import GATHERING as UNUSED

        register_room(ROOM)
        for name, gathering in {**GATHERINGS, "mails about unused access": UNUSED}.items():
            register_gathering(name, gathering)
        post_migrate.connect(install_rules_of_room, sender=self)
