"""The composition root: what this deployment is made of. Imported by nobody."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
