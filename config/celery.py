"""The worker's entry point."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

TRANSPORT_ALIASES["spool"] = "config.spool:Transport"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("consent-runtime")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
