"""The composition root: what this deployment is made of. Imported by nobody."""

import gc

gc.disable()  # until all is loaded (config/apps.py): nearly all that modules make stays; a fifth of each start

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
