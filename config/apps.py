"""What this room is to Django: the staff's site in place of Django's own, and commands about the whole service."""

import gc

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.db.backends.signals import connection_created


class StaffConfig(AdminConfig):
    default_site = "config.admin.StaffSite"

    def ready(self) -> None:
        super().ready()
        from config import checks  # noqa: F401  # registers them
        from config.staff_words import name_in_words

        name_in_words()


class RootConfig(AppConfig):
    """No models: so that `manage.py` finds the commands of this room, and a database in a file is the owner's alone."""

    name = "config"

    def ready(self) -> None:
        from config.private_files import keep_private

        connection_created.connect(keep_private)
        gc.freeze()  # no full collection looks through what was loaded, which stopped each thread for 0.15 s
        gc.enable()
