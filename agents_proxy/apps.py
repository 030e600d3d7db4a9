"""The room of profile agents: the proxy, consent to processing, analyses, messages and the aggregator."""

import logging

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from common.sql.triggers import install_rules_of_room

_log = logging.getLogger(__name__)


class AgentsProxyConfig(AppConfig):
    name = "agents_proxy"
    verbose_name = _("Profile agents")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from accounts.hooks import register_room
        from accounts.outbox import register_gathering
        from agents_proxy import (
            receivers,  # noqa: F401  # connects them
            tasks,  # noqa: F401  # they are told by name: see common.broker
        )
        from agents_proxy.erasure import ROOM
        from agents_proxy.processing_consent.reminders import GATHERING

        register_room(ROOM)
        register_gathering("consents to processing that end", GATHERING)
        post_migrate.connect(install_rules_of_room, sender=self)
        if not settings.A2A_REQUIRE_CONSENT:
            _log.warning("A2A_REQUIRE_CONSENT is false: agents are asked WITHOUT ANYBODY'S CONSENT. For tests alone.")
