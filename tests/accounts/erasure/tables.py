"""Which tables hold something of a person."""

from django.apps import apps
from django.db import models

_AN_APPS = {"developer_applications", "developer_tokens"}  # what hangs on these is an app's


def tables_of_people() -> set[str]:
    """Every table from which foreign keys lead to a person, however far, but not by way of staff or an app."""
    known = {"users"}
    around = True
    while around:
        around = False
        for model in apps.get_models(include_auto_created=True):
            if model._meta.db_table in known or not model._meta.managed:
                continue
            for field in model._meta.local_fields:
                if isinstance(field, models.ForeignKey) and field.related_model._meta.db_table in known - _AN_APPS:
                    known.add(model._meta.db_table)
                    around = True
    return known
