"""The room's registration with Django, which looks for it under this name, and the feature of apps themselves."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from common.sql.triggers import install_rules_of_room


class DevelopersConfig(AppConfig):
    name = "developers"
    verbose_name = _("Developers")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from allauth.account.signals import password_changed, password_set
        from django.db.models.signals import post_delete, post_migrate

        from accounts.hooks import access_taken_back, register_room
        from accounts.outbox import register_gathering

        revoke = import_module("developers.tokens.management_actions").revoke_management_tokens
        access_taken_back.connect(revoke, dispatch_uid="revoke-management-tokens")
        withdraw = import_module("developers.members.invitations").withdraw_all_of
        access_taken_back.connect(withdraw, dispatch_uid="withdraw-invitations")
        hosts = import_module("developers.oauth.actions")
        for taken_back in (access_taken_back, password_changed, password_set):
            taken_back.connect(hosts.stop_hosts_of, dispatch_uid="stop-hosts")
        post_delete.connect(hosts.stop_hosts_of_member, sender="developers.AppMember", dispatch_uid="stop-hosts")
        register_gathering("new applications", import_module("developers.applications.mail").GATHERING)
        register_gathering("tokens that end", import_module("developers.tokens.reminders").GATHERING)
        register_room(import_module("developers.erasure").ROOM)
        post_migrate.connect(install_rules_of_room, sender=self)
