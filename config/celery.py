"""The worker's entry point."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init
from kombu.transport import TRANSPORT_ALIASES

TRANSPORT_ALIASES["spool"] = "config.spool:Transport"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("consent-runtime")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _require_keys(**_: Any) -> None:
    """A worker without keys would fail every webhook and every analysis, one by one."""
    from config.checks import require_keys  # needs Django, which is set up by now

    require_keys()
