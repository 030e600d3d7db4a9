"""The staff's site in place of Django's own."""

from django.contrib.admin.apps import AdminConfig


class StaffConfig(AdminConfig):
    default_site = "config.admin.StaffSite"
