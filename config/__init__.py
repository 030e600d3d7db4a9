"""The composition root: what this deployment is made of. No other room imports it."""

import gc

gc.disable()  # to collect while modules load finds nothing, and takes 20 % of a start; config/apps.py switches it on

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
